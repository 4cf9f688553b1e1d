// Routes of explicit graphs against an all-pairs search of another kind, the stated rule for ties,
// listed routes, and what is refused.

#include "system/route_table.h"

#include <gtest/gtest.h>

#include <random>

#include "errors.h"
#include "system/graphs.h"

namespace trnsim {
namespace {

using Names = std::vector<std::string>;
using test::graph_level;
using test::graph_system;
using test::route_names;

const std::string levels = "\"levels\": [" + graph_level("port", "10 GB/s", "1 us") + "], ";

// Two leaves of four chips, two spines.
const std::string fat_tree =
    R"("chips": 8, "switches": ["leaf a", "leaf b", "spine 0", "spine 1"], )" + levels +
    R"("links": [
  {"level": "port", "from": ["chip 0", "chip 1", "chip 2", "chip 3"], "to": "leaf a"},
  {"level": "port", "from": ["chip 4", "chip 5", "chip 6", "chip 7"], "to": "leaf b"},
  {"level": "port", "from": ["leaf a", "leaf b"], "to": ["spine 0", "spine 1"]}])";

TEST(Graph, SpreadsReceiversOverSpines) {
  const Network network(graph_system(fat_tree));
  EXPECT_EQ(network.links(), 2 * (8 + 4));
  EXPECT_EQ(route_names(network, 0, 1),
            (Names{"chip 0 to leaf a, port", "leaf a to chip 1, port"}));
  for (Rank to = 4; to < 8; ++to) {
    const std::string spine = "spine " + std::to_string(to % 2);
    for (Rank from = 0; from < 4; ++from)
      EXPECT_EQ(route_names(network, from, to),
                (Names{"chip " + std::to_string(from) + " to leaf a, port",
                       "leaf a to " + spine + ", port", spine + " to leaf b, port",
                       "leaf b to chip " + std::to_string(to) + ", port"}));
  }
}

TEST(Graph, FindsEachLinkByItsName) {
  Network network(graph_system(fat_tree));
  for (Link link = 0; link < network.links(); ++link)
    EXPECT_EQ(network.find(network.name(link)).link, link);
  EXPECT_THROW(network.find("chip 0 to leaf b, port"), std::out_of_range);
  const Cable cable = network.find("leaf a to spine 1, port");
  network.scale(cable, 0.5);
  EXPECT_EQ(network.capacity(cable.link), 5e9);
}

// Of equally many links the way of less latency, whatever the order of the file.
TEST(Graph, TakesTheFasterOfTwoFabrics) {
  const Network network(graph_system(R"("chips": 2, "switches": ["host", "fast"], "levels": [)" +
                                     graph_level("host link", "1 GB/s", "5 us") + ',' +
                                     graph_level("port", "10 GB/s", "1 us") + R"(], "links": [
      {"level": "host link", "from": ["chip 0", "chip 1"], "to": "host"},
      {"level": "port", "from": ["chip 0", "chip 1"], "to": "fast"}])"));
  EXPECT_EQ(route_names(network, 0, 1), (Names{"chip 0 to fast, port", "fast to chip 1, port"}));
  std::vector<Link> links;
  EXPECT_DOUBLE_EQ(network.route(1, 0, links), 2e-6);
}

TEST(Graph, AddsParallelLinksUp) {
  const Network network(graph_system(R"("chips": 2, )" + levels + R"("links": [
      {"level": "port", "from": "chip 0", "to": "chip 1", "count": 2},
      {"level": "port", "from": "chip 1", "to": "chip 0", "direction": "one"}])"));
  EXPECT_EQ(network.links(), 2);
  EXPECT_EQ(network.capacity(network.find("chip 0 to chip 1, port").link), 20e9);
  EXPECT_EQ(network.capacity(network.find("chip 1 to chip 0, port").link), 30e9);
  EXPECT_EQ(network.levels().size(), 2);
  EXPECT_EQ(network.levels()[1].name, "port x3");
}

TEST(Graph, ForwardsThroughChipsUnlessToldNotTo) {
  const std::string line = R"("chips": 3, )" + levels + R"("links": [
      {"level": "port", "from": "chip 1", "to": ["chip 0", "chip 2"]}])";
  EXPECT_EQ(route_names(Network(graph_system(line)), 0, 2),
            (Names{"chip 0 to chip 1, port", "chip 1 to chip 2, port"}));
  EXPECT_EQ(test::error_of([&] { graph_system(line + R"(, "chips_forward": false)"); }),
            "graph.json: graph: no way leads from \"chip 0\" to \"chip 2\"; \"chips_forward\" is "
            "false");
}

