// Imported SimGrid platforms against what was exported, and against SimGrid's own reading.

#include <gtest/gtest.h>

#include <set>
#include <simgrid/s4u.hpp>
#include <sstream>

#include "errors.h"
#include "result/imported_fabric.h"
#include "result/simgrid_platform.h"
#include "system/graphs.h"
#include "temporary_folder.h"

namespace trnsim {
namespace {

namespace s4u = simgrid::s4u;
using Names = std::vector<std::string>;

System imported(const std::string& text) {
  const std::string json = system_json(import_simgrid(text, "platform.xml"), std::nullopt).dump();
  return read_system(JsonReader(Document::parse(json, "platform.xml", "", {})));
}

std::string exported(const System& system) {
  std::ostringstream text;
  write_simgrid_platform(text, system, Network(system));
  return text.str();
}

void expect_the_same(const System& system, const System& other) {
  const Network one(system);
  const Network two(other);
  ASSERT_EQ(one.chips(), two.chips());
  std::vector<Link> ours;
  std::vector<Link> theirs;
  for (Rank from = 0; from < one.chips(); ++from)
    for (Rank to = 0; to < one.chips(); ++to) {
      if (from == to) continue;
      EXPECT_NEAR(two.route(from, to, theirs), one.route(from, to, ours), 1e-18);
      ASSERT_EQ(test::route_names(two, from, to), test::route_names(one, from, to));
      for (size_t i = 0; i < ours.size(); ++i)
        ASSERT_EQ(two.capacity(theirs[i]), one.capacity(ours[i])) << one.name(ours[i]);
    }
}

class ExportedAndImported : public testing::TestWithParam<std::pair<const char*, Rank>> {};

TEST_P(ExportedAndImported, IsTheSame) {
  const System system = test::load_system(GetParam().first, GetParam().second);
  expect_the_same(system, imported(exported(system)));
}

INSTANTIATE_TEST_SUITE_P(Systems, ExportedAndImported,
                         testing::Values(std::pair{"trn3-gen2-ultraserver.json", 1U},
                                         std::pair{"trn2-ultraserver.json", 1U},
                                         std::pair{"trn2.json", 3U}, std::pair{"trn1.json", 9U},
                                         std::pair{"dgx-h100.json", 4U},
                                         std::pair{"mi300x-roce.json", 20U}));

TEST(ExportedAndImported, IsTheSameGraph) {
  const System system =
      test::graph_system(R"("chips": 5, "switches": ["a", "b"], "levels": [)" +
                         test::graph_level("port", "10 GB/s", "0.5 us") + ',' +
                         test::graph_level("uplink", "4 GB/s", "3 us") + R"(], "links": [
      {"level": "port", "from": ["chip 0", "chip 1"], "to": "a"},
      {"level": "port", "from": ["chip 2", "chip 3", "chip 4"], "to": "b"},
      {"level": "uplink", "from": "a", "to": "b", "count": 2}])");
  expect_the_same(system, imported(exported(system)));
}

// Routes as SimGrid has them of what is written by hand: zones in zones with gateways, links that
// are split by direction, ways that a zone finds itself.
const std::string zones = R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Floyd">
    <zone id="left" routing="Dijkstra">
      <host id="l0" speed="1Gf"/><host id="l1" speed="1Gf"/><host id="l2" speed="1Gf"/>
      <router id="l"/>
      <link id="l01" bandwidth="10GBps" latency="1us"/>
      <link id="l12" bandwidth="10GBps" latency="2us" sharing_policy="SPLITDUPLEX"/>
      <link id="out" bandwidth="80Gbps" latency="500ns" sharing_policy="SPLITDUPLEX"/>
      <route src="l0" dst="l1"><link_ctn id="l01"/></route>
      <route src="l1" dst="l2"><link_ctn id="l12" direction="UP"/></route>
      <route src="l2" dst="l"><link_ctn id="out" direction="UP"/></route>
    </zone>
    <zone id="middle" routing="Full">
      <router id="m0"/><router id="m1"/><host id="m" speed="1Gf"/>
      <link id="across" bandwidth="1GBps" latency="7us"/>
      <link id="own" bandwidth="1GiBps" latency="1us"/>
      <route src="m0" dst="m1"><link_ctn id="across"/></route>
      <route src="m" dst="m0"><link_ctn id="own"/></route>
      <route src="m" dst="m1"><link_ctn id="own"/><link_ctn id="across"/></route>
    </zone>
    <zone id="right" routing="Full">
      <host id="r0" speed="1Gf"/><host id="r1" speed="1Gf"/><router id="r"/>
      <link id="r0r" bandwidth="2GBps" latency="1us"/>
      <link id="r1r" bandwidth="2GBps" latency="1us"/>
      <route src="r0" dst="r"><link_ctn id="r0r"/></route>
      <route src="r1" dst="r"><link_ctn id="r1r"/></route>
      <route src="r0" dst="r1"><link_ctn id="r0r"/><link_ctn id="r1r"/></route>
    </zone>
    <link id="lm" bandwidth="5GBps" latency="3us" sharing_policy="SPLITDUPLEX"/>
    <link id="mr" bandwidth="5GBps" latency="4us"/>
    <zoneRoute src="left" dst="middle" gw_src="l" gw_dst="m0"><link_ctn id="lm" direction="UP"/></zoneRoute>
    <zoneRoute src="middle" dst="right" gw_src="m1" gw_dst="r"><link_ctn id="mr"/></zoneRoute>
  </zone>
</platform>
)";

