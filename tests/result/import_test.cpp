// ASTRA-sim's and SimAI's networks: routes, rates and latencies that follow from their own rules.

#include <gtest/gtest.h>

#include "errors.h"
#include "result/imported_fabric.h"
#include "system/graphs.h"

namespace trnsim {
namespace {

using Names = std::vector<std::string>;

System system_of(const ImportedFabric& imported) {
  const std::string json = system_json(imported, std::nullopt).dump();
  return read_system(JsonReader(Document::parse(json, "input", "", {})));
}

const std::string astra = R"(topology: [ Ring, FullyConnected, Switch ]
npus_count: [ 4, 2, 8 ]
bandwidth: [ 50, 100.5, 25 ]  # GB/s
latency: [ 500, 700, 2000 ]  # ns
)";

// ASTRA-sim multiplies GB/s by 2^30; a way through a switch has two of its links.
TEST(AstraNetwork, HasItsUnits) {
  const System system = system_of(import_astra(astra, "network.yml"));
  EXPECT_EQ(system.chips(), 64);
  ASSERT_EQ(system.scale_up.size(), 3);
  EXPECT_EQ(system.scale_up[0].kind, FabricDimension::Kind::ring);
  EXPECT_EQ(system.scale_up[1].kind, FabricDimension::Kind::mesh);
  EXPECT_EQ(system.scale_up[2].kind, FabricDimension::Kind::switched);
  const Network network(system);
  std::vector<Link> route;
  EXPECT_NEAR(network.route(0, 2, route), 2 * 500e-9, 1e-18);
  EXPECT_EQ(network.capacity(route.front()), 50.0 * (1 << 30));
  EXPECT_NEAR(network.route(0, 4, route), 700e-9, 1e-18);
  EXPECT_EQ(network.capacity(route.front()), 100.5 * (1 << 30));
  EXPECT_NEAR(network.route(0, 8, route), 2 * 2000e-9, 1e-18);
  EXPECT_EQ(network.capacity(route.front()), 25.0 * (1 << 30));
}

TEST(AstraNetwork, SaysWhatIsLeftOut) {
  EXPECT_EQ(import_astra(astra + "scheduling: FIFO\n", "network.yml").left_out,
            (Names{"the key \"scheduling\""}));
}

TEST(AstraNetwork, RefusesWhatItCannotRead) {
  const auto error = [](const std::string& from, const std::string& to) {
    std::string text = astra;
    text.replace(text.find(from), from.size(), to);
    return test::error_of([&] { system_of(import_astra(text, "network.yml")); });
  };
  EXPECT_EQ(
      error("FullyConnected", "FullConnected"),
      "network.yml: line 1: topology: \"FullConnected\" must be \"Ring\", \"FullyConnected\" or "
      "\"Switch\"; did you mean \"FullyConnected\"?");
  EXPECT_EQ(error("4, 2, 8", "4, 2"),
            "network.yml: line 2: npus_count: has 2 values; the dimensions are 3");
  EXPECT_EQ(error("50,", "fast,"), "network.yml: line 3: bandwidth: must be numbers");
  EXPECT_EQ(error("50,", "0,"), "network.yml: line 1: bandwidth: must be above 0, in GB/s");
  EXPECT_EQ(error("latency", "delay"), "network.yml: line 1: latency: is missing");
  EXPECT_EQ(error("latency: [", "latency: [["),
            "network.yml: line 5: end of sequence flow not found");
}

// Two servers of two GPUs on an NVSwitch each; GPU i of both on leaf i; two spines join the leaves.
const std::string simai = R"(10 2 2 4 12 A100
4 5 6 7 8 9
0 4 2400Gbps 0.000025ms 0
1 4 2400Gbps 0.000025ms 0
2 5 2400Gbps 0.000025ms 0
3 5 2400Gbps 0.000025ms 0
0 6 100Gbps 0.0005ms 0
1 7 100Gbps 0.0005ms 0
2 6 100Gbps 0.0005ms 0
3 7 100Gbps 0.0005ms 0
6 8 400Gbps 0.0005ms 0
6 9 400Gbps 0.0005ms 0
7 8 400Gbps 0.0005ms 0
7 9 400Gbps 0.0005ms 0
)";

TEST(SimaiTopology, HasItsRoutes) {
  const Network network(system_of(import_simai(simai, "topology")));
  EXPECT_EQ(network.chips(), 4);
  std::vector<Link> route;
  EXPECT_NEAR(network.route(0, 1, route), 2 * 25e-9, 1e-18);
  EXPECT_EQ(network.capacity(route.front()), 300e9);
  EXPECT_NEAR(network.route(0, 2, route), 2 * 500e-9, 1e-18);
  EXPECT_EQ(network.capacity(route.front()), 12.5e9);
  // Between rails over a spine, not through the GPU that is on both ways.
  EXPECT_EQ(network.route(0, 3, route), 4 * 500e-9);
  EXPECT_EQ(network.name(route[1]), "switch 6 to switch 9, 50 GB/s, 500 ns");
}

TEST(SimaiTopology, RefusesWhatItCannotRead) {
  const auto error = [](const std::string& from, const std::string& to) {
    std::string text = simai;
    text.replace(text.find(from), from.size(), to);
    return test::error_of([&] { system_of(import_simai(text, "topology")); });
  };
  EXPECT_EQ(
      error("10 2 2 4 12 A100", "10 2 2 4 12"),
      "topology: line 1: must be: nodes, GPUs of a server, NVSwitches, other switches, links, "
      "GPU type");
  EXPECT_EQ(error("4 5 6 7 8 9", "4 5 6 7 8"),
            "topology: line 2: must list the 6 numbers of the switches, and has 5");
  EXPECT_EQ(error("4 5 6 7 8 9", "4 5 6 7 8 8"), "topology: line 2: node 8 is listed twice");
  EXPECT_EQ(error("0 4 2400Gbps", "0 40 2400Gbps"),
            "topology: line 3: \"40\" must be a whole number from 0 to 9");
  EXPECT_EQ(error("2400Gbps", "2400"),
            "topology: line 3: \"2400\": has no unit; write for example \"128 GB/s\"");
  EXPECT_EQ(error("7 9 400Gbps 0.0005ms 0\n", ""),
            "topology: line 13: the file has 11 links; its first line says 12");
}

}  // namespace
}  // namespace trnsim