TEST(Graph, TakesListedRoutes) {
  const Network network(graph_system(R"("chips": 3, )" + levels + R"("links": [
      {"level": "port", "from": "chip 0", "to": ["chip 1", "chip 2"]},
      {"level": "port", "from": "chip 1", "to": "chip 2"},
      {"level": "port", "name": "detour"}],
      "routes": [{"from": "chip 0", "to": "chip 2",
                  "links": ["chip 0 to chip 1, port", "chip 1 to chip 2, port"]},
                 {"from": "chip 2", "to": "chip 0", "links": ["detour"]}])"));
  EXPECT_EQ(route_names(network, 0, 2),
            (Names{"chip 0 to chip 1, port", "chip 1 to chip 2, port"}));
  EXPECT_EQ(route_names(network, 2, 0), (Names{"detour"}));
  EXPECT_EQ(route_names(network, 0, 1), (Names{"chip 0 to chip 1, port"}));
}

// Hops and latency of all pairs by Floyd and Warshall's recursion (Floyd, CACM 5, 1962), over the
// same random graphs; and each route is a chain of links from one chip to the other.
TEST(Graph, FindsShortestWaysInRandomGraphs) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 40; ++trial) {
    const Rank chips = 2 + random() % 6;
    const Rank nodes = chips + random() % 6;
    const auto name = [&](Rank node) {
      return node < chips ? "chip " + std::to_string(node) : "s" + std::to_string(node);
    };
    struct Distance {
      uint32_t links = 1000;
      int nanoseconds = 0;
      auto operator<=>(const Distance&) const = default;
    };
    std::vector<std::vector<Distance>> best(nodes, std::vector<Distance>(nodes));
    std::string links;
    const auto join = [&](Rank one, Rank other) {
      const int slow = static_cast<int>(random() % 2);
      links += std::string(links.empty() ? "" : ",") + R"({"level": ")" + (slow ? "slow" : "fast") +
               R"(", "from": ")" + name(one) + R"(", "to": ")" + name(other) + "\"}";
      const Distance through{1, slow ? 700 : 300};
      best[one][other] = std::min(best[one][other], through);
      best[other][one] = std::min(best[other][one], through);
    };
    for (Rank node = 1; node < nodes; ++node) join(node, random() % node);
    for (Rank more = random() % 12; more > 0; --more) {
      const Rank one = random() % nodes;
      const Rank other = random() % nodes;
      if (one != other) join(one, other);
    }
    for (Rank over = 0; over < nodes; ++over)
      for (Rank from = 0; from < nodes; ++from)
        for (Rank to = 0; to < nodes; ++to) {
          const Distance& a = best[from][over];
          const Distance& b = best[over][to];
          best[from][to] =
              std::min(best[from][to], {a.links + b.links, a.nanoseconds + b.nanoseconds});
        }
    std::string switches;
    for (Rank node = chips; node < nodes; ++node)
      switches += (switches.empty() ? "\"" : ", \"") + name(node) + '"';
    const System system =
        graph_system("\"chips\": " + std::to_string(chips) + ", \"switches\": [" + switches +
                     "], \"levels\": [" + graph_level("fast", "10 GB/s", "300 ns") + ',' +
                     graph_level("slow", "10 GB/s", "700 ns") + "], \"links\": [" + links + ']');
    const Network network(system);
    std::vector<Link> route;
    for (Rank from = 0; from < chips; ++from)
      for (Rank to = 0; to < chips; ++to) {
        if (from == to) continue;
        const Seconds latency = network.route(from, to, route);
        EXPECT_EQ(route.size(), best[from][to].links);
        EXPECT_NEAR(latency, best[from][to].nanoseconds * 1e-9, 1e-18);
        Rank here = from;
        for (const Link link : route) {
          EXPECT_EQ(system.graph->edge(link).from, here);
          here = system.graph->edge(link).to;
        }
        EXPECT_EQ(here, to);
      }
  }
}

TEST(Graph, RefusesRoutesThatDoNotHangTogether) {
  const auto error = [](const std::string& links) {
    return test::error_of([&] {
      graph_system(R"("chips": 3, )" + levels +
                   R"("links": [{"level": "port", "from": "chip 1", "to": ["chip 0", "chip 2"]}],
                      "routes": [{"from": "chip 0", "to": "chip 2", "links": )" +
                   links + "}]");
    });
  };
  const std::string place = "graph.json: graph: the listed route from \"chip 0\" to \"chip 2\" ";
  EXPECT_EQ(error(R"(["chip 1 to chip 2, port"])"),
            place + "is at \"chip 0\", where \"chip 1 to chip 2, port\" does not begin");
  EXPECT_EQ(error(R"(["chip 0 to chip 1, port"])"), place + "ends at \"chip 1\"");
  EXPECT_EQ(error("[]"), "graph.json: graph.routes.0.links: names no link");
}

TEST(Graph, IsRefusedIfItsTableIsTooLarge) {
  std::string switches;
  for (int i = 0; i < 1000; ++i) switches += (i == 0 ? "\"s" : ", \"s") + std::to_string(i) + '"';
  EXPECT_EQ(test::error_of([&] {
              graph_system(R"("chips": 4096, "switches": [)" + switches + "], " + levels +
                           "\"links\": []");
            }),
            "graph.json: graph.switches: chips x nodes are 20873216; a table of routes has at most "
            "20000000");
}

}  // namespace
}  // namespace trnsim
