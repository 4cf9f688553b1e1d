#pragma once

#include <vector>

#include "plan/collectives.h"

namespace trnsim {

/// The axis of a broadcast, reduce, gather or scatter with its pattern: only ranks with coordinate
/// 0 on each axis of `inner` (the faster ones) take part, since the slowest axis comes first away
/// from the root, and last towards it.
///
/// Broadcast and reduce: a chain from, or to, the root. Gather and scatter: all directly to, or
/// from, it.
GroupAxis make_rooted_axis(Plan& plan, CollectiveOp op, const Axis& axis,
                           const std::vector<Axis>& inner);

/// The exchanges of such a collective. Along a chain of `n` ranks the buffer goes in 16 (n - 1)
/// messages; n - 2 more pass one after another until the last rank has the first.
std::vector<Exchange> rooted_exchanges(const std::vector<GroupAxis>& axes, CollectiveOp op,
                                       Bytes bytes, const Reduction& reduction);

}  // namespace trnsim
