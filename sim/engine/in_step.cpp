#include "engine/in_step.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/orbits.h"

namespace trnsim {
namespace {

// Calls f(from, shift, to, route, latency) for each message of a pattern that a representative
// sends.
template <typename F>
void for_each_message(const Pattern& pattern, const Network& network, const Orbits& orbits, F f) {
  std::vector<Link> route;
  for (const Rank shift : pattern.shifts)
    for (Rank from = 0; from < orbits.ranks(); ++from) {
      if (!pattern.sent(from, shift)) continue;
      const Rank to = pattern.axis.shifted(from, shift);
      const Seconds latency = network.route(from, to, route);
      f(from, shift, to, route, latency);
    }
}

Bytes own_bytes(const Pattern& pattern, Rank from, Rank shift) {
  return pattern.bytes ? pattern.bytes(from, shift) : 0;
}

// The messages of one pattern, merged by their ends and hop.
void add_messages(Graph& graph, const Network& network, const Orbits& orbits, PatternId id,
                  std::vector<double>& load) {
  const Plan& plan = *graph.plan;
  const Pattern& pattern = plan.patterns[id];
  for_each_message(pattern, network, orbits,
                   [&](Rank from, Rank shift, Rank, const std::vector<Link>& route, Seconds) {
                     const auto bytes =
                         static_cast<double>(std::max<Bytes>(1, own_bytes(pattern, from, shift)));
                     for (const Link link : route) {
                       const uint32_t orbit = orbits.of_link(link);
                       load[orbit] += bytes * static_cast<double>(orbits.weight(orbit));
                     }
                   });
  std::map<std::tuple<uint32_t, uint32_t, Rank>, MessageClass> merged;
  for_each_message(
      pattern, network, orbits,
      [&](Rank from, Rank shift, Rank to, const std::vector<Link>& route, Seconds latency) {
        const std::tuple key{plan.program(from), plan.program(to), *pattern.sent(from, shift)};
        MessageClass& message = merged[key];
        const Bytes bytes = own_bytes(pattern, from, shift);
        message.latency = std::max(message.latency, latency);
        // Seconds of all that the fullest link carries; of a byte, once the largest is known.
        for (const Link link : route)
          message.seconds_per_byte = std::max(message.seconds_per_byte,
                                              load[orbits.of_link(link)] / network.capacity(link));
        message.bytes = std::max(message.bytes, bytes);
      });
  for (auto& [key, message] : merged) {
    std::tie(message.from, message.to, message.first_hop) = key;
    message.pattern = id;
    if (message.bytes > 0) message.seconds_per_byte /= static_cast<double>(message.bytes);
    graph.messages.push_back(message);
  }
  std::fill(load.begin(), load.end(), 0);
}

}  // namespace

Graph in_step(const Plan& plan, const Network& network) {
  Graph graph;
  graph.plan = &plan;
  graph.ranks.assign(plan.programs.size(), RankClass{0, 0, 0, 1});
  for (Rank rank = 0; rank < plan.ranks; ++rank) {
    RankClass& of = graph.ranks[plan.program(rank)];
    if (of.size++ > 0) continue;
    of.representative = rank;
    of.program = plan.program(rank);
  }
  const std::optional<Orbits> of_units = Orbits::of_units(plan, network);
  const Orbits orbits = of_units ? *of_units : Orbits::each(plan, network);
  std::vector<double> load(orbits.links());
  for (PatternId id = 0; id < plan.patterns.size(); ++id)
    add_messages(graph, network, orbits, id, load);
  set_touching(graph);
  return graph;
}

}  // namespace trnsim
