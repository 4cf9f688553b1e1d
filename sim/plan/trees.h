#pragma once

#include <optional>

#include "plan/plan.h"

namespace trnsim {

/// Two binary trees over the ranks of an axis, each for half of the data. What is a leaf of one is
/// inside the other, so that every rank sends and receives alike (Sanders, Speck and Traeff,
/// Parallel Computing 35, 2009; NCCL's double binary tree).

/// The parent of a rank in tree 0 or 1 over `size` ranks; nothing for the root.
std::optional<Rank> tree_parent(int tree, Rank coordinate, Rank size);
/// Children send to their parents in both trees. The axis has at least 4 ranks.
Pattern towards_roots(const Axis& axis);
/// Parents send to their children in both trees.
Pattern away_from_roots(const Axis& axis);
/// One way through both trees at once, for a buffer of `bytes`: in 16 messages for each level.
/// Without its pattern.
Exchange tree_exchange(const Axis& axis, Bytes bytes);

}  // namespace trnsim
