#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "system/algorithm.h"

namespace trnsim {

/// An axis of a group with what a collective does along it. The patterns are in the order in which
/// a reduce-scatter, or an all-gather, uses them (of trees: up, or down).
struct GroupAxis {
  Axis axis;
  Algorithm algorithm = Algorithm::ring;
  std::vector<PatternId> scatter;
  std::vector<PatternId> gather;
};

/// How the chips sum what arrives: all but the last chunk of a message is summed while the rest is
/// still on the wire.
struct Reduction {
  double bytes_per_second = 0;  // 0: sums cost nothing
  Bytes chunk = 0;

  /// Seconds after the last byte of `messages` messages of `bytes` each.
  Seconds tail(Bytes bytes, uint64_t messages) const;
};

/// Why the algorithm cannot run along the axis, if it cannot: "needs a power of two of ranks".
std::optional<std::string> obstacle(Algorithm algorithm, const Axis& axis);

/// Adds the patterns of the algorithm along the axis to the plan. Where an algorithm with so few
/// ranks is a ring, it becomes one. Throws std::logic_error if there is an obstacle.
GroupAxis make_group_axis(Plan& plan, const Axis& axis, Algorithm algorithm);

/// Whether the algorithm sums and hands out in one go, so that an all-reduce is not a
/// reduce-scatter and an all-gather along this axis.
bool reduces_all_at_once(Algorithm algorithm);

/// The exchanges of a reduce-scatter (`reduces`) or all-gather along the group's axis `index`, in
/// order; `shard` is what each rank has or gets of it, in bytes.
std::vector<Exchange> pass(const GroupAxis& along, size_t index, Bytes shard, bool reduces,
                           const Reduction& reduction);
/// The exchanges of an all-reduce of `bytes` along the group's axis `index`, whose algorithm
/// reduces all at once.
std::vector<Exchange> all_reduce_pass(const GroupAxis& along, size_t index, Bytes bytes,
                                      const Reduction& reduction);

/// Bytes that a rank sends in an exchange; where ranks differ, the most that one does.
Bytes sent_by_a_rank(const Plan& plan, const Exchange& exchange);

/// Chunks along one axis of `size` ranks: first, first + step, ... (mod size).
struct Block {
  Rank first = 0;
  Rank step = 1;
  Rank count = 1;
  int half = -1;  // of each chunk; -1: both

  bool contains(Rank chunk, Rank size) const;
};
/// What a message of an exchange of pass() holds along the axis: sent by the rank with `coordinate`
/// to the one that is `shift` further, in `hop`.
Block block_of(const Exchange& exchange, Rank size, Rank coordinate, Rank shift, uint64_t hop);

}  // namespace trnsim
