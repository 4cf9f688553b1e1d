#include "system/network.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "system/systems.h"

namespace trnsim {
namespace {

using Route = std::vector<Link>;
using test::bare_system;
using test::load_system;

constexpr double us = 1e-6;

Route route_of(const Network& network, Rank from, Rank to) {
  Route route;
  network.route(from, to, route);
  return route;
}

std::vector<std::string> names_of(const Network& network, const Route& route) {
  std::vector<std::string> names;
  for (const Link link : route) names.push_back(network.name(link));
  return names;
}

// Where a link begins and where it ends, as far as its name says.
struct Ends {
  std::string tail, head;
};

std::string chip(Rank number) { return "chip " + std::to_string(number); }
std::string nic(Rank number) { return "NIC " + std::to_string(number); }

Rank rails_at(const System& system, size_t layer) {
  return layer < system.scale_out.rail_layers ? system.scale_out.rails : 1;
}

// The switches of layer `layer` (0: the lowest) above a NIC of this rail. A layer of one group that
// joins the rails is the top.
std::string switches(const System& system, size_t layer, Rank unit, Rank rail) {
  const std::vector<ClosLayer>& layers = system.scale_out.layers;
  const Rank rails = rails_at(system, layer);
  if (layer >= layers.size() || (layers[layer].units >= system.units && rails == 1)) return "top";
  return layers[layer].name + ' ' + std::to_string(unit / layers[layer].units) + " of rail " +
         std::to_string(rail % rails);
}

Ends ends_in_unit(const System& system, const std::string& level, Rank index) {
  Rank stride = 1;
  for (const FabricDimension& dimension : system.scale_up) {
    const std::string& name = dimension.name;
    const Rank size = dimension.size;
    // The chip that differs from `from` by `steps` along this dimension.
    const auto moved = [stride, size](Rank from, Rank steps) {
      const Rank at = from / stride % size;
      return from - at * stride + (at + steps) % size * stride;
    };
    const std::string hub = name + ' ' + chip(moved(index, size - index / stride % size));
    if (level == name + ", out") return {chip(index), hub};
    if (level == name + ", in") return {hub, chip(index)};
    if (level == name + ", up") return {chip(index), chip(moved(index, 1))};
    if (level == name + ", down") return {chip(index), chip(moved(index, size - 1))};
    if (level == name) {
      const Rank owner = index / (size - 1);
      return {chip(owner), chip(moved(owner, index % (size - 1) + 1))};
    }
    stride *= size;
  }
  throw std::runtime_error("no dimension has the level " + level);
}

Ends ends_of(const System& system, const Network& network, Link link) {
  const std::string& level = network.level(link).name;
  const Rank index = link - network.level(link).first;
  const ScaleOut& out = system.scale_out;
  const Rank unit = index / (system.chips_per_unit() / out.chips_per_nic);
  const Rank of_nic = index % (system.chips_per_unit() / out.chips_per_nic) % out.rails;
  if (level == out.name + " NIC, out") return {nic(index), switches(system, 0, unit, of_nic)};
  if (level == out.name + " NIC, in") return {switches(system, 0, unit, of_nic), nic(index)};
  for (size_t i = 0; i < out.layers.size(); ++i) {
    const Rank rail = index % rails_at(system, i);
    const Rank first = index / rails_at(system, i) * out.layers[i].units;  // unit below this group
    Ends up{switches(system, i, first, rail), switches(system, i + 1, first, rail)};
    if (level == out.layers[i].name + ", up") return up;
    if (level == out.layers[i].name + ", down") return {up.head, up.tail};
  }
  return ends_in_unit(system, level, index);
}

// Each link of a route begins where the one before ends, from the sender to the receiver or,
// between units, from NIC to NIC; and none is used twice.
void expect_chain(const System& system, const Network& network, Rank from, Rank to) {
  const Route route = route_of(network, from, to);
  ASSERT_EQ(route.empty(), from == to);
  const bool one_unit = from / system.chips_per_unit() == to / system.chips_per_unit();
  const Rank shared = system.scale_out.chips_per_nic;
  std::string here = one_unit ? chip(from) : nic(from / shared);
  for (const Link link : route) {
    const Ends ends = ends_of(system, network, link);
    ASSERT_EQ(here, ends.tail) << network.name(link) << " on the way to " << to;
    here = ends.head;
  }
  ASSERT_EQ(here, one_unit ? chip(to) : nic(to / shared)) << "from " << from;
  ASSERT_EQ(std::set<Link>(route.begin(), route.end()).size(), route.size());
}

class EveryTopology : public testing::TestWithParam<std::string> {};

TEST_P(EveryTopology, RoutesAreChainsBetweenAllChipsOfAUnit) {
  const System system = load_system(GetParam(), 1);
  const Network network(system);
  ASSERT_EQ(network.chips(), system.chips());
  for (Rank from = 0; from < network.chips(); ++from)
    for (Rank to = 0; to < network.chips(); ++to)
      ASSERT_NO_FATAL_FAILURE(expect_chain(system, network, from, to));
}

TEST_P(EveryTopology, RoutesAreChainsBetweenRandomChipsOfMany) {
  const System system = load_system(GetParam(), 1000);
  const Network network(system);
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i)
    ASSERT_NO_FATAL_FAILURE(
        expect_chain(system, network, random() % network.chips(), random() % network.chips()));
}

TEST_P(EveryTopology, LevelsFollowEachOtherAndSumToAllLinks) {
  for (const Rank units : {1, 2, 100, 10000}) {
    const Network network(load_system(GetParam(), units));
    Link sum = 0;
    for (const LinkLevel& level : network.levels()) {
      EXPECT_EQ(level.first, sum);
      EXPECT_EQ(&network.level(level.first), &level);
      EXPECT_EQ(&network.level(level.first + level.count - 1), &level);
      EXPECT_GT(level.capacity, 0);
      sum += level.count;
    }
    EXPECT_EQ(sum, network.links());
  }
}

// Numbers in a name say which link is meant, so dimensions may be named as they like.
TEST(Network, FindsLinksOfDimensionsWithOddNames) {
  System system = load_system("p5.json", 2);
  FabricDimension one = system.scale_up.front();
  one.name = "1";
  one.kind = FabricDimension::Kind::mesh;
  one.size = 12;
  FabricDimension chip = one;
  chip.name = "chip 0 +1";
  chip.kind = FabricDimension::Kind::ring;
  chip.size = 4;
  system.scale_up = {one, chip};
  const Network network(system);
  for (Link link = 0; link < network.links(); ++link)
    EXPECT_EQ(network.find(network.name(link)).link, link) << network.name(link);
}

TEST_P(EveryTopology, LinksAreFoundByTheirNamesWhichAreUnique) {
  const Network network(load_system(GetParam(), 2));
  std::set<std::string> names;
  for (Link link = 0; link < network.links(); ++link) {
    const std::string name = network.name(link);
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(network.find(name).link, link) << name;
  }
  EXPECT_THROW(network.find("unit 0 chip 0 nothing"), std::out_of_range);
}

TEST_P(EveryTopology, AFaultChangesOneLink) {
  Network network(load_system(GetParam(), 1));
  const Network healthy = network;
  network.scale({3, {}}, 0.25);
  for (Link link = 0; link < network.links(); ++link)
    EXPECT_EQ(network.capacity(link), healthy.capacity(link) * (link == 3 ? 0.25 : 1));
}

INSTANTIATE_TEST_SUITE_P(Files, EveryTopology, testing::ValuesIn(test::system_files()),
                         [](const auto& file) {
                           std::string name = file.param.substr(0, file.param.rfind('.'));
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !isalnum(c); }, '_');
                           return name;
                         });

