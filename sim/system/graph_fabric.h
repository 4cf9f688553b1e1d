#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json_reader.h"
#include "system/link.h"

namespace trnsim {

/// The network of a whole system as its file lists it: chips and switches, and the links that join
/// them.
struct GraphFabric {
  /// Chips are 0 to chips.size() - 1, which are their ranks; switches follow.
  using Node = Rank;
  static constexpr Node nowhere = ~0U;

  struct Level {
    std::string name;
    Number bandwidth;   // bytes/s of one link, each direction
    Number efficiency;  // part of it that payload reaches
    Number latency;     // seconds that a message takes for crossing one link
  };
  /// One direction of `count` parallel links, which carry what all of them can together. Without
  /// ends it is on listed routes only.
  struct Edge {
    std::string name;
    size_t level = 0;
    Rank count = 1;
    Node from = nowhere;
    Node to = nowhere;
  };

  std::string name;
  std::vector<std::string> chips;
  std::vector<std::string> switches;
  std::vector<Level> levels;
  std::vector<Edge> edges;  // in the order of the file, which decides between equals
  /// Indices into `edges`, for the pairs of chips whose routes are listed.
  std::map<std::pair<Rank, Rank>, std::vector<uint32_t>> routes;
  bool chips_forward = true;  // whether routes may lead through chips

  size_t nodes() const { return chips.size() + switches.size(); }
  const std::string& name_of(Node node) const {
    return node < chips.size() ? chips[node] : switches[node - chips.size()];
  }
};

/// Reads the object "graph" of a system. `numbers` receives its sourced numbers. Throws InputError.
GraphFabric read_graph(JsonReader json, std::vector<Number>& numbers);

}  // namespace trnsim
