#include "system/graph_fabric.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace trnsim {
namespace {

using Node = GraphFabric::Node;

constexpr uint64_t most_chips = 4096;
constexpr uint64_t most_entries = 20'000'000;  // chips x nodes of the table of routes
constexpr uint64_t most_steps =
    100'000'000;  // chips x links: what the search of all routes looks at
constexpr uint64_t most_links = 1'000'000;
constexpr uint64_t most_listed = 5'000'000;  // links of all listed routes
constexpr double slowest_link = 1e3;         // bytes/s; below it SimGrid's absolute precision shows
constexpr double fastest_link = 1e18;

std::string shown(uint64_t number) { return std::to_string(number); }

class GraphReader {
 public:
  GraphReader(JsonReader json, std::vector<Number>& numbers)
      : json_(std::move(json)), numbers_(numbers) {}

  GraphFabric read() {
    made_.name = json_.at("name").as_string();
    if (auto forward = json_.find("chips_forward")) made_.chips_forward = forward->as_bool();
    read_nodes();
    read_levels();
    JsonReader links = json_.at("links");
    for (JsonReader& link : links.items()) read_link(link);
    const uint64_t steps = made_.chips.size() * made_.edges.size();
    if (steps > most_steps)
      links.fail("chips x links are " + shown(steps) + "; a table of routes is made of at most " +
                 shown(most_steps));
    if (auto routes = json_.find("routes"))
      for (JsonReader& route : routes->items()) read_route(route);
    json_.reject_unknown_keys();
    return std::move(made_);
  }

 private:
  void add_node(const JsonReader& json, const std::string& name, std::vector<std::string>& to) {
    if (name.empty()) json.fail("a node needs a name");
    if (!nodes_.emplace(name, static_cast<Node>(nodes_.size())).second)
      json.fail('"' + name + "\" names two nodes");
    to.push_back(name);
  }

  void read_nodes() {
    JsonReader chips = json_.at("chips");
    if (chips.is_array()) {
      const std::vector<JsonReader> names = chips.items();
      if (names.empty()) chips.fail("names no chip");
      if (names.size() > most_chips)
        chips.fail(shown(names.size()) + " chips; a graph has at most " + shown(most_chips) +
                   ", \"scale_up\" and \"scale_out\" describe more");
      for (const JsonReader& chip : names) add_node(chip, chip.as_string(), made_.chips);
    } else {
      const int64_t count = chips.as_integer(1, most_chips);
      for (int64_t i = 0; i < count; ++i) add_node(chips, "chip " + std::to_string(i), made_.chips);
    }
    if (auto switches = json_.find("switches")) {
      for (const JsonReader& of : switches->items()) add_node(of, of.as_string(), made_.switches);
      const uint64_t entries = made_.chips.size() * made_.nodes();
      if (entries > most_entries)
        switches->fail("chips x nodes are " + shown(entries) + "; a table of routes has at most " +
                       shown(most_entries));
    }
  }

  void read_levels() {
    JsonReader levels = json_.at("levels");
    for (JsonReader& json : levels.items()) {
      GraphFabric::Level level;
      JsonReader name = json.at("name");
      level.name = name.as_string();
      if (!level_.emplace(level.name, made_.levels.size()).second)
        name.fail('"' + level.name + "\" names two levels");
      level.bandwidth =
          json.at("bandwidth")
              .as_number(Unit::bytes_per_second, &numbers_, slowest_link, fastest_link);
      level.efficiency = json.at("efficiency").as_number(Unit::ratio, &numbers_, 1e-3, 1.0);
      level.latency = json.at("latency").as_number(Unit::seconds, &numbers_, 0.0, 3600.0);
      json.reject_unknown_keys();
      made_.levels.push_back(std::move(level));
    }
    if (made_.levels.empty()) levels.fail("names no level");
  }

  size_t level(const JsonReader& json) const {
    const std::string name = json.as_string();
    const auto found = level_.find(name);
    if (found != level_.end()) return found->second;
    std::vector<std::string> known;
    for (const GraphFabric::Level& of : made_.levels) known.push_back(of.name);
    json.fail(json.shown() + " is no level" + did_you_mean(name, known));
  }

  Node node(const JsonReader& json) const {
    const std::string name = json.as_string();
    const auto found = nodes_.find(name);
    if (found != nodes_.end()) return found->second;
    std::vector<std::string> known = made_.chips;
    known.insert(known.end(), made_.switches.begin(), made_.switches.end());
    json.fail(json.shown() + " is neither a chip nor a switch" + did_you_mean(name, known));
  }

