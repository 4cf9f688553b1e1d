#include "system/route_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>

namespace trnsim {
namespace {

// What a way still costs: links, then whole picoseconds, exact however they are added up.
struct Cost {
  uint32_t links = ~0U;
  double picoseconds = 0;

  auto operator<=>(const Cost&) const = default;
};

}  // namespace

RouteTable::RouteTable(GraphFabric graph) : graph_(std::move(graph)) {
  number_links();
  next_.assign(graph_.chips.size() * graph_.nodes(), no_link);
  for (Rank to = 0; to < chips(); ++to) search(to);
  for (const auto& [pair, edges] : graph_.routes) check_listed(pair.first, pair.second, edges);
  for (Rank from = 0; from < chips(); ++from) {
    for (Rank to = 0; to < chips(); ++to)
      if (from != to && next_[to * graph_.nodes() + from] == no_link &&
          !graph_.routes.contains({from, to}))
        throw std::invalid_argument("no way leads from \"" + graph_.name_of(from) + "\" to \"" +
                                    graph_.name_of(to) + '"' +
                                    (graph_.chips_forward ? "" : "; \"chips_forward\" is false"));
    widest_port_ = std::max(widest_port_, port(from));
  }
}

void RouteTable::number_links() {
  // A level for each level of the file and number of parallel links.
  std::map<std::pair<size_t, Rank>, std::vector<uint32_t>> alike;
  for (uint32_t i = 0; i < graph_.edges.size(); ++i)
    alike[{graph_.edges[i].level, graph_.edges[i].count}].push_back(i);
  link_of_edge_.resize(graph_.edges.size());
  for (const auto& [key, edges] : alike) {
    const GraphFabric::Level& of = graph_.levels[key.first];
    const Rank parallel = key.second;
    LinkLevel level;
    level.name = of.name + (parallel > 1 ? " x" + std::to_string(parallel) : "");
    level.first = static_cast<Link>(edge_of_.size());
    level.count = level.of_group = static_cast<Link>(edges.size());
    level.capacity = parallel * of.bandwidth.value * of.efficiency.value;
    level.latency = of.latency;
    for (const uint32_t index : edges) {
      const auto link = static_cast<Link>(edge_of_.size());
      edge_of_.push_back(index);
      level_of_.push_back(static_cast<uint32_t>(levels_.size()));
      link_of_edge_[index] = link;
      link_of_name_[graph_.edges[index].name] = link;
    }
    levels_.push_back(std::move(level));
  }
  out_.resize(graph_.nodes());
  in_.resize(graph_.nodes());
  for (uint32_t i = 0; i < graph_.edges.size(); ++i) {
    const GraphFabric::Edge& edge = graph_.edges[i];
    if (edge.from == GraphFabric::nowhere) continue;
    out_[edge.from].push_back(link_of_edge_[i]);
    in_[edge.to].push_back(link_of_edge_[i]);
  }
}

// The ways to one chip from all nodes, breadth first: those of one more link at a time.
void RouteTable::search(Rank to) {
  std::vector<Cost> costs(graph_.nodes());
  std::vector<uint64_t> ways(graph_.nodes(), 1);
  Link* next = &next_[to * graph_.nodes()];
  const auto forwards = [&](Node node) {
    return node == to || node >= chips() || graph_.chips_forward;
  };
  const auto over = [&](Link link) {
    const Cost& rest = costs[edge(link).to];
    return Cost{rest.links + 1, rest.picoseconds + std::round(level(link).latency * 1e12)};
  };
  const auto choose = [&](Node node) {
    std::vector<Link> equal;
    for (const Link link : out_[node]) {
      const Node after = edge(link).to;
      if (forwards(after) && costs[after].links < costs[node].links && over(link) == costs[node])
        equal.push_back(link);
    }
    const uint64_t further = ways[edge(equal.front()).to];
    next[node] = equal[to / further % equal.size()];
    ways[node] = std::min<uint64_t>(further * equal.size(), ~0U);
  };
  costs[to] = {0, 0};
  std::vector<Node> reached{to};
  while (!reached.empty()) {
    std::vector<Node> further;
    for (const Node node : reached) {
      if (node != to) choose(node);
      if (!forwards(node)) continue;
      for (const Link link : in_[node]) {
        const Cost through = over(link);
        Cost& before = costs[edge(link).from];
        if (through >= before) continue;
        if (through.links < before.links) further.push_back(edge(link).from);
        before = through;
      }
    }
    reached = std::move(further);
  }
}

void RouteTable::check_listed(Rank from, Rank to, const std::vector<uint32_t>& edges) const {
  const auto fail = [&](const std::string& what) {
    throw std::invalid_argument("the listed route from \"" + graph_.name_of(from) + "\" to \"" +
                                graph_.name_of(to) + "\" " + what);
  };
  Node here = from;
  for (const uint32_t index : edges) {
    const GraphFabric::Edge& link = graph_.edges[index];
    if (here != GraphFabric::nowhere && link.from != GraphFabric::nowhere && here != link.from)
      fail("is at \"" + graph_.name_of(here) + "\", where \"" + link.name + "\" does not begin");
    here = link.to;
  }
  if (here != GraphFabric::nowhere && here != to) fail("ends at \"" + graph_.name_of(here) + '"');
}

Seconds RouteTable::route(Rank from, Rank to, std::vector<Link>& route) const {
  route.clear();
  const auto listed = graph_.routes.empty() ? graph_.routes.end() : graph_.routes.find({from, to});
  if (listed != graph_.routes.end()) {
    for (const uint32_t index : listed->second) route.push_back(link_of_edge_[index]);
  } else {
    for (Node here = from; here != to; here = edge(route.back()).to)
      route.push_back(next_[to * graph_.nodes() + here]);
  }
  return std::accumulate(route.begin(), route.end(), 0.0,
                         [this](Seconds sum, Link link) { return sum + level(link).latency; });
}

BytesPerSecond RouteTable::port(Rank chip) const {
  std::set<Link> first;
  for (Rank to = 0; to < chips(); ++to)
    if (to != chip && !graph_.routes.contains({chip, to}))
      first.insert(next_[to * graph_.nodes() + chip]);
  for (auto listed = graph_.routes.lower_bound({chip, 0});
       listed != graph_.routes.end() && listed->first.first == chip; ++listed)
    first.insert(link_of_edge_[listed->second.front()]);
  return std::accumulate(first.begin(), first.end(), 0.0, [this](BytesPerSecond sum, Link link) {
    return sum + level(link).capacity;
  });
}

}  // namespace trnsim
