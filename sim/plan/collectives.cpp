#include "plan/collectives.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "plan/library_group.h"
#include "plan/rooted.h"

namespace trnsim {
namespace {

// Bytes that are still whole along each axis: sizes[0] is the buffer, sizes[i + 1] the shard that
// is left of it after the reduce-scatter along axis i.
std::vector<Bytes> shards(const Group& group, Bytes bytes) {
  std::vector<Bytes> sizes{bytes};
  for (const GroupAxis& axis : group.axes) sizes.push_back(divide_up(sizes.back(), axis.axis.size));
  return sizes;
}

void append(std::vector<Exchange>& all, std::vector<Exchange> more) {
  all.insert(all.end(), more.begin(), more.end());
}

std::vector<Exchange> reduce_scatter(const Group& group, Bytes bytes, const Reduction& reduction) {
  std::vector<Exchange> all;
  const std::vector<Bytes> sizes = shards(group, bytes);
  for (size_t i = 0; i < group.axes.size(); ++i)
    append(all, pass(group.axes[i], i, sizes[i + 1], true, reduction));
  return all;
}

std::vector<Exchange> all_gather(const Group& group, Bytes bytes) {
  std::vector<Exchange> all;
  const std::vector<Bytes> sizes = shards(group, bytes);
  for (size_t i = group.axes.size(); i-- > 0;)
    append(all, pass(group.axes[i], i, sizes[i + 1], false, {}));
  return all;
}

std::vector<Exchange> all_reduce(const Group& group, Bytes bytes, const Reduction& reduction) {
  std::vector<Exchange> out;
  std::vector<Exchange> back;
  for (size_t i = 0; i < group.axes.size(); ++i) {
    const GroupAxis& along = group.axes[i];
    if (reduces_all_at_once(along.algorithm)) {
      append(out, all_reduce_pass(along, i, bytes, reduction));
      continue;
    }
    bytes = divide_up(bytes, along.axis.size);
    append(out, pass(along, i, bytes, true, reduction));
    std::vector<Exchange> gather = pass(along, i, bytes, false, {});
    append(gather, std::move(back));
    back = std::move(gather);
  }
  append(out, std::move(back));
  return out;
}

// Along each axis in turn every rank hands each peer the part that is for its place on that axis.
std::vector<Exchange> all_to_all(const Group& group, Bytes bytes) {
  std::vector<Exchange> all;
  for (const GroupAxis& along : group.axes) {
    Exchange exchange;
    exchange.pattern = along.scatter.front();
    exchange.bytes = exchange.payload = divide_up(bytes, along.axis.size);
    all.push_back(exchange);
  }
  return all;
}

std::vector<Exchange> send_recv(const Group& group, Bytes bytes) {
  Exchange exchange;
  exchange.pattern = group.axes.front().scatter.front();
  exchange.bytes = exchange.payload = bytes;
  return {exchange};
}

// Dissemination: after the exchange over distance 2^k a rank has heard of 2^(k + 1).
std::vector<Exchange> barrier(const Group& group) {
  std::vector<Exchange> all;
  for (const GroupAxis& along : group.axes)
    for (const PatternId pattern : along.gather) {
      Exchange exchange;
      exchange.pattern = pattern;
      all.push_back(exchange);
    }
  return all;
}

double bus_factor(CollectiveOp op, double ranks) {
  switch (op) {
    case CollectiveOp::all_reduce:
      return 2 * (ranks - 1) / ranks;
    case CollectiveOp::broadcast:
    case CollectiveOp::reduce:
    case CollectiveOp::send_recv:
      return 1;
    default:
      return (ranks - 1) / ranks;
  }
}

// How a report names what a collective that has no choice does along each axis.
const char* only_way(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_to_all:
    case CollectiveOp::gather:
    case CollectiveOp::scatter:
    case CollectiveOp::send_recv:
      return "direct";
    case CollectiveOp::broadcast:
    case CollectiveOp::reduce:
      return "chain";
    case CollectiveOp::barrier:
      return "dissemination";
    default:
      return nullptr;
  }
}

}  // namespace