  // One name, or a list of them.
  std::vector<Node> ends(const JsonReader& json) const {
    if (!json.is_array()) return {node(json)};
    std::vector<Node> nodes;
    for (const JsonReader& item : json.items()) nodes.push_back(node(item));
    if (nodes.empty()) json.fail("names no node");
    return nodes;
  }

  void count_link(const JsonReader& json) {
    if (++links_ > most_links) json.fail("more than " + shown(most_links) + " links");
  }

  void add(const JsonReader& json, GraphFabric::Edge edge) {
    if (!edge_.emplace(edge.name, static_cast<uint32_t>(made_.edges.size())).second)
      json.fail('"' + edge.name + "\" names two links; a \"name\" tells them apart");
    made_.edges.push_back(std::move(edge));
  }

  // Links of one level between the same nodes are parallel; only a name keeps one by itself.
  void join(const JsonReader& json, GraphFabric::Edge edge) {
    const auto key = std::tuple{edge.from, edge.to, edge.level};
    const auto found = parallel_.find(key);
    if (found == parallel_.end()) {
      edge.name = made_.name_of(edge.from) + " to " + made_.name_of(edge.to) + ", " +
                  made_.levels[edge.level].name;
      parallel_[key] = static_cast<uint32_t>(made_.edges.size());
      return add(json, std::move(edge));
    }
    Rank& count = made_.edges[found->second].count;
    if (count + edge.count > most_parallel)
      json.fail("makes more than " + shown(most_parallel) + " parallel links");
    count += edge.count;
  }

  void read_link(JsonReader& json) {
    GraphFabric::Edge edge;
    edge.level = level(json.at("level"));
    if (auto count = json.find("count"))
      edge.count = static_cast<Rank>(count->as_integer(1, most_parallel));
    auto name = json.find("name");
    auto from = json.find("from");
    if (name && !from) {
      edge.name = name->as_string();
      count_link(json);
      add(*name, std::move(edge));
      return json.reject_unknown_keys();
    }
    const std::vector<Node> tails = ends(json.at("from"));
    const std::vector<Node> heads = ends(json.at("to"));
    bool both = true;
    if (auto direction = json.find("direction"))
      both = direction->as_one_of({"both", "one"}) == "both";
    if (name && (both || tails.size() > 1 || heads.size() > 1))
      name->fail("a name is for one direction of one link; write \"direction\": \"one\"");
    json.reject_unknown_keys();
    for (const Node tail : tails)
      for (const Node head : heads) {
        if (tail == head) json.fail('"' + made_.name_of(tail) + "\" is joined to itself");
        count_link(json);
        edge.from = tail;
        edge.to = head;
        if (name) edge.name = name->as_string();
        name ? add(*name, edge) : join(json, edge);
        std::swap(edge.from, edge.to);
        if (both) join(json, edge);
      }
  }

  Rank chip(const JsonReader& json) const {
    const Node found = node(json);
    if (found >= made_.chips.size()) json.fail(json.shown() + " is a switch; routes join chips");
    return found;
  }

  void read_route(JsonReader& json) {
    const Rank from = chip(json.at("from"));
    JsonReader to = json.at("to");
    const Rank end = chip(to);
    if (from == end) to.fail(to.shown() + " is where the route begins");
    JsonReader links = json.at("links");
    std::vector<uint32_t> edges;
    for (const JsonReader& name : links.items()) {
      const auto found = edge_.find(name.as_string());
      if (found == edge_.end())
        name.fail(name.shown() + " is no link" +
                  (made_.edges.empty()
                       ? ""
                       : "; a link is named for example \"" + made_.edges.front().name + '"'));
      edges.push_back(found->second);
    }
    if (edges.empty()) links.fail("names no link");
    listed_ += edges.size();
    if (listed_ > most_listed)
      links.fail("all routes together list more than " + shown(most_listed) + " links");
    if (!made_.routes.emplace(std::pair{from, end}, std::move(edges)).second)
      json.fail("is the second route from \"" + made_.name_of(from) + "\" to \"" +
                made_.name_of(end) + '"');
    json.reject_unknown_keys();
  }

  static constexpr Rank most_parallel = 1024;

  JsonReader json_;
  std::vector<Number>& numbers_;
  GraphFabric made_;
  // For look-up alone.
  std::unordered_map<std::string, Node> nodes_;
  std::unordered_map<std::string, size_t> level_;
  std::unordered_map<std::string, uint32_t> edge_;
  std::map<std::tuple<Node, Node, size_t>, uint32_t> parallel_;
  uint64_t links_ = 0;
  uint64_t listed_ = 0;
};

}  // namespace

GraphFabric read_graph(JsonReader json, std::vector<Number>& numbers) {
  return GraphReader(std::move(json), numbers).read();
}

}  // namespace trnsim
