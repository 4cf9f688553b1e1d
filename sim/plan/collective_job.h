#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/collectives.h"
#include "plan/pair_sizes.h"
#include "plan/scenario.h"

namespace trnsim {

/// Which ranks run a collective: `count` of them, `stride` apart, from `offset` on; or at the same
/// time every such group of the system.
struct GroupShape {
  Rank count = 1;
  Rank stride = 1;
  Rank offset = 0;
  bool everywhere = false;
};

/// One collective on a system, and nothing else. With `sizes`, which an all_to_all can have, it is
/// an all_to_all_v: `bytes` then is the largest buffer of a rank.
struct CollectiveJob {
  System system;
  CollectiveOp op = CollectiveOp::all_reduce;
  Algorithms algorithms;
  Bytes bytes = 0;  // exchanges_of() says of what
  uint32_t pieces = 1;
  GroupShape group;
  EngineOptions engine;
  std::optional<PairSizes> sizes = {};
};

/// "all_to_all_v"
std::string name_of(const CollectiveJob& job);

/// Why the system has no such group, if it has none.
std::optional<std::string> obstacle(const GroupShape& group, const System& system);

/// The axes of the job's group. Of a send_recv it is one, "ranks", along which the next is the one
/// `stride` further.
std::vector<Axis> group_axes(const CollectiveJob& job);

/// The plan in which the ranks of the group run the collective once. Throws std::logic_error if
/// there is an obstacle, CannotRun if it has too many routes to look at.
Plan collective_plan(const CollectiveJob& job);
/// The same of several that all begin at once, each on a stream of its own and with its number
/// among the plan's collectives; the system is that of the first.
Plan collective_plan(const std::vector<CollectiveJob>& jobs);

}  // namespace trnsim