// Chip 17 is position 17 % 4 = 1 of sled 17 / 4 = 4 in rack 0; chip 103 = 72 + 7 * 4 + 3 is
// position 3 of sled 7 in rack 1. Sled switch first, then plane 3 of rack 0, then the twin
// cable; 4.7 us are 1.5 + 1.7 + 1.5 us.
TEST(Trn3Gen2, WorkedRoute) {
  const Network network(load_system("trn3-gen2-ultraserver.json", 1));
  Route route;
  EXPECT_NEAR(network.route(17, 103, route), 4.7 * us, 1e-15);
  const std::vector<std::string> expected{
      "unit 0 chip 17 sled switch, out", "unit 0 chip 19 sled switch, in",
      "unit 0 chip 19 plane, out", "unit 0 chip 31 plane, in", "unit 0 chip 31 twin"};
  EXPECT_EQ(names_of(network, route), expected);
  EXPECT_NEAR(network.capacity(route[0]), 512e9 * 0.8, 1);
  EXPECT_NEAR(network.capacity(route[4]), 128e9 * 0.8, 1);
}

// To chip 5 of the next unit: NIC 17 / 2 = 8 out, up and down a leaf, NIC 2 in; 15 + 1 us.
TEST(Trn3Gen2, WorkedRouteToTheNextUnit) {
  const Network network(load_system("trn3-gen2-ultraserver.json", 2));
  Route route;
  EXPECT_NEAR(network.route(17, 144 + 5, route), 16 * us, 1e-15);
  const std::vector<std::string> expected{"unit 0 NIC 8 EFA NIC, out", "group 0 leaf, up",
                                          "group 1 leaf, down", "unit 1 NIC 2 EFA NIC, in"};
  EXPECT_EQ(names_of(network, route), expected);
  EXPECT_NEAR(network.capacity(route[0]), 400e9 / 8 * 0.75, 1);
}

