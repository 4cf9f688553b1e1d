#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/units.h"

namespace trnsim {

/// A chip's number in the cluster: unit * chips of a unit + position. Ranks are chips.
using Rank = uint32_t;

using Link = uint32_t;

/// One kind of link of a network: where a report says that a link "is".
struct LinkLevel {
  std::string name;  // "sled switch, out"
  Link first = 0;    // its links are first .. first + count - 1
  Link count = 0;
  BytesPerSecond capacity = 0;  // that payload reaches
  Seconds latency = 0;          // that a message takes for crossing one
  /// Units that share the links of one group: link i is of group i / of_group, which has the units
  /// from i / of_group * units on. 1 where each unit has links of its own.
  Rank units = 1;
  Link of_group = 0;
  /// Cables to as many switches that are one link together: traffic is spread over them.
  Rank cables = 1;
};

/// A link, or one of its cables.
struct Cable {
  Link link = 0;
  std::optional<Rank> number;  // from 0; nothing for all of them
};

}  // namespace trnsim
