#include "plan/rooted.h"

#include <algorithm>
#include <numeric>

namespace trnsim {
namespace {

Exchange chain(const GroupAxis& along, Bytes bytes) {
  const uint64_t messages = std::clamp<uint64_t>(bytes, 1, uint64_t{16} * (along.axis.size - 1));
  Exchange exchange;
  exchange.pattern = along.scatter.front();
  exchange.relays = along.axis.size - 2;
  exchange.hops = messages + exchange.relays;
  exchange.bytes = exchange.payload = divide_up(bytes, messages);
  return exchange;
}

Exchange fan(const GroupAxis& along, Bytes bytes) {
  Exchange exchange;
  exchange.pattern = along.scatter.front();
  exchange.bytes = exchange.payload = bytes;
  return exchange;
}

}  // namespace

GroupAxis make_rooted_axis(Plan& plan, CollectiveOp op, const Axis& axis,
                           const std::vector<Axis>& inner) {
  const bool chained = op == CollectiveOp::broadcast || op == CollectiveOp::reduce;
  const bool towards_root = op == CollectiveOp::reduce || op == CollectiveOp::gather;
  Pattern pattern{axis, {towards_root ? axis.size - 1 : 1}};
  if (!chained) {
    pattern.shifts.resize(axis.size - 1);
    std::iota(pattern.shifts.begin(), pattern.shifts.end(), Rank{1});
  }
  pattern.first_hop = [=](Rank rank, Rank shift) -> std::optional<Rank> {
    const Rank from = axis.coordinate(rank);
    const Rank to = (from + shift) % axis.size;
    const bool takes_part = std::all_of(inner.begin(), inner.end(), [rank](const Axis& other) {
      return other.coordinate(rank) == 0;
    });
    if (!takes_part) return std::nullopt;
    if (!chained) return (towards_root ? to : from) == 0 ? std::optional<Rank>(0) : std::nullopt;
    if ((towards_root ? from : to) == 0) return std::nullopt;
    return towards_root ? axis.size - 1 - from : from;
  };
  const auto id = static_cast<PatternId>(plan.patterns.size());
  plan.patterns.push_back(std::move(pattern));
  return {axis, chained ? Algorithm::ring : Algorithm::direct, {id}, {id}};
}

std::vector<Exchange> rooted_exchanges(const std::vector<GroupAxis>& axes, CollectiveOp op,
                                       Bytes bytes, const Reduction& reduction) {
  // Bytes that a rank has of a gathered buffer before each axis, the fastest first.
  std::vector<Bytes> held{bytes};
  for (auto along = axes.rbegin(); along != axes.rend(); ++along)
    held.insert(held.begin(), divide_up(held.front(), along->axis.size));
  std::vector<Exchange> towards_root;
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool chained = op == CollectiveOp::broadcast || op == CollectiveOp::reduce;
    Exchange made = chained ? chain(axes[i], bytes) : fan(axes[i], held[i]);
    if (op == CollectiveOp::reduce) {
      made.reduces = true;
      made.reduction = reduction.tail(made.bytes, 1);
    }
    towards_root.push_back(made);
  }
  if (op == CollectiveOp::broadcast || op == CollectiveOp::scatter)
    std::reverse(towards_root.begin(), towards_root.end());
  return towards_root;
}

}  // namespace trnsim