// A chip has 2 ports on its sled switch, 2 on its plane (out and in) and its end of the twin cable:
// 5 x 144 = 720. Four units more: 72 NICs and a leaf each, in both directions; one pod needs none.
TEST(Trn3Gen2, CountsItsLinks) {
  EXPECT_EQ(Network(load_system("trn3-gen2-ultraserver.json", 1)).links(), 720);
  EXPECT_EQ(Network(load_system("trn3-gen2-ultraserver.json", 4)).links(),
            4 * 720 + 4 * 2 * 72 + 4 * 2);
  EXPECT_EQ(Network(load_system("trn3-gen2-ultraserver.json", 16)).links(),
            16 * 720 + 16 * 2 * 72 + 16 * 2 + 2 * 2);  // 15 units a pod: two pods
}

// 72 servers of 8 GPUs, a NIC each: 9 leaf groups of 8 servers, one pod.
TEST(P5, CountsItsLinks) {
  EXPECT_EQ(Network(load_system("p5.json", 72)).links(), 72 * 8 * 2 + 72 * 8 * 2 + 9 * 2);
}

// Any two GPUs of an NVL72 are one hop apart at 18 x 50 GB/s = 900 GB/s (NVIDIA datasheet), less
// what payload does not reach.
TEST(Nvl72, IsOneHopBetweenAnyTwo) {
  const System system = load_system("gb200-nvl72.json", 1);
  const Network network(system);
  for (Rank from = 0; from < 72; ++from)
    for (Rank to = 0; to < 72; ++to)
      ASSERT_EQ(route_of(network, from, to).size(), from == to ? 0 : 2);
  EXPECT_NEAR(network.capacity(0), 900e9 * system.scale_up.front().efficiency, 1);
}

System torus() {
  return bare_system(R"([{"name": "x", "kind": "ring", "size": 4, LINK},
                         {"name": "y", "kind": "ring", "size": 4, LINK},
                         {"name": "z", "kind": "ring", "size": 4, LINK}])",
                     "[]", 1);
}

Rank ring_distance(Rank a, Rank b) {
  const Rank up = (b + 4 - a) % 4;
  return std::min(up, 4 - up);
}

TEST(Torus, TakesTheShorterWayAndForwardsAtEachChip) {
  const System system = torus();
  const Network network(system);
  size_t all_hops = 0;
  for (Rank from = 0; from < 64; ++from)
    for (Rank to = 0; to < 64; ++to) {
      const Rank hops = ring_distance(from % 4, to % 4) + ring_distance(from / 4 % 4, to / 4 % 4) +
                        ring_distance(from / 16, to / 16);
      Route route;
      ASSERT_NEAR(network.route(from, to, route), hops * us, 1e-15);
      ASSERT_EQ(route.size(), hops);
      ASSERT_NO_FATAL_FAILURE(expect_chain(system, network, from, to));
      all_hops += hops;
    }
  // The mean distance in a k-ary n-cube with even k is n k / 4 (Dally and Towles, Principles and
  // Practices of Interconnection Networks, section 5.2.2), the chip itself counted.
  EXPECT_EQ(all_hops, 64 * 64 * 3 * 4 / 4);
}

TEST(Torus, GoesUpWhenBothWaysAreAsLong) {
  const Network network(torus());
  const std::vector<std::string> up{"unit 0 chip 2 x, up", "unit 0 chip 3 x, up"};
  EXPECT_EQ(names_of(network, route_of(network, 2, 0)), up);
  const std::vector<std::string> down{"unit 0 chip 0 x, down"};
  EXPECT_EQ(names_of(network, route_of(network, 0, 3)), down);
}

// When all send to all, a ring of 4 carries 1 + 2 hops up (distance 1, distance 2) and 1 down for
// each sender, once for each of the 16 places in the other two dimensions.
TEST(Torus, LoadsAllLinksOfOneDirectionAlike) {
  const Network network(torus());
  std::vector<int> load(network.links());
  for (Rank from = 0; from < 64; ++from)
    for (Rank to = 0; to < 64; ++to)
      for (const Link link : route_of(network, from, to)) ++load[link];
  for (Link link = 0; link < network.links(); ++link)
    EXPECT_EQ(load[link], network.level(link).name.ends_with(", up") ? 3 * 16 : 16)
        << network.name(link);
}

