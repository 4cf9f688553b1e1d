#include "plan/trees.h"

#include <algorithm>
#include <array>
#include <memory>

namespace trnsim {
namespace {

// The parent in a tree that is in order: odd numbers are leaves, multiples of 2 are one level
// higher, of 4 two; the parent's number differs in the lowest set bit and the one above it.
std::optional<Rank> parent_in_order(Rank number, Rank size) {
  if (number == 0) return std::nullopt;
  const Rank lowest = number & (~number + 1);
  const Rank without = number ^ lowest;
  const Rank above = without | (lowest << 1);
  return above < size ? above : without;
}

}  // namespace

// The second tree has the numbers mirrored, or, of an odd number of ranks, moved on by one.
std::optional<Rank> tree_parent(int tree, Rank coordinate, Rank size) {
  if (tree == 0) return parent_in_order(coordinate, size);
  if (size % 2 == 0) {
    const auto mirrored = parent_in_order(size - 1 - coordinate, size);
    return mirrored ? std::optional(size - 1 - *mirrored) : std::nullopt;
  }
  const auto moved = parent_in_order((coordinate + size - 1) % size, size);
  return moved ? std::optional((*moved + 1) % size) : std::nullopt;
}

namespace {

std::vector<Rank> shifts_to_parents(Rank size) {
  std::vector<Rank> shifts;
  for (Rank at = 0; at < size; ++at)
    for (const int tree : {0, 1})
      if (const auto to = tree_parent(tree, at, size)) shifts.push_back((*to + size - at) % size);
  std::sort(shifts.begin(), shifts.end());
  shifts.erase(std::unique(shifts.begin(), shifts.end()), shifts.end());
  return shifts;
}

// Of each rank of a tree how far it is from the root, and from the furthest leaf below it.
struct Levels {
  std::vector<Rank> depth;
  std::vector<Rank> height;
};

Levels levels_of(int tree, Rank size) {
  Levels levels{std::vector<Rank>(size), std::vector<Rank>(size)};
  for (Rank rank = 0; rank < size; ++rank) {
    Rank up = 0;
    for (auto at = tree_parent(tree, rank, size); at; at = tree_parent(tree, *at, size))
      levels.height[*at] = std::max(levels.height[*at], ++up);
    levels.depth[rank] = up;
  }
  return levels;
}

// Who is whose parent, and when the first message can go: a rank passes on what all below it, or
// the one above it, have sent.
Pattern along_both_trees(const Axis& axis, bool up) {
  const auto levels = std::make_shared<const std::array<Levels, 2>>(
      std::array<Levels, 2>{levels_of(0, axis.size), levels_of(1, axis.size)});
  Pattern pattern{axis, shifts_to_parents(axis.size)};
  if (!up)
    for (Rank& shift : pattern.shifts) shift = axis.size - shift;
  pattern.first_hop = [axis, levels, up](Rank rank, Rank shift) -> std::optional<Rank> {
    const Rank from = axis.coordinate(rank);
    const Rank to = (from + shift) % axis.size;
    for (const int tree : {0, 1}) {
      const Levels& of = (*levels)[static_cast<size_t>(tree)];
      if (up && tree_parent(tree, from, axis.size) == to) return of.height[from];
      if (!up && tree_parent(tree, to, axis.size) == from) return of.depth[from];
    }
    return std::nullopt;
  };
  return pattern;
}

}  // namespace

Pattern towards_roots(const Axis& axis) { return along_both_trees(axis, true); }

Pattern away_from_roots(const Axis& axis) { return along_both_trees(axis, false); }

Exchange tree_exchange(const Axis& axis, Bytes bytes) {
  // The root is one level above its only child, which is the last to send up and the first to pass
  // on down; both trees are alike.
  const std::vector<Rank> depth = levels_of(0, axis.size).depth;
  const Rank deepest = *std::max_element(depth.begin(), depth.end());
  const Bytes half = divide_up(bytes, 2);
  const uint64_t messages = std::clamp<uint64_t>(half, 1, uint64_t{16} * deepest);
  Exchange exchange;
  exchange.relays = deepest - 1;
  exchange.hops = messages + exchange.relays;
  exchange.bytes = exchange.payload = divide_up(half, messages);
  return exchange;
}

}  // namespace trnsim