Rank Group::size() const {
  return std::accumulate(axes.begin(), axes.end(), Rank{1},
                         [](Rank size, const GroupAxis& axis) { return size * axis.axis.size; });
}

std::string to_string(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_gather:
      return "all_gather";
    case CollectiveOp::reduce_scatter:
      return "reduce_scatter";
    case CollectiveOp::all_reduce:
      return "all_reduce";
    case CollectiveOp::all_to_all:
      return "all_to_all";
    case CollectiveOp::broadcast:
      return "broadcast";
    case CollectiveOp::reduce:
      return "reduce";
    case CollectiveOp::gather:
      return "gather";
    case CollectiveOp::scatter:
      return "scatter";
    case CollectiveOp::send_recv:
      return "send_recv";
    case CollectiveOp::barrier:
      return "barrier";
  }
  throw std::logic_error("collective without a name");
}

std::vector<CollectiveOp> collective_ops() {
  return {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
          CollectiveOp::all_to_all, CollectiveOp::broadcast,  CollectiveOp::reduce,
          CollectiveOp::gather,     CollectiveOp::scatter,    CollectiveOp::send_recv,
          CollectiveOp::barrier};
}

CollectiveOp collective_op_of(const std::string& name) {
  for (const CollectiveOp op : collective_ops())
    if (to_string(op) == name) return op;
  throw std::logic_error("no collective has this name");
}

bool is_chosen(CollectiveOp op) {
  return op == CollectiveOp::all_reduce || op == CollectiveOp::all_gather ||
         op == CollectiveOp::reduce_scatter;
}

Group make_group(Plan& plan, CollectiveOp op, const std::string& name,
                 const std::vector<Axis>& axes, const Algorithms& algorithms) {
  Group group{name, {}};
  std::vector<Axis> inner;
  for (const Axis& axis : axes) {
    if (axis.size == 1) continue;
    switch (op) {
      case CollectiveOp::all_gather:
      case CollectiveOp::reduce_scatter:
      case CollectiveOp::all_reduce:
        group.axes.push_back(make_group_axis(plan, axis, algorithms.of(axis.name)));
        break;
      case CollectiveOp::all_to_all:
        group.axes.push_back(make_group_axis(plan, axis, Algorithm::direct));
        break;
      case CollectiveOp::send_recv:
        group.axes.push_back(make_group_axis(plan, axis, Algorithm::ring));
        break;
      case CollectiveOp::barrier:
        group.axes.push_back(make_group_axis(plan, axis, Algorithm::bruck));
        break;
      default:
        group.axes.push_back(make_rooted_axis(plan, op, axis, inner));
    }
    inner.push_back(axis);
  }
  if (op == CollectiveOp::send_recv && group.axes.size() > 1)
    throw std::logic_error("who is next is said along one axis");
  return group;
}

std::vector<Exchange> exchanges_of(const Group& group, CollectiveOp op, Bytes bytes,
                                   const Reduction& reduction) {
  if (group.axes.empty()) return {};
  switch (op) {
    case CollectiveOp::all_gather:
      return all_gather(group, bytes);
    case CollectiveOp::reduce_scatter:
      return reduce_scatter(group, bytes, reduction);
    case CollectiveOp::all_reduce:
      return all_reduce(group, bytes, reduction);
    case CollectiveOp::all_to_all:
      return all_to_all(group, bytes);
    case CollectiveOp::send_recv:
      return send_recv(group, bytes);
    case CollectiveOp::barrier:
      return barrier(group);
    default:
      return rooted_exchanges(group.axes, op, bytes, reduction);
  }
}