TEST(ImportedPlatform, HasTheRoutesOfSimgrid) {
  const Network network(imported(zones));
  const test::TemporaryFolder folder;
  s4u::Engine engine("test");
  engine.load_platform(folder.write("platform.xml", zones));
  engine.seal_platform();
  const Names hosts{"l0", "l1", "l2", "m", "r0", "r1"};
  ASSERT_EQ(network.chips(), hosts.size());
  std::vector<Link> ours;
  for (Rank from = 0; from < hosts.size(); ++from)
    for (Rank to = 0; to < hosts.size(); ++to) {
      if (from == to) continue;
      std::vector<s4u::Link*> theirs;
      double latency = 0;
      s4u::Host::by_name(hosts[from])->route_to(s4u::Host::by_name(hosts[to]), theirs, &latency);
      // Through several zones SimGrid does not keep the order, which changes nothing for a flow.
      std::multiset<std::pair<std::string, double>> expected;
      for (const s4u::Link* link : theirs)
        expected.emplace(link->get_name(), link->get_bandwidth());
      EXPECT_NEAR(network.route(from, to, ours), latency, 1e-15);
      std::multiset<std::pair<std::string, double>> read;
      for (const Link link : ours) read.emplace(network.name(link), network.capacity(link));
      EXPECT_EQ(read, expected) << hosts[from] << " to " << hosts[to];
    }
}

TEST(ImportedPlatform, SaysWhatIsLeftOut) {
  std::string text = zones;
  text.insert(text.find("  <zone id=\"all\""),
              "  <config><prop id=\"network/model\" value=\"CM02\"/></config>\n");
  text.replace(text.find("<host id=\"m\""), 12, "<host core=\"4\" id=\"m\"");
  EXPECT_EQ(
      import_simgrid(text, "platform.xml").left_out,
      (Names{"\"core\" of hosts",
             "factors of SimGrid's network models: links are taken as they are written",
             "how SimGrid chooses among equally short ways (routing Floyd, Dijkstra): the way "
             "over points that come first is taken (2 times)",
             "setting network/model = CM02"}));
}

TEST(ImportedPlatform, RefusesWhatItCannotRead) {
  const auto error = [](const std::string& from, const std::string& to) {
    std::string text = zones;
    text.replace(text.find(from), from.size(), to);
    return test::error_of([&] { imported(text); });
  };
  EXPECT_EQ(
      error("<router id=\"l\"/>", "<cluster id=\"l\"/>"),
      "platform.xml: line 7: <cluster> is not read; write hosts, routers, links and routes in "
      "zones of routing Full, Floyd or Dijkstra");
  EXPECT_EQ(error("routing=\"Dijkstra\"", "routing=\"Dijkstar\""),
            "platform.xml: line 5: routing \"Dijkstar\" is not read; \"Full\", \"Floyd\" and "
            "\"Dijkstra\" are; did you mean \"Dijkstra\"?");
  EXPECT_EQ(error("10GBps", "10GB"),
            "platform.xml: line 8: bandwidth \"10GB\" has no unit that SimGrid knows; write for "
            "example \"1Bps\"");
  EXPECT_EQ(error("10GBps", "0Bps"),
            "platform.xml: graph.levels.0.bandwidth.value: \"0 B/s\" must be at least 1 kB/s");
  EXPECT_EQ(error("id=\"l01\"/></route>", "id=\"l02\"/></route>"),
            "platform.xml: line 11: \"l02\" is no link");
  EXPECT_EQ(error("id=\"l12\" direction=\"UP\"", "id=\"l12\""),
            "platform.xml: line 12: \"l12\" is no link; it is split, so say direction UP or DOWN");
  EXPECT_EQ(error("gw_dst=\"m0\"", "gw_dst=\"r0\""),
            "platform.xml: line 33: gw_dst \"r0\" must be a host or router inside \"middle\"");
  EXPECT_EQ(
      error("<route src=\"l2\" dst=\"l\"><link_ctn id=\"out\" direction=\"UP\"/></route>", ""),
      "platform.xml: zone \"left\" has no route from \"l0\" to \"l\"");
  EXPECT_EQ(error("id=\"l1\" speed", "id=\"l0\" speed"),
            "platform.xml: line 6: id \"l0\" is there twice");
  EXPECT_EQ(error("version=\"4.1\"", "version=\"3\""),
            "platform.xml: line 3: version \"3\" must be \"4\" or \"4.1\"");
}

}  // namespace
}  // namespace trnsim