TEST(Mesh, HasALinkOfItsOwnForEachPair) {
  const System system =
      bare_system(R"([{"name": "m", "kind": "mesh", "size": 6, "links": 3, LINK}])", "[]", 1);
  const Network network(system);
  EXPECT_EQ(network.links(), 6 * 5);
  EXPECT_DOUBLE_EQ(network.capacity(0), 30e9);
  std::set<Link> used;
  for (Rank from = 0; from < 6; ++from)
    for (Rank to = 0; to < 6; ++to) {
      if (from == to) continue;
      Route route;
      EXPECT_DOUBLE_EQ(network.route(from, to, route), us);
      ASSERT_EQ(route.size(), 1);
      EXPECT_TRUE(used.insert(route[0]).second);
      ASSERT_NO_FATAL_FAILURE(expect_chain(system, network, from, to));
    }
}

constexpr const char* four_chips = R"([{"name": "s", "kind": "switch", "size": 4, LINK}])";
constexpr const char* leaf =
    R"({"name": "leaf", "units": 2, "oversubscription": {"value": 2, "source": "a test"}})";
constexpr const char* spine =
    R"({"name": "spine", "units": 4, "oversubscription": {"value": 3, "source": "a test"}})";

const LinkLevel& level_named(const Network& network, const std::string& name) {
  for (const LinkLevel& level : network.levels())
    if (level.name == name) return level;
  throw std::runtime_error("no level " + name);
}

// Units of 4 chips with 2 NICs of 4 GB/s; 2 units a leaf. A leaf has 4 ports below and, at 2:1,
// half of their bandwidth above.
TEST(Clos, OfTwoLayersMeetsInLeafOrSpine) {
  const System system = bare_system(four_chips, std::string("[") + leaf + "]", 8);
  const Network network(system);
  EXPECT_EQ(network.links(), 32 * 2 + 16 * 2 + 4 * 2);
  EXPECT_DOUBLE_EQ(level_named(network, "leaf, up").capacity, 4 * 4e9 / 2);
  EXPECT_DOUBLE_EQ(level_named(network, "leaf, down").capacity, 4 * 4e9 / 2);
  Route route;
  EXPECT_NEAR(network.route(0, 4, route), 20 * us, 1e-15);  // unit 1, same leaf
  EXPECT_EQ(route.size(), 2);
  EXPECT_NEAR(network.route(0, 31, route), 23 * us, 1e-15);  // unit 7
  const std::vector<std::string> expected{"unit 0 NIC 0 net NIC, out", "group 0 leaf, up",
                                          "group 3 leaf, down", "unit 7 NIC 1 net NIC, in"};
  EXPECT_EQ(names_of(network, route), expected);
}

TEST(Clos, OfThreeLayersClimbsAsFarAsItMust) {
  const System system = bare_system(four_chips, std::string("[") + leaf + ", " + spine + "]", 8);
  const Network network(system);
  EXPECT_EQ(network.links(), 32 * 2 + 16 * 2 + 4 * 2 + 2 * 2);
  // The uplinks of a spine's two leaves, at 3:1.
  EXPECT_DOUBLE_EQ(level_named(network, "spine, up").capacity, 2 * (4 * 4e9 / 2) / 3);
  Route route;
  EXPECT_NEAR(network.route(0, 4, route), 20 * us, 1e-15);
  EXPECT_EQ(route.size(), 2);
  EXPECT_NEAR(network.route(0, 8, route), 23 * us, 1e-15);
  EXPECT_EQ(route.size(), 4);
  EXPECT_NEAR(network.route(0, 31, route), 26 * us, 1e-15);
  const std::vector<std::string> expected{"unit 0 NIC 0 net NIC, out", "group 0 leaf, up",
                                          "group 0 spine, up",         "group 1 spine, down",
                                          "group 3 leaf, down",        "unit 7 NIC 1 net NIC, in"};
  EXPECT_EQ(names_of(network, route), expected);
}

TEST(Clos, LeavesOutALayerThatJoinsEverything) {
  EXPECT_EQ(Network(bare_system(four_chips, std::string("[") + leaf + "]", 2)).links(),
            8 * 2 + 4 * 2);
}

TEST(Nic, IsSharedByTheChipsBesideEachOther) {
  const Network network(bare_system(four_chips, "[]", 2));
  EXPECT_EQ(level_named(network, "net NIC, out").count, 4);
  EXPECT_DOUBLE_EQ(level_named(network, "net NIC, out").capacity, 4e9);
  EXPECT_EQ(route_of(network, 0, 4)[0], route_of(network, 1, 7)[0]);
  EXPECT_NE(route_of(network, 1, 4)[0], route_of(network, 2, 4)[0]);
  EXPECT_EQ(route_of(network, 0, 6)[1], route_of(network, 0, 7)[1]);
  EXPECT_NE(route_of(network, 0, 5)[1], route_of(network, 0, 6)[1]);
}

}  // namespace
}  // namespace trnsim
