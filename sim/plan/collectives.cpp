#include "plan/collectives.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace trnsim {
namespace {

Bytes divide_up(Bytes bytes, Bytes by) { return (bytes + by - 1) / by; }

// Bytes that are still whole along each axis: sizes[0] is the buffer, sizes[i + 1] the shard that
// is left of it after the reduce-scatter along axis i.
std::vector<Bytes> shards(const Group& group, Bytes bytes) {
  std::vector<Bytes> sizes{bytes};
  for (const GroupAxis& axis : group.axes) sizes.push_back(divide_up(sizes.back(), axis.axis.size));
  return sizes;
}

// One pass along one axis, in which every rank sends all shards of the axis but one.
//
// Ring, reduce-scatter: in hop h the rank at coordinate c sends shard c - 1 - h, the one that it
// received in the hop before; the last to arrive is its own. Ring, all-gather: it sends shard c -
// h, its own first. Direct, reduce-scatter: peer c + s gets shard c + s. Direct, all-gather: each
// peer gets shard c.
Exchange pass(const Group& group, size_t index, Bytes shard, bool reduces) {
  const GroupAxis& along = group.axes[index];
  const auto peers = along.axis.size - 1;
  const auto axis = static_cast<int8_t>(index);
  Exchange exchange;
  exchange.pattern = along.pattern;
  exchange.bytes = exchange.payload = shard;
  exchange.reduces = reduces;
  exchange.hops = along.algorithm == Algorithm::ring ? peers : 1;
  // On the axes before this one a rank holds only its own shard.
  for (size_t earlier = 0; earlier < index; ++earlier) exchange.region.offset[earlier] = 0;
  exchange.region.offset[index] = 0;
  if (along.algorithm == Algorithm::ring) {
    if (reduces) exchange.region.offset[index] = -1;
    exchange.region.moving_axis = axis;
    exchange.region.per_hop = -1;
  } else if (reduces) {
    exchange.region.peer_axis = axis;
  }
  return exchange;
}

enum class Part { only, first, last };

// Adds the passes of one reduce-scatter (axes in their order) or all-gather (backwards).
Position add_passes(Unrolled& program, const Group& group, Bytes bytes,
                    const CollectiveSteps& steps, std::vector<Position> after, bool reduces,
                    Part part) {
  const size_t axes = group.axes.size();
  if (axes == 0) {
    if (after.empty()) throw std::logic_error("a collective of one rank waits for nothing");
    return *std::max_element(after.begin(), after.end());
  }
  const std::vector<Bytes> sizes = shards(group, bytes);
  Position last = 0;
  for (size_t i = 0; i < axes; ++i) {
    const size_t index = reduces ? i : axes - 1 - i;
    Step step;
    step.stream = steps.stream;
    step.label = steps.label;
    step.label.first_of_collective = i == 0 && part != Part::last;
    step.label.last_of_collective = i + 1 == axes && part != Part::first;
    if (step.label.first_of_collective) step.memory_at_begin = steps.memory_at_begin;
    if (step.label.last_of_collective) step.memory_at_end = steps.memory_at_end;
    step.after = std::move(after);
    Exchange exchange = pass(group, index, sizes[index + 1], reduces);
    if (reduces)
      exchange.reduction =
          steps.reduction.tail(exchange.bytes, (group.axes[index].axis.size - 1) / exchange.hops);
    step.work = exchange;
    last = program.add(std::move(step));
    after = {last};
  }
  return last;
}

}  // namespace

Rank Group::size() const {
  return std::accumulate(axes.begin(), axes.end(), Rank{1},
                         [](Rank size, const GroupAxis& axis) { return size * axis.axis.size; });
}

Seconds Reduction::tail(Bytes bytes, uint64_t messages) const {
  if (bytes_per_second <= 0) return 0;
  return static_cast<double>(messages) * static_cast<double>(std::min(bytes, chunk)) /
         bytes_per_second;
}

Group make_group(Plan& plan, const std::string& name, const std::vector<Axis>& axes,
                 Algorithm algorithm) {
  Group group{name, {}};
  for (const Axis& axis : axes) {
    if (axis.size == 1) continue;
    if (group.axes.size() == Region::most_axes)
      throw std::logic_error("a group has more axes than a region");
    Pattern pattern{axis, {1}};
    if (algorithm == Algorithm::direct) {
      pattern.shifts.resize(axis.size - 1);
      std::iota(pattern.shifts.begin(), pattern.shifts.end(), Rank{1});
    }
    group.axes.push_back({axis, algorithm, static_cast<PatternId>(plan.patterns.size())});
    plan.patterns.push_back(std::move(pattern));
  }
  return group;
}

