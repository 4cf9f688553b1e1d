#include "engine/whole_class.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trnsim {
namespace {

// A rank as seen from a link: moving both by whole units changes nothing.
struct Seen {
  Rank rank = 0;
  Rank unit_of_rank = 0;
  Rank unit_of_link = 0;
  auto operator<=>(const Seen&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

// Messages on one link, by pattern and by who sends or receives them.
struct Load {
  std::map<PatternId, uint64_t> in_step;
  std::map<Seen, std::map<PatternId, uint64_t>> by_sender;
  std::map<Seen, std::map<PatternId, uint64_t>> by_receiver;
};

// The most that can be on the link at once: each rank is in one exchange at a time.
uint64_t most(const std::map<Seen, std::map<PatternId, uint64_t>>& by_rank) {
  uint64_t sum = 0;
  for (const auto& [rank, patterns] : by_rank) {
    uint64_t largest = 0;
    for (const auto& [pattern, messages] : patterns) largest = std::max(largest, messages);
    sum += largest;
  }
  return sum;
}

bool is_fullest_in_step(const Load& load) {
  const uint64_t ever = std::min(most(load.by_sender), most(load.by_receiver));
  return std::all_of(load.in_step.begin(), load.in_step.end(),
                     [&](const auto& pattern) { return pattern.second >= ever; });
}

}  // namespace

bool shares_most_in_step(const Plan& plan, const Network& network, std::optional<Link> slow) {
  if (plan.streams.size() > 2) return false;
  const std::optional<Orbits> of_units = Orbits::of_units(plan, network);
  const Orbits orbits = of_units ? *of_units : Orbits::each(plan, network);
  const Rank unit = network.chips_per_unit();
  std::map<uint32_t, Load> loads;
  std::vector<std::optional<Seconds>> latencies(plan.patterns.size());
  std::vector<Link> route;
  for (PatternId p = 0; p < plan.patterns.size(); ++p) {
    const Pattern& pattern = plan.patterns[p];
    for (const Rank shift : pattern.shifts) {
      for (Rank from = 0; from < orbits.ranks(); ++from) {
        if (!pattern.sent(from, shift)) continue;
        const Rank to = pattern.axis.shifted(from, shift);
        const Seconds latency = network.route(from, to, route);
        if (latencies[p].value_or(latency) != latency) return false;
        latencies[p] = latency;
        for (const Link link : route) {
          const LinkLevel& level = network.level(link);
          // Uplinks of a group of units hold up nothing if they can take all NICs.
          const bool of_group = level.units > 1;
          if (of_group && level.capacity * level.count < network.all_nics() * (1 - 1e-12))
            return false;
          if (of_group && !(slow && &network.level(*slow) == &level)) continue;
          // All units of a group send over its uplinks alike: each place in a unit counts once.
          const Rank home = of_group ? to / unit : (link - level.first) / level.of_group;
          Load& load = loads[orbits.of_link(link)];
          ++load.in_step[p];
          ++load.by_sender[of_units ? Seen{from, 0, of_group ? 0 : home} : Seen{from}][p];
          const Seen receiver =
              to / unit == home ? Seen{to % unit} : Seen{to % unit, to / unit, home};
          ++load.by_receiver[of_units ? receiver : Seen{to}][p];
        }
      }
    }
  }
  return std::all_of(loads.begin(), loads.end(),
                     [](const auto& load) { return is_fullest_in_step(load.second); });
}

void slow_all_chips(Graph& graph, double factor) {
  for (RankClass& rank : graph.ranks) rank.speed *= factor;
}

void slow_all_links(Graph& graph, const Folding& folding, Link link, double factor) {
  for (LinkClass& of : graph.links)
    if (folding.link[of.representatives.front()] == folding.link[link]) of.capacity *= factor;
  set_phase_times(graph);
}

void leave_alone(Graph& graph, const Network& network, const Folding& folding) {
  std::map<uint32_t, BytesPerSecond> capacity;  // by colour
  for (const LinkClass& of : graph.links)
    capacity[folding.link[of.representatives.front()]] = of.capacity;
  std::vector<double> slowest(graph.plan->patterns.size());
  std::vector<Link> route;
  for (PatternId p = 0; p < graph.plan->patterns.size(); ++p) {
    const Pattern& pattern = graph.plan->patterns[p];
    std::map<Link, uint64_t> own;
    for (const Rank shift : pattern.shifts) {
      const Rank from = graph.ranks.front().representative;
      if (!pattern.sent(from, shift)) continue;
      network.route(from, pattern.axis.shifted(from, shift), route);
      for (const Link link : route) ++own[link];
    }
    for (const auto& [link, messages] : own)
      slowest[p] =
          std::max(slowest[p], static_cast<double>(messages) / capacity.at(folding.link[link]));
  }
  for (MessageClass& message : graph.messages) message.seconds_per_byte = slowest[message.pattern];
}

}  // namespace trnsim
