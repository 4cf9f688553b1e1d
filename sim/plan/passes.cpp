#include "plan/passes.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>

#include "plan/trees.h"

namespace trnsim {
namespace {

// 1, 2, 4, ... below the number of ranks.
std::vector<Rank> distances(Rank size) {
  std::vector<Rank> all;
  for (uint64_t distance = 1; distance < size; distance *= 2)
    all.push_back(static_cast<Rank>(distance));
  return all;
}

// The distances of an all-gather in the order of its exchanges; a reduce-scatter goes back.
std::vector<Rank> gather_distances(Algorithm algorithm, Rank size) {
  std::vector<Rank> all = distances(size);
  if (algorithm == Algorithm::pat) std::reverse(all.begin(), all.end());
  return all;
}

bool is_stepwise(Algorithm algorithm) {
  return algorithm == Algorithm::halving_doubling || algorithm == Algorithm::bruck ||
         algorithm == Algorithm::pat;
}

// How many chunks go over `distance` in an all-gather. Bruck: a rank has chunks of as many nearest
// ranks. PAT: of every 2 distance-th; a chunk reaches the rank o further in the order of the bits
// of o, highest first.
Rank chunks_over(Algorithm algorithm, Rank size, Rank distance) {
  switch (algorithm) {
    case Algorithm::halving_doubling:
      return distance;
    case Algorithm::bruck:
      return std::min(distance, size - distance);
    default:
      return (size - distance + 2 * distance - 1) / (2 * distance);
  }
}

PatternId add_pattern(Plan& plan, Pattern pattern) {
  plan.patterns.push_back(std::move(pattern));
  return static_cast<PatternId>(plan.patterns.size() - 1);
}

// With the peer whose coordinate differs in one bit.
Pattern exchange_of_bit(const Axis& axis, Rank bit) {
  if (2 * bit == axis.size) return {axis, {bit}};
  return {axis, {bit, axis.size - bit}, [axis, bit](Rank rank, Rank shift) -> std::optional<Rank> {
            const bool sends = ((axis.coordinate(rank) & bit) == 0) == (shift == bit);
            return sends ? std::optional<Rank>(0) : std::nullopt;
          }};
}

void add_stepwise_patterns(Plan& plan, GroupAxis& made) {
  for (const Rank distance : gather_distances(made.algorithm, made.axis.size)) {
    if (made.algorithm == Algorithm::halving_doubling) {
      made.gather.push_back(add_pattern(plan, exchange_of_bit(made.axis, distance)));
      made.scatter.push_back(made.gather.back());
    } else {
      made.gather.push_back(add_pattern(plan, {made.axis, {distance}}));
      made.scatter.push_back(add_pattern(plan, {made.axis, {made.axis.size - distance}}));
    }
  }
  std::reverse(made.scatter.begin(), made.scatter.end());
}

std::vector<Rank> all_peers(Rank size) {
  std::vector<Rank> shifts(size - 1);
  std::iota(shifts.begin(), shifts.end(), Rank{1});
  return shifts;
}

// What the algorithm is with so few ranks, and where it has no passes.
Algorithm in_passes(Algorithm algorithm) {
  return algorithm == Algorithm::double_binary_tree || algorithm == Algorithm::sharp
             ? Algorithm::ring
             : algorithm;
}

}  // namespace

Seconds Reduction::tail(Bytes bytes, uint64_t messages) const {
  if (bytes_per_second <= 0) return 0;
  return static_cast<double>(messages) * static_cast<double>(std::min(bytes, chunk)) /
         bytes_per_second;
}

std::optional<std::string> obstacle(Algorithm algorithm, const Axis& axis) {
  if (algorithm == Algorithm::halving_doubling && !std::has_single_bit(axis.size))
    return "needs a power of two of ranks, not " + std::to_string(axis.size) +
           "; \"bruck\" and \"pat\" take any number";
  return std::nullopt;
}

bool reduces_all_at_once(Algorithm algorithm) {
  return algorithm == Algorithm::double_binary_tree || algorithm == Algorithm::nvls ||
         algorithm == Algorithm::sharp;
}

GroupAxis make_group_axis(Plan& plan, const Axis& axis, Algorithm algorithm) {
  if (const auto why = obstacle(algorithm, axis)) throw std::logic_error(*why);
  const bool few = (algorithm == Algorithm::two_way_ring && axis.size == 2) ||
                   (algorithm == Algorithm::double_binary_tree && axis.size <= 3);
  GroupAxis made{axis, few ? Algorithm::ring : algorithm, {}, {}};
  if (is_stepwise(made.algorithm)) {
    add_stepwise_patterns(plan, made);
    return made;
  }
  std::vector<Rank> shifts{1};
  if (made.algorithm == Algorithm::two_way_ring) shifts.push_back(axis.size - 1);
  if (made.algorithm == Algorithm::direct) shifts = all_peers(axis.size);
  made.scatter = made.gather = {add_pattern(plan, {axis, shifts})};
  if (made.algorithm == Algorithm::double_binary_tree) {
    made.scatter.push_back(add_pattern(plan, towards_roots(axis)));
    made.gather.push_back(add_pattern(plan, away_from_roots(axis)));
  }
  return made;
}

std::vector<Exchange> pass(const GroupAxis& along, size_t index, Bytes shard, bool reduces,
                           const Reduction& reduction) {
  const Rank size = along.axis.size;
  const Algorithm algorithm = in_passes(along.algorithm);
  const std::vector<PatternId>& patterns = reduces ? along.scatter : along.gather;
  Exchange exchange;
  exchange.reduces = reduces;
  exchange.region.axis = static_cast<int8_t>(index);
  exchange.region.algorithm = algorithm;
  exchange.pattern = patterns.front();
  exchange.bytes = shard;
  uint64_t received = 1;
  switch (algorithm) {
    case Algorithm::two_way_ring:
      exchange.bytes = divide_up(shard, 2);
      received = 2;
      [[fallthrough]];
    case Algorithm::ring:
      exchange.hops = size - 1;
      break;
    case Algorithm::direct:
      received = size - 1;
      break;
    case Algorithm::nvls:
      // The switches take all that is to be summed from each chip, or bring it all to each.
      exchange.bytes = shard * size;
      received = 0;
      break;
    default: {
      std::vector<Rank> order = gather_distances(algorithm, size);
      if (reduces) std::reverse(order.begin(), order.end());
      std::vector<Exchange> all;
      for (size_t i = 0; i < order.size(); ++i) {
        exchange.pattern = patterns[i];
        exchange.region.distance = order[i];
        exchange.bytes = exchange.payload = shard * chunks_over(algorithm, size, order[i]);
        if (reduces) exchange.reduction = reduction.tail(exchange.bytes, 1);
        all.push_back(exchange);
      }
      return all;
    }
  }
  exchange.payload = exchange.bytes;
  if (reduces) exchange.reduction = reduction.tail(exchange.bytes, received);
  return {exchange};
}

std::vector<Exchange> all_reduce_pass(const GroupAxis& along, size_t index, Bytes bytes,
                                      const Reduction& reduction) {
  Exchange exchange;
  exchange.region.axis = static_cast<int8_t>(index);
  exchange.reduces = true;
  exchange.pattern = along.scatter.front();
  exchange.bytes = exchange.payload = bytes;
  if (along.algorithm == Algorithm::sharp) return {exchange};
  if (along.algorithm == Algorithm::nvls) {
    // Each chip has the switches sum its shard of all chips, and then hand it to all.
    Exchange handed_out = exchange;
    handed_out.reduces = false;
    handed_out.bytes = handed_out.payload = divide_up(bytes, along.axis.size);
    return {exchange, handed_out};
  }
  exchange = tree_exchange(along.axis, bytes);
  exchange.region.axis = static_cast<int8_t>(index);
  Exchange down = exchange;
  exchange.reduces = true;
  exchange.pattern = along.scatter.back();
  exchange.reduction = reduction.tail(exchange.bytes, 2);
  down.pattern = along.gather.back();
  return {exchange, down};
}

Bytes sent_by_a_rank(const Plan& plan, const Exchange& exchange) {
  const Pattern& pattern = plan.patterns[exchange.pattern];
  size_t most = pattern.shifts.size();
  if (pattern.first_hop) {
    most = 0;
    for (Rank rank = 0; rank < plan.ranks; ++rank) {
      size_t peers = 0;
      for (const Rank shift : pattern.shifts) peers += pattern.sent(rank, shift) ? 1 : 0;
      most = std::max(most, peers);
    }
  }
  return exchange.bytes * exchange.messages() * most;
}

bool Block::contains(Rank chunk, Rank size) const {
  for (Rank i = 0; i < count; ++i)
    if ((first + static_cast<uint64_t>(i) * step) % size == chunk) return true;
  return false;
}

Block block_of(const Exchange& exchange, Rank size, Rank coordinate, Rank shift, uint64_t hop) {
  const Rank distance = exchange.region.distance;
  const auto behind = [&](uint64_t by) {
    return static_cast<Rank>((coordinate + size - by % size) % size);
  };
  switch (exchange.region.algorithm) {
    case Algorithm::ring:
      // Reduce-scatter: the rank passes on what it received in the hop before; its own comes last.
      return {behind(exchange.reduces ? hop + 1 : hop)};
    case Algorithm::two_way_ring: {
      const uint64_t by = exchange.reduces ? hop + 1 : hop;
      if (shift == 1) return {behind(by), 1, 1, 0};
      return {static_cast<Rank>((coordinate + by) % size), 1, 1, 1};
    }
    case Algorithm::direct:
      return {exchange.reduces ? (coordinate + shift) % size : coordinate};
    case Algorithm::halving_doubling: {
      // Blocks of `distance` chunks: the peer's in a reduce-scatter, the rank's in an all-gather.
      const Rank whose = exchange.reduces ? coordinate ^ distance : coordinate;
      return {whose & ~(distance - 1), 1, distance};
    }
    case Algorithm::bruck:
    case Algorithm::pat: {
      const Rank back = exchange.region.algorithm == Algorithm::bruck ? 1 : 2 * distance;
      return {behind(exchange.reduces ? distance : 0), size - back % size,
              chunks_over(exchange.region.algorithm, size, distance)};
    }
    default:
      throw std::logic_error("what switches sum has no chunks of ranks");
  }
}

}  // namespace trnsim