Position reduce_scatter(Unrolled& program, const Group& group, Bytes bytes,
                        const CollectiveSteps& steps, std::vector<Position> after) {
  return add_passes(program, group, bytes, steps, std::move(after), true, Part::only);
}

Position all_gather(Unrolled& program, const Group& group, Bytes bytes,
                    const CollectiveSteps& steps, std::vector<Position> after) {
  return add_passes(program, group, bytes, steps, std::move(after), false, Part::only);
}

Position all_reduce(Unrolled& program, const Group& group, Bytes bytes,
                    const CollectiveSteps& steps, std::vector<Position> after) {
  const Position reduced =
      add_passes(program, group, bytes, steps, std::move(after), true, Part::first);
  return add_passes(program, group, bytes, steps, {reduced}, false, Part::last);
}

Group make_chains(Plan& plan, const std::string& name, const std::vector<Axis>& axes) {
  Group chains{name, {}};
  std::vector<Axis> inner;
  for (const Axis& axis : axes) {
    if (axis.size == 1) continue;
    chains.axes.push_back({axis, Algorithm::ring, static_cast<PatternId>(plan.patterns.size())});
    plan.patterns.push_back({axis, {1}, [axis, inner](Rank rank, Rank) {
                               return axis.coordinate(rank) + 1 < axis.size &&
                                      std::all_of(inner.begin(), inner.end(), [&](const Axis& a) {
                                        return a.coordinate(rank) == 0;
                                      });
                             }});
    inner.push_back(axis);
  }
  return chains;
}

Position broadcast(Unrolled& program, const Group& chains, Bytes bytes,
                   const CollectiveSteps& steps, std::vector<Position> after) {
  Position last = 0;
  for (size_t i = chains.axes.size(); i-- > 0;) {
    const GroupAxis& along = chains.axes[i];
    const uint64_t messages = std::clamp<uint64_t>(bytes, 1, 16 * (along.axis.size - 1));
    Exchange exchange;
    exchange.pattern = along.pattern;
    exchange.passed_on = true;
    exchange.relays = along.axis.size - 2;
    exchange.hops = messages + 1;
    exchange.bytes = exchange.payload = divide_up(bytes, messages);
    Step step;
    step.stream = steps.stream;
    step.label = steps.label;
    step.label.first_of_collective = i + 1 == chains.axes.size();
    step.label.last_of_collective = i == 0;
    if (step.label.first_of_collective) step.memory_at_begin = steps.memory_at_begin;
    if (step.label.last_of_collective) step.memory_at_end = steps.memory_at_end;
    step.after = std::move(after);
    step.work = exchange;
    last = program.add(std::move(step));
    after = {last};
  }
  return last;
}

Bytes sent_in_one_pass(const Group& group, Bytes bytes) {
  const std::vector<Bytes> sizes = shards(group, bytes);
  Bytes sent = 0;
  for (size_t i = 0; i < group.axes.size(); ++i)
    sent += sizes[i + 1] * (group.axes[i].axis.size - 1);
  return sent;
}

Bytes shard_bytes(const Group& group, Bytes bytes) { return shards(group, bytes).back(); }

std::string to_string(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_gather:
      return "all_gather";
    case CollectiveOp::reduce_scatter:
      return "reduce_scatter";
    case CollectiveOp::all_reduce:
      return "all_reduce";
    case CollectiveOp::broadcast:
      return "broadcast";
  }
  throw std::logic_error("collective without a name");
}

Collective collective_info(CollectiveOp op, const std::string& what, const Group& group,
                           Bytes bytes) {
  if (op == CollectiveOp::broadcast)
    return {to_string(op), what, group.name, describe(group), group.size(), bytes, bytes, 1};
  const unsigned passes = op == CollectiveOp::all_reduce ? 2 : 1;
  const double ranks = group.size();
  return {to_string(op),
          what,
          group.name,
          describe(group),
          group.size(),
          bytes,
          passes * sent_in_one_pass(group, bytes),
          passes * (ranks - 1) / ranks};
}

std::string describe(const Group& group) {
  if (group.axes.empty()) return "none";
  std::string text = group.axes.front().algorithm == Algorithm::ring ? "ring" : "direct";
  const char* separator = " ";
  for (const GroupAxis& axis : group.axes) {
    text += separator + axis.axis.name + ' ' + std::to_string(axis.axis.size);
    separator = ", ";
  }
  return text;
}

}  // namespace trnsim
