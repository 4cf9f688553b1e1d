#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/json_reader.h"
#include "base/units.h"
#include "system/system.h"

namespace trnsim {

/// How much each rank of a group has for each other one: an all_to_all_v.
struct PairSizes {
  Rank ranks = 0;
  /// Bytes from the group's rank `from` to `to`, of 0 .. ranks - 1.
  std::function<Bytes(Rank from, Rank to)> between;

  /// The most that one rank has for others, or others for it.
  Bytes largest_part() const;
  /// The largest buffer: what one rank sends or receives, its own part included.
  Bytes largest_buffer() const;
};

/// Every rank has `bytes` in all; rank 0 of the group gets `skew` times the mean of each, the
/// others share what is left, rounded up. `skew` is from 1 to `ranks`.
PairSizes skewed_sizes(Rank ranks, Bytes bytes, double skew);

/// Reads a "trnsim.pair_sizes.v1" object: "unit", a quantity of bytes, and "sizes", a square of
/// whole numbers of it, a row for each sender. Throws InputError.
PairSizes read_pair_sizes(JsonReader json);

}  // namespace trnsim
