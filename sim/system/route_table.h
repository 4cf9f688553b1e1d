#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "system/graph_fabric.h"
#include "system/link.h"

namespace trnsim {

/// The links of a graph, numbered level by level, and the route between any two of its chips.
///
/// A route is the one that the file lists, or else the one of fewest links, then of least latency
/// (in whole picoseconds). Of k links that are equally good to go on with, in the order of the
/// file, it takes the one numbered (d / m) mod k, d being the receiver's rank and m the number of
/// ways in which the first of them goes on: D-mod-k routing, which spreads receivers evenly over
/// the spines of a fat tree (Zahavi, Fat-tree routing and node ordering, JPDC 72, 2012).
class RouteTable {
 public:
  /// Throws std::invalid_argument, which says what is wrong, if a pair of chips has no route or a
  /// listed route does not hang together.
  explicit RouteTable(GraphFabric graph);

  const GraphFabric& graph() const { return graph_; }
  Rank chips() const { return static_cast<Rank>(graph_.chips.size()); }
  /// The levels of the file; parallel links are a level of their own, "port x2".
  const std::vector<LinkLevel>& levels() const { return levels_; }
  const GraphFabric::Edge& edge(Link link) const { return graph_.edges[edge_of_[link]]; }
  /// The link of that name. Throws std::out_of_range if there is none.
  Link find(std::string_view name) const { return link_of_name_.at(std::string(name)); }
  /// As Network::route().
  Seconds route(Rank from, Rank to, std::vector<Link>& route) const;
  /// Bytes/s that this chip can send, over all links with which its routes begin.
  BytesPerSecond port(Rank chip) const;
  /// The most that any chip can send.
  BytesPerSecond widest_port() const { return widest_port_; }

 private:
  using Node = GraphFabric::Node;
  static constexpr Link no_link = ~0U;

  void number_links();
  void search(Rank to);
  void check_listed(Rank from, Rank to, const std::vector<uint32_t>& edges) const;
  const LinkLevel& level(Link link) const { return levels_[level_of_[link]]; }

  GraphFabric graph_;
  std::vector<LinkLevel> levels_;
  std::vector<uint32_t> level_of_;
  std::vector<uint32_t> edge_of_;
  std::vector<Link> link_of_edge_;
  std::unordered_map<std::string, Link> link_of_name_;  // for look-up alone
  std::vector<std::vector<Link>> out_;                  // of a node, in the order of the file
  std::vector<std::vector<Link>> in_;
  std::vector<Link> next_;  // from each node to each chip: [chip * nodes + node]
  BytesPerSecond widest_port_ = 0;
};

}  // namespace trnsim
