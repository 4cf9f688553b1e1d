// Rails and NICs of two ports: worked routes, and what must not change where nothing tells them
// from one wide network.

#include <gtest/gtest.h>

#include "system/fabrics.h"
#include "system/network.h"
#include "system/shape.h"

namespace trnsim {
namespace {

using test::bare_system;
using test::dimension;
using test::layer;

constexpr double us = 1e-6;

// Units of 4 chips on a switch with a NIC each, on 4 rails of leaf switches of 2 units.
System railed(Rank units, const std::string& layers, Rank rails = 4, Rank rail_layers = 1,
              bool meet_in_unit = false) {
  System system =
      bare_system('[' + dimension("s", "switch", 4) + ']', layers, static_cast<int>(units), 1);
  system.scale_out.rails = rails;
  system.scale_out.rail_layers = rail_layers;
  system.scale_out.rails_meet_in_unit = meet_in_unit;
  return system;
}

const std::string leaf = '[' + layer("leaf", 2, 1) + ']';
const std::string leaf_and_spine = '[' + layer("leaf", 2, 2) + ", " + layer("spine", 4, 3) + ']';

std::vector<std::string> route_of(const Network& network, Rank from, Rank to, Seconds latency) {
  std::vector<Link> route;
  EXPECT_NEAR(network.route(from, to, route), latency, 1e-15) << from << " to " << to;
  std::vector<std::string> names;
  for (const Link link : route) names.push_back(network.name(link));
  return names;
}

using Names = std::vector<std::string>;

TEST(Rails, MeetAboveTheLeafSwitchesOfTheirGroup) {
  const Network network(railed(4, leaf));
  // Chip 2 of unit 0 to chip 2 of unit 1: one leaf switch.
  EXPECT_EQ(route_of(network, 2, 6, 20 * us),
            (Names{"unit 0 chip 2 net NIC, out", "unit 1 chip 2 net NIC, in"}));
  // To chip 3 of unit 1, in the same group, up and down once.
  EXPECT_EQ(route_of(network, 2, 7, 23 * us),
            (Names{"unit 0 chip 2 net NIC, out", "group 0 rail 2 leaf, up",
                   "group 0 rail 3 leaf, down", "unit 1 chip 3 net NIC, in"}));
  // To chip 2 of unit 3: another group, the same rail.
  EXPECT_EQ(route_of(network, 2, 14, 23 * us),
            (Names{"unit 0 chip 2 net NIC, out", "group 0 rail 2 leaf, up",
                   "group 1 rail 2 leaf, down", "unit 3 chip 2 net NIC, in"}));
}

TEST(Rails, OfTwoLayersMeetAboveBoth) {
  const Network network(railed(8, leaf_and_spine, 2, 2));
  // NIC 1 is on rail 1, NIC 2 on rail 0: groups of 2 and of 4 units differ by rail, the top joins.
  EXPECT_EQ(route_of(network, 1, 6, 26 * us),
            (Names{"unit 0 chip 1 net NIC, out", "group 0 rail 1 leaf, up",
                   "group 0 rail 1 spine, up", "group 0 rail 0 spine, down",
                   "group 0 rail 0 leaf, down", "unit 1 chip 2 net NIC, in"}));
  // 4 units of 2 NICs of 4 GB/s on a rail, at 2 : 1 and 3 : 1.
  EXPECT_DOUBLE_EQ(network.capacity(network.find("group 0 rail 1 leaf, up").link), 2 * 2 * 4e9 / 2);
  EXPECT_DOUBLE_EQ(network.capacity(network.find("group 1 rail 0 spine, down").link),
                   4 * 2 * 4e9 / 2 / 3);
}

TEST(Rails, MayMeetInTheUnit) {
  const Network network(railed(4, leaf, 4, 1, true));
  EXPECT_EQ(route_of(network, 2, 7, 21 * us),
            (Names{"unit 0 chip 2 s, out", "unit 0 chip 3 s, in", "unit 0 chip 3 net NIC, out",
                   "unit 1 chip 3 net NIC, in"}));
  EXPECT_EQ(route_of(network, 2, 6, 20 * us),
            (Names{"unit 0 chip 2 net NIC, out", "unit 1 chip 2 net NIC, in"}));
}

TEST(Rails, AreFoundByTheNamesOfTheirLinks) {
  for (const Rank units : {1U, 2U, 3U, 4U, 9U}) {
    const Network network(railed(units, leaf_and_spine, 4, 2));
    for (Link link = 0; link < network.links(); ++link)
      EXPECT_EQ(network.find(network.name(link)).link, link) << network.name(link);
  }
}

// The mean over all pairs, along the routes; a hop inside is two links of the switch.
TEST(Rails, HaveTheDistancesOfTheirRoutes) {
  for (const Rank units : {2U, 3U, 4U, 5U, 8U, 9U})
    for (const std::string& layers : {leaf, leaf_and_spine})
      for (const Rank rails : {2U, 4U})
        for (const Rank rail_layers : {1U, 2U})
          for (const bool in_unit : {false, true}) {
            if (rail_layers == 2 && layers == leaf) continue;
            const System system = railed(units, layers, rails, rail_layers, in_unit);
            const Network network(system);
            const Distances found = together(between_units(system), "");
            Distances all;
            std::vector<Link> route;
            for (Rank from = 0; from < system.chips(); ++from)
              for (Rank to = 0; to < system.chips(); ++to) {
                if (from / 4 == to / 4) continue;
                const Seconds latency = network.route(from, to, route);
                const bool inside = network.level(route.front()).name == "s, out";
                const auto hops = static_cast<Rank>(route.size() - (inside ? 1 : 0));
                ++all.pairs;
                all.mean_hops += hops;
                all.mean_latency += latency;
                all.worst_hops = std::max(all.worst_hops, hops);
                all.worst_latency = std::max(all.worst_latency, latency);
              }
            const auto pairs = static_cast<double>(all.pairs);
            EXPECT_EQ(found.pairs, all.pairs);
            EXPECT_EQ(found.worst_hops, all.worst_hops);
            EXPECT_NEAR(found.worst_latency, all.worst_latency, 1e-15);
            EXPECT_NEAR(found.mean_hops, all.mean_hops / pairs, 1e-12);
            EXPECT_NEAR(found.mean_latency, all.mean_latency / pairs, 1e-15);
          }
}

TEST(Tors, TakeTheirPartOfANicAndOfALeaf) {
  System system = railed(4, leaf, 1, 0);
  system.scale_out.tors_per_nic = 2;
  Network network(system);
  const Network one_tor(railed(4, leaf, 1, 0));
  ASSERT_EQ(network.links(), one_tor.links());
  for (Link link = 0; link < network.links(); ++link) {
    EXPECT_EQ(network.name(link), one_tor.name(link));
    EXPECT_EQ(network.capacity(link), one_tor.capacity(link));
  }
  // One of two cables at a quarter: 5/8 are left. The other at half: 3/8.
  const Cable first = network.find("unit 2 chip 1 net NIC, out, ToR 0");
  const Cable second = network.find("unit 2 chip 1 net NIC, out, ToR 1");
  EXPECT_EQ(first.link, network.find("unit 2 chip 1 net NIC, out").link);
  network.scale(first, 0.25);
  EXPECT_DOUBLE_EQ(network.capacity(first.link), 4e9 * 5 / 8);
  network.scale(second, 0.5);
  EXPECT_DOUBLE_EQ(network.capacity(first.link), 4e9 * 3 / 8);
  const Cable up = network.find("group 1 leaf, up, ToR 1");
  network.scale(up, 0.5);
  EXPECT_DOUBLE_EQ(network.capacity(up.link), 32e9 * 3 / 4);
  EXPECT_THROW(network.find("unit 2 chip 1 net NIC, out, ToR 2"), std::out_of_range);
  EXPECT_THROW(network.find("unit 2 chip 1 s, out, ToR 0"), std::out_of_range);
}

}  // namespace
}  // namespace trnsim
