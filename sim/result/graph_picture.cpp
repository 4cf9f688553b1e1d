#include "result/graph_picture.h"

#include <algorithm>
#include <map>
#include <set>

namespace trnsim {
namespace {

using Node = GraphFabric::Node;

constexpr double column = 0.95;
constexpr double row = 0.95;
constexpr size_t most_chips = 64;
constexpr size_t most_nodes = 256;

const std::string& colour(size_t level) {
  static const std::vector<std::string> colours{"#1b6ca8", "#c2571a", "#2e8b57", "#8e44ad",
                                                "#7f6000"};
  return colours[level % colours.size()];
}

std::string number(double value) { return format_number(value, 6); }

// Chips and switches that are drawn, in rows from the chips on.
class Rows {
 public:
  explicit Rows(const GraphFabric& graph) : graph_(graph), joined_(graph.nodes()) {
    for (const GraphFabric::Edge& edge : graph.edges) {
      if (edge.from == GraphFabric::nowhere) continue;
      joined_[edge.from].insert(edge.to);
      joined_[edge.to].insert(edge.from);
    }
    std::vector<Node> chips;
    for (Node chip = 0; chip < std::min(graph.chips.size(), most_chips); ++chip)
      chips.push_back(chip);
    add(chips);
    while (!rows_.back().empty()) add(row_above());
    rows_.pop_back();
    for (size_t i = 0; i < rows_.size(); ++i) place(i);
  }

  size_t count() const { return rows_.size(); }
  const std::map<Node, Place>& places() const { return places_; }

 private:
  void add(const std::vector<Node>& nodes) {
    drawn_.insert(nodes.begin(), nodes.end());
    rows_.push_back(nodes);
  }

  std::vector<Node> row_above() const {
    std::set<Node> above;
    for (const Node below : rows_.back())
      for (const Node node : joined_[below])
        if (node >= graph_.chips.size() && !drawn_.contains(node) &&
            drawn_.size() + above.size() < most_nodes)
          above.insert(node);
    return {above.begin(), above.end()};
  }

  // Where the node's neighbours in the row below are, on average.
  double middle(Node node, size_t row_of) const {
    double sum = 0;
    double count = 0;
    for (const Node below : rows_[row_of - 1])
      if (joined_[node].contains(below)) {
        sum += places_.at(below).x;
        ++count;
      }
    return sum / count;
  }

  void place(size_t i) {
    std::vector<std::pair<double, Node>> wished;
    for (const Node node : rows_[i])
      wished.emplace_back(i == 0 ? node * column : middle(node, i), node);
    std::sort(wished.begin(), wished.end());
    // As near to that as the distance from one to the next allows, and all of them centred.
    double shift = 0;
    std::vector<double> at;
    for (const auto& [wish, node] : wished) {
      at.push_back(at.empty() ? wish : std::max(wish, at.back() + column));
      shift += (at.back() - wish) / static_cast<double>(wished.size());
    }
    for (size_t k = 0; k < at.size(); ++k)
      places_[wished[k].second] = {at[k] - shift, static_cast<double>(i) * row};
  }

  const GraphFabric& graph_;
  std::vector<std::set<Node>> joined_;
  std::vector<std::vector<Node>> rows_;
  std::set<Node> drawn_;
  std::map<Node, Place> places_;
};

}  // namespace

void draw_graph(Picture& picture, const GraphFabric& graph) {
  const Rows rows(graph);
  const auto& places = rows.places();
  for (const auto& [node, place] : places)
    picture.node(graph.name_of(node), place,
                 node < graph.chips.size()
                     ? "shape=box height=0.24 width=0.8 fixedsize=true style=filled fillcolor=white"
                     : "shape=ellipse height=0.3 width=0.85 fixedsize=true style=filled "
                       "fillcolor=\"#eeeeee\"");
  std::set<std::pair<Node, Node>> drawn;
  for (const GraphFabric::Edge& edge : graph.edges) {
    if (!places.contains(edge.from) || !places.contains(edge.to)) continue;
    if (!drawn.insert(std::minmax(edge.from, edge.to)).second) continue;
    picture.edge(
        graph.name_of(edge.from), graph.name_of(edge.to),
        "color=" + quoted(colour(edge.level)) + " penwidth=" + number(edge.count > 1 ? 2.4 : 1.2));
  }
  double y = static_cast<double>(rows.count() - 1) * row + 2 * line_of_text;
  for (size_t i = graph.levels.size(); i-- > 0; y += line_of_text) {
    const GraphFabric::Level& level = graph.levels[i];
    picture.caption(
        level.name + ": " + format_quantity(level.bandwidth, Unit::bytes_per_second, 4) +
            " a link, payload " +
            format_quantity(level.bandwidth * level.efficiency, Unit::bytes_per_second, 4) + ", " +
            format_quantity(level.latency, Unit::seconds, 4) + " a hop",
        {0, y}, colour(i));
  }
  const bool all = places.size() == graph.nodes();
  picture.caption(
      graph.name + ": " + std::to_string(graph.chips.size()) + " chips, " +
          std::to_string(graph.switches.size()) + " switches" +
          (all ? "" : "; " + std::to_string(places.size()) + " of these nodes are drawn") +
          "; a thick line is parallel links",
      {0, y}, "black");
}

}  // namespace trnsim