Position add_collective(Unrolled& program, const Group& group, CollectiveOp op, Bytes bytes,
                        const CollectiveSteps& steps, std::vector<Position> after) {
  if (group.library && !group.axes.empty()) {
    if (group.library->by_size.empty())
      return add_streaming(program, group, op, bytes, steps, std::move(after));
    return add_collective(program, group_for(*group.library, bytes), op, bytes, steps,
                          std::move(after));
  }
  const std::vector<Exchange> exchanges =
      exchanges_of(group, op, divide_up(bytes, group.pieces), steps.reduction);
  if (exchanges.empty()) {
    if (after.empty()) throw std::logic_error("a collective of one rank waits for nothing");
    return *std::max_element(after.begin(), after.end());
  }
  const size_t pieces = group.pieces;
  const Name in_order{Name::What::in_pieces,
                      pieces > 1 ? static_cast<int32_t>(group.streams.front()) : 0};
  if (pieces > 1 && program.has(in_order)) after.push_back(program.at(in_order));
  std::vector<std::vector<Position>> before(pieces, after);  // what each piece waits for
  Position last = 0;
  // In the order in which they can run: exchange i of piece p in turn i + p.
  for (size_t turn = 0; turn + 1 < pieces + exchanges.size(); ++turn) {
    for (size_t piece = 0; piece < pieces && piece <= turn; ++piece) {
      const size_t index = turn - piece;
      if (index >= exchanges.size()) continue;
      Step step;
      step.stream = pieces > 1 ? group.streams.at(static_cast<size_t>(exchanges[index].region.axis))
                               : steps.stream;
      step.label = steps.label;
      step.label.first_of_collective = turn == 0;
      step.label.last_of_collective = turn + 2 == pieces + exchanges.size();
      if (step.label.first_of_collective) step.memory_at_begin = steps.memory_at_begin;
      if (step.label.last_of_collective) step.memory_at_end = steps.memory_at_end;
      step.after = std::move(before[piece]);
      step.work = exchanges[index];
      last = program.add(std::move(step));
      before[piece] = {last};
    }
  }
  if (pieces > 1) program.publish(in_order, last);
  return last;
}

void pipeline(Plan& plan, Group& group, uint32_t pieces, StreamId first) {
  group.pieces = pieces;
  if (pieces == 1) return;
  for (const GroupAxis& along : group.axes) {
    const bool is_first = &along == &group.axes.front();
    group.streams.push_back(is_first ? first : static_cast<StreamId>(plan.streams.size()));
    if (!is_first) plan.streams.push_back("collectives along " + along.axis.name);
  }
}

Bytes shard_bytes(const Group& group, Bytes bytes) { return shards(group, bytes).back(); }

Collective collective_info(const Plan& plan, CollectiveOp op, const std::string& what,
                           const Group& group, Bytes bytes) {
  if (group.library && !group.axes.empty()) {
    if (!group.library->by_size.empty()) {
      Collective info = collective_info(plan, op, what, group_for(*group.library, bytes), bytes);
      info.algorithm = group.library->library.name + ": " + info.algorithm;
      return info;
    }
    const auto [sent, algorithm] = describe_streaming(plan, *group.library, op, bytes);
    return {to_string(op), what,  group.name, algorithm,
            group.size(),  bytes, sent,       bus_factor(op, group.size())};
  }
  Bytes sent = 0;
  for (const Exchange& exchange : exchanges_of(group, op, divide_up(bytes, group.pieces), {}))
    sent += group.pieces * sent_by_a_rank(plan, exchange);
  return {to_string(op), what,  group.name, describe(group, op),
          group.size(),  bytes, sent,       bus_factor(op, group.size())};
}

std::string describe(const Group& group, CollectiveOp op) {
  if (group.axes.empty()) return "none";
  std::string text;
  std::string before;
  for (const GroupAxis& axis : group.axes) {
    const char* only = only_way(op);
    const bool is_ring = op != CollectiveOp::all_reduce && axis.algorithm != Algorithm::nvls &&
                         reduces_all_at_once(axis.algorithm);
    std::string way =
        only != nullptr ? only : to_string(is_ring ? Algorithm::ring : axis.algorithm);
    std::replace(way.begin(), way.end(), '_', '-');
    text += text.empty() ? way + ' ' : way == before ? ", " : ", " + way + ' ';
    text += axis.axis.name + ' ' + std::to_string(axis.axis.size);
    before = std::move(way);
  }
  if (group.pieces > 1) text += ", in " + std::to_string(group.pieces) + " pieces";
  return text;
}

}  // namespace trnsim
