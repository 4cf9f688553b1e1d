#include "engine/graph.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

namespace trnsim {
namespace {

constexpr uint32_t unused = ~0U;

std::vector<RankClass> rank_classes(const Plan& plan, const Folding& folding) {
  std::vector<RankClass> classes(folding.rank_colours, RankClass{0, 0, 0, 1});
  for (Rank rank = 0; rank < plan.ranks; ++rank) {
    RankClass& of = classes[folding.rank[rank]];
    if (of.size++ > 0) continue;
    of.representative = rank;
    of.program = plan.program(rank);
    const auto speed = plan.speed.find(rank);
    if (speed != plan.speed.end()) of.speed = speed->second;
  }
  return classes;
}

// The crossings of one message by link class, in order of class.
using Crossings = std::map<uint32_t, uint64_t>;

// Merges the messages of one representative and pattern by everything that tells them apart.
void add_messages(Graph& graph, const Network& network, const Folding& folding, uint32_t sender,
                  PatternId pattern_id) {
  const Pattern& pattern = graph.plan->patterns[pattern_id];
  const Rank from = graph.ranks[sender].representative;
  std::map<std::tuple<uint32_t, Rank, Bytes, Seconds, Crossings>, uint64_t> merged;
  std::vector<Link> route;
  for (const Rank shift : pattern.shifts) {
    const std::optional<Rank> first_hop = pattern.sent(from, shift);
    if (!first_hop) continue;
    const Rank to = pattern.axis.shifted(from, shift);
    const Seconds latency = network.route(from, to, route);
    Crossings crossed;
    for (const Link link : route) ++crossed[folding.link[link]];
    const Bytes bytes = pattern.bytes ? pattern.bytes(from, shift) : 0;
    ++merged[{folding.rank[to], *first_hop, bytes, latency, std::move(crossed)}];
  }
  for (const auto& [key, multiplicity] : merged) {
    const auto& [to, first_hop, bytes, latency, crossed] = key;
    MessageClass message{sender, to, pattern_id, first_hop, bytes, multiplicity, latency, {}, 0};
    message.crossings.assign(crossed.begin(), crossed.end());
    graph.messages.push_back(std::move(message));
  }
}

// Turns crossings of one message into crossings of one link by the whole class, and link colours
// into the classes of the links that are used.
void weigh(Graph& graph, const Network& network, const Folding& folding) {
  std::vector<LinkClass> colours(folding.link_colours);
  for (const LinkLevel& level : network.levels()) {
    for (Link link = level.first; link < level.first + level.count; ++link) {
      LinkClass& of = colours[folding.link[link]];
      if (of.size++ == 0) of.capacity = network.capacity(link);
      if (of.representatives.empty() || of.representatives.back() < level.first)
        of.representatives.push_back(link);
    }
  }
  std::vector<uint32_t> class_of(folding.link_colours, unused);
  for (MessageClass& message : graph.messages) {
    for (auto& [link, times] : message.crossings) {
      const uint64_t all = graph.represented(message) * times;
      if (all % colours[link].size != 0)
        throw std::logic_error("a folding is wrong: its links do not share messages evenly");
      times = all / colours[link].size;
      if (class_of[link] == unused) {
        class_of[link] = static_cast<uint32_t>(graph.links.size());
        graph.links.push_back(colours[link]);
      }
      link = class_of[link];
    }
  }
}

}  // namespace

void set_phase_times(Graph& graph) {
  // Messages on a link, by pattern; bytes, where they differ.
  std::map<std::pair<PatternId, uint32_t>, double> load;
  const auto size = [](const MessageClass& message) {
    return message.bytes > 0 ? static_cast<double>(message.bytes) : 1.0;
  };
  for (const MessageClass& message : graph.messages)
    for (const auto& [link, times] : message.crossings)
      load[{message.pattern, link}] += static_cast<double>(times) * size(message);
  for (MessageClass& message : graph.messages) {
    message.seconds_per_byte = 0;
    for (const auto& [link, times] : message.crossings)
      message.seconds_per_byte =
          std::max(message.seconds_per_byte,
                   load[{message.pattern, link}] / size(message) / graph.links[link].capacity);
  }
}

void set_touching(Graph& graph) {
  const size_t patterns = graph.plan->patterns.size();
  graph.touching.assign(graph.ranks.size(), std::vector<std::vector<uint32_t>>(patterns));
  graph.receives.assign(graph.ranks.size(), std::vector<bool>(patterns));
  for (uint32_t m = 0; m < graph.messages.size(); ++m) {
    const MessageClass& message = graph.messages[m];
    graph.receives[message.to][message.pattern] = true;
    graph.touching[message.from][message.pattern].push_back(m);
    if (message.to != message.from) graph.touching[message.to][message.pattern].push_back(m);
  }
}

Graph make_graph(const Plan& plan, const Network& network, const Folding& folding) {
  Graph graph;
  graph.plan = &plan;
  graph.ranks = rank_classes(plan, folding);
  const auto classes = static_cast<uint32_t>(graph.ranks.size());
  for (uint32_t sender = 0; sender < classes; ++sender)
    for (PatternId pattern = 0; pattern < plan.patterns.size(); ++pattern)
      add_messages(graph, network, folding, sender, pattern);
  weigh(graph, network, folding);
  set_phase_times(graph);
  set_touching(graph);
  return graph;
}

}  // namespace trnsim
