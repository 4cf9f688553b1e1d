#include "plan/library_group.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "plan/groups.h"
#include "plan/trees.h"

namespace trnsim {
namespace {

using Kind = LibraryWay::Kind;

const FabricDimension* dimension_of(const System& system, const Axis& axis) {
  const auto found =
      std::find_if(system.scale_up.begin(), system.scale_up.end(),
                   [&](const FabricDimension& dimension) { return dimension.name == axis.name; });
  return found == system.scale_up.end() ? nullptr : &*found;
}

// The ranks of a unit, and the units; of size 1 where there is but one.
struct Sides {
  Axis inside;
  Axis across;
  const FabricDimension* dimension = nullptr;  // that joins the ranks of a unit
};

std::optional<std::string> obstacle_of(const System& system, const std::vector<Axis>& axes,
                                       Sides& sides) {
  for (const Axis& axis : axes) {
    if (axis.size == 1) continue;
    if (const FabricDimension* dimension = dimension_of(system, axis)) {
      if (sides.dimension != nullptr || dimension->kind == FabricDimension::Kind::ring)
        return "needs units in which one switch or mesh joins the ranks of a group";
      sides.inside = axis;
      sides.dimension = dimension;
    } else if (axis.name == "ranks") {
      return "needs a group that lies along the dimensions of the fabric";
    } else if (sides.across.size == 1) {
      sides.across = axis;
    } else if (axis.stride == sides.across.stride * sides.across.size) {
      sides.across.size *= axis.size;
    } else {
      return "needs units that are evenly far apart";
    }
  }
  return std::nullopt;
}

bool is_told(const LibraryChoice& told, const LibraryWay& way) {
  return (told.algorithm.empty() || told.algorithm == name_of(way.kind)) &&
         (told.protocol.empty() || told.protocol == way.protocol);
}

// All edges of both trees at once.
Pattern at_once(const Pattern& tree) {
  Pattern made = tree;
  made.first_hop = [tree](Rank rank, Rank shift) {
    return tree.sent(rank, shift) ? std::optional<Rank>(0) : std::nullopt;
  };
  return made;
}

PatternId add(Plan& plan, Pattern pattern) {
  plan.patterns.push_back(std::move(pattern));
  return static_cast<PatternId>(plan.patterns.size() - 1);
}

void add_once(Plan& plan, std::optional<PatternId>& known, const Axis& axis,
              std::vector<Rank> shifts) {
  if (!known && axis.size > 1) known = add(plan, {axis, std::move(shifts)});
}

void add_trees(Plan& plan, LibraryGroup& group) {
  const Axis& axis = group.across_axis;
  if (!group.trees.empty() || axis.size == 1) return;
  if (axis.size == 2) {
    group.trees = {add(plan, {axis, {1}})};
  } else if (axis.size == 3) {
    group.trees = {add(plan, {axis, {1, 2}})};
  } else {
    group.trees = {add(plan, at_once(towards_roots(axis))),
                   add(plan, at_once(away_from_roots(axis)))};
  }
}

bool is_tree(Kind kind) { return kind == Kind::tree || kind == Kind::nvls_tree; }

// Whether the library has `op` go this way at all.
bool takes(const LibraryGroup& group, CollectiveOp op, const LibraryWay& way) {
  switch (way.kind) {
    case Kind::ring:
      return true;
    case Kind::tree:
      return op == CollectiveOp::all_reduce;
    case Kind::nvls:
      return group.in_switch && group.across == 1;
    case Kind::nvls_tree:
      return op == CollectiveOp::all_reduce && group.in_switch && group.inside > 1 &&
             group.across > 1;
    case Kind::pat:
      return op != CollectiveOp::all_reduce && group.inside == 1;
  }
  return false;
}

double log2_of(Rank count) { return count > 1 ? std::floor(std::log2(count)) : 0; }

// NCCL's own model of what hops take (src/graph/tuning.cc, ncclTopoTuneModel).
Seconds latency_of(const LibraryGroup& group, CollectiveOp op, const LibraryWay& way) {
  const double passes = op == CollectiveOp::all_reduce ? 2 : 1;
  const double units = group.across;
  const Seconds across = way.across + std::max(0.0, group.network - group.library.wire);
  Seconds hops = 0;
  switch (way.kind) {
    case Kind::ring:
      hops = passes * ((group.size() - units) * way.inside + (units - 1) * across);
      break;
    case Kind::tree:
      hops = 2 * ((group.inside - 1) * way.inside + log2_of(group.across) * across);
      break;
    case Kind::nvls:
      hops = way.inside;
      break;
    case Kind::nvls_tree:
      hops = way.inside + 2 * log2_of(group.across) * across;
      break;
    case Kind::pat:
      hops = log2_of(group.across) * across;
      break;
  }
  return way.launch + hops + group.size() * way.each;
}

// Data that a rank sends: on both sides what all channels of the library send over it, which go
// through the ranks of a unit in turn.
void set_bytes(Streaming& made, const LibraryGroup& group, CollectiveOp op, Bytes bytes) {
  const Rank inside = group.inside;
  const Rank across = group.across;
  const Bytes shard = divide_up(bytes, group.size());
  const Bytes round = (op == CollectiveOp::all_reduce ? 2 : 1) * (group.size() - 1) * shard;
  switch (made.way->kind) {
    case Kind::ring:
    case Kind::pat:
      made.across = across == 1 ? 0 : divide_up(round, inside);
      made.inside = round - made.across;
      break;
    case Kind::tree:
      made.inside = divide_up(2 * bytes * (inside - 1), inside);
      break;
    case Kind::nvls:
    case Kind::nvls_tree:
      made.inside = bytes;
      break;
  }
  // Each unit but the root has one parent, in either of two trees, for half of the data.
  if (is_tree(made.way->kind))
    made.across = divide_up(2 * bytes * (across - 1), static_cast<Bytes>(across) * inside);
}

Bytes on_wire(Bytes data, double payload) {
  return static_cast<Bytes>(std::ceil(static_cast<double>(data) / payload));
}

// Messages of one size along a pattern.
Exchange flow(PatternId pattern, Bytes data, uint64_t peers, double payload) {
  Exchange made;
  made.pattern = pattern;
  made.payload = divide_up(data, peers);
  made.bytes = on_wire(made.payload, payload);
  made.no_latency = true;
  return made;
}

// Ranks to which one sends at once on this side.
uint64_t peers_inside(const LibraryGroup& group, const LibraryWay& way) {
  if (!group.in_switch) return group.inside - 1;
  return way.kind == Kind::tree && group.inside > 2 ? 2 : 1;
}

std::vector<Exchange> flows_inside(const LibraryGroup& group, const Streaming& streaming) {
  if (streaming.inside == 0) return {};
  const bool both_ways = streaming.way->kind == Kind::tree;
  return {flow(both_ways ? group.chain.value() : group.round.value(), streaming.inside,
               peers_inside(group, *streaming.way), streaming.way->payload_inside)};
}

std::vector<Exchange> flows_across(const LibraryGroup& group, Bytes bytes,
                                   const Streaming& streaming) {
  const LibraryWay& way = *streaming.way;
  if (streaming.across == 0) return {};
  if (!is_tree(way.kind)) return {flow(group.onward.value(), streaming.across, 1, way.payload)};
  if (group.across <= 3)
    return {flow(group.trees.at(0), streaming.across, group.across - 1, way.payload)};
  const Bytes edge = divide_up(bytes, uint64_t{2} * group.inside);
  return {flow(group.trees.at(0), edge, 1, way.payload),
          flow(group.trees.at(1), edge, 1, way.payload)};
}

// What passes the fullest port: in a tree, that of a unit with two children and a parent.
Seconds time_of_flows(const LibraryGroup& group, Bytes bytes, const Streaming& streaming) {
  const LibraryWay& way = *streaming.way;
  const auto seconds = [](Bytes data, double payload, BytesPerSecond port) {
    return data == 0 ? 0 : static_cast<double>(on_wire(data, payload)) / port;
  };
  const bool full_tree = is_tree(way.kind) && group.across > 3;
  const Bytes across = full_tree ? divide_up(2 * bytes, group.inside) : streaming.across;
  const Bytes inside =
      group.in_switch ? streaming.inside : divide_up(streaming.inside, group.inside - 1);
  return std::max(seconds(inside, way.payload_inside, group.inside_port),
                  seconds(across, way.payload, group.across_port));
}

Streaming streaming_of(const LibraryGroup& group, CollectiveOp op, Bytes bytes,
                       const LibraryWay& way) {
  Streaming made;
  made.way = &way;
  set_bytes(made, group, op, bytes);
  made.latency = latency_of(group, op, way);
  const Seconds flows = time_of_flows(group, bytes, made);
  // What the processors of a chip cannot keep up with.
  const double most = group.across == 1 ? way.most_inside : way.most_across;
  const double data = static_cast<double>(
      is_tree(way.kind) ? 2 * bytes
                        : (op == CollectiveOp::all_reduce ? 2 : 1) * (group.size() - 1) *
                              divide_up(bytes, group.size()));
  if (most > 0) made.latency += std::max(0.0, data / most - flows);
  // A ring is full from the first slice on. To fill a tree or a switch takes flows / k for k
  // slices, each of which costs time of its own: 2 sqrt(slices' time * flows) for the best k.
  if (way.kind != Kind::ring && way.kind != Kind::pat)
    made.latency += 2 * std::sqrt(group.library.fill * (made.latency - way.launch) * flows);
  made.estimate = made.latency + flows;
  return made;
}

Group group_of_size(Plan& plan, const System& system, const std::string& name,
                    const std::vector<Axis>& axes, Algorithm algorithm) {
  Algorithms algorithms;
  for (const Axis& axis : axes)
    algorithms.along[axis.name] = obstacle(algorithm, axis, system) ? Algorithm::ring : algorithm;
  return make_group(plan, CollectiveOp::all_reduce, name, axes, algorithms);
}

}  // namespace

std::optional<std::string> obstacle(const LibraryChoice& told, const System& system,
                                    const std::vector<Axis>& axes) {
  const Library& library = system.library;
  if (!library.is_described()) return "is not described for this system";
  if (library.ways.empty()) {
    if (told == LibraryChoice{}) return std::nullopt;
    return "chooses by size; name the algorithm without \"library\"";
  }
  Sides sides;
  if (const auto why = obstacle_of(system, axes, sides)) return why;
  std::vector<std::string> known;
  for (const LibraryWay& way : library.ways) {
    if (is_told(told, way)) return std::nullopt;
    known.push_back(name_of(way.kind) + ", " + way.protocol);
  }
  return "has no such algorithm and protocol; " + library.name + " has " + one_of(known);
}

Group make_library_group(Plan& plan, const System& system, const std::string& name,
                         const std::vector<Axis>& axes, const LibraryChoice& told,
                         StreamId stream) {
  if (const auto why = obstacle(told, system, axes)) throw std::logic_error(*why);
  Group group{name, {}};
  for (const Axis& axis : axes)
    if (axis.size > 1) group.axes.push_back({axis, Algorithm::ring, {}, {}});
  auto made = std::make_shared<LibraryGroup>();
  made->library = system.library;
  made->told = told;
  for (const LibrarySize& size : system.library.sizes)
    made->by_size.emplace_back(static_cast<Bytes>(size.from.value),
                               group_of_size(plan, system, name, axes, size.algorithm));
  if (made->by_size.empty()) {
    Sides sides;
    obstacle_of(system, axes, sides);
    made->inside_axis = sides.inside;
    made->across_axis = sides.across;
    made->inside = sides.inside.size;
    made->across = sides.across.size;
    if (sides.dimension != nullptr) {
      made->in_switch = sides.dimension->kind == FabricDimension::Kind::switched;
      made->inside_port = sides.dimension->port();
    }
    const ScaleOut& out = system.scale_out;
    made->across_port = out.bandwidth * out.efficiency / out.chips_per_nic;
    made->network = out.latency;
    group.streams = {stream, static_cast<StreamId>(plan.streams.size())};
    if (made->across > 1) plan.streams.emplace_back("collectives between units");
  }
  group.library = std::move(made);
  return group;
}

const Group& group_for(const LibraryGroup& library, Bytes bytes) {
  const Group* found = &library.by_size.front().second;
  for (const auto& [from, group] : library.by_size)
    if (bytes >= from) found = &group;
  return *found;
}

void prepare(Plan& plan, const Group& group, CollectiveOp op, Bytes bytes) {
  if (!group.library || !group.library->by_size.empty() || group.size() == 1) return;
  LibraryGroup& made = *group.library;
  const Streaming first = streamings_of(made, op, bytes).front();
  std::vector<Rank> others(made.inside - 1);
  std::iota(others.begin(), others.end(), Rank{1});
  std::vector<Rank> both{1};
  if (made.inside > 2) both.push_back(made.inside - 1);
  if (first.way->kind == Kind::tree)
    add_once(plan, made.chain, made.inside_axis, made.in_switch ? both : others);
  else
    add_once(plan, made.round, made.inside_axis, made.in_switch ? std::vector<Rank>{1} : others);
  if (is_tree(first.way->kind))
    add_trees(plan, made);
  else
    add_once(plan, made.onward, made.across_axis, {1});
  if (!made.heard.empty()) return;
  for (const Axis& axis : {made.inside_axis, made.across_axis})
    for (uint64_t distance = 1; distance < axis.size; distance *= 2)
      made.heard.push_back(add(plan, {axis, {static_cast<Rank>(distance)}}));
}

std::vector<Streaming> streamings_of(const LibraryGroup& group, CollectiveOp op, Bytes bytes) {
  std::vector<Streaming> all;
  for (const bool as_told : {true, false}) {
    for (const LibraryWay& way : group.library.ways)
      if (takes(group, op, way) && (!as_told || is_told(group.told, way)))
        all.push_back(streaming_of(group, op, bytes, way));
    if (!all.empty()) break;
  }
  if (all.empty()) throw std::logic_error(group.library.name + " has no way for " + to_string(op));
  std::stable_sort(all.begin(), all.end(),
                   [](const Streaming& a, const Streaming& b) { return a.estimate < b.estimate; });
  return all;
}

Position add_streaming(Unrolled& program, const Group& group, CollectiveOp op, Bytes bytes,
                       const CollectiveSteps& steps, std::vector<Position> after) {
  const LibraryGroup& library = *group.library;
  const Streaming streaming = streamings_of(library, op, bytes).front();
  const std::vector<Exchange> inside = flows_inside(library, streaming);
  const std::vector<Exchange> across = flows_across(library, bytes, streaming);
  const auto add_step = [&](StreamId stream, const auto& work, std::vector<Position> waits) {
    Step step;
    step.stream = stream;
    step.label = steps.label;
    step.work = work;
    step.after = std::move(waits);
    return step;
  };
  const PatternId first = inside.empty() ? across.front().pattern : inside.front().pattern;
  Step start = add_step(group.streams[0], Delay{streaming.latency, first}, std::move(after));
  start.label.first_of_collective = true;
  start.memory_at_begin = steps.memory_at_begin;
  const Position begun = program.add(std::move(start));
  std::vector<Position> all{begun};
  for (const Exchange& exchange : inside)
    all.push_back(program.add(add_step(group.streams[0], exchange, {begun})));
  // Flows to and from other units are at once too: each on a port of its own direction.
  for (const Exchange& exchange : across)
    all.push_back(program.add(add_step(group.streams[1], exchange, {begun})));
  Position last = begun;
  for (const PatternId pattern : library.heard) {
    Exchange exchange;
    exchange.pattern = pattern;
    exchange.no_latency = true;
    Step step = add_step(group.streams[0], exchange, std::move(all));
    if (pattern == library.heard.back()) {
      step.label.last_of_collective = true;
      step.memory_at_end = steps.memory_at_end;
    }
    last = program.add(std::move(step));
    all = {last};
  }
  return last;
}

std::pair<Bytes, std::string> describe_streaming(const Plan& plan, const LibraryGroup& group,
                                                 CollectiveOp op, Bytes bytes) {
  const Streaming streaming = streamings_of(group, op, bytes).front();
  Bytes sent = 0;
  for (const auto& flows : {flows_inside(group, streaming), flows_across(group, bytes, streaming)})
    for (const Exchange& exchange : flows) sent += sent_by_a_rank(plan, exchange);
  std::string name = name_of(streaming.way->kind);
  std::replace(name.begin(), name.end(), '_', '-');
  return {sent, group.library.name + ' ' + name + ", " + streaming.way->protocol};
}

}  // namespace trnsim
