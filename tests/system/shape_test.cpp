// Distances and ports, which are computed from sizes, against searches through all chips of small
// systems and against published figures.

#include "system/shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>

#include "system/fabrics.h"
#include "system/network.h"

namespace trnsim {
namespace {

using test::bare_system;
using test::Clos;
using test::dimension;
using test::four_chips_a_unit;
using test::joined;
using test::layer;
using test::Line;
using test::lines_of;
using test::load_system;

constexpr double us = 1e-6;

// Each node's neighbours.
using Neighbours = std::vector<std::vector<size_t>>;

std::vector<int> hops_from(const Neighbours& graph, size_t start) {
  std::vector<int> hops(graph.size(), -1);
  std::deque<size_t> next{start};
  hops[start] = 0;
  while (!next.empty()) {
    const size_t here = next.front();
    next.pop_front();
    for (const size_t other : graph[here]) {
      if (hops[other] >= 0) continue;
      hops[other] = hops[here] + 1;
      next.push_back(other);
    }
  }
  return hops;
}

Neighbours chips_of_unit(const System& system) {
  Neighbours graph(system.chips_per_unit());
  for (const Line& line : lines_of(system))
    for (size_t i = 0; i < line.chips.size(); ++i)
      for (size_t j = 0; j < line.chips.size(); ++j)
        if (joined(system.scale_up[line.dimension].kind, i, j, line.chips.size()))
          graph[line.chips[i]].push_back(line.chips[j]);
  return graph;
}

struct Searched {
  uint64_t pairs = 0;
  int worst = 0;
  double mean = 0;
};

Searched searched_inside(const System& system) {
  const Neighbours graph = chips_of_unit(system);
  Searched found;
  for (size_t from = 0; from < graph.size(); ++from)
    for (const int hops : hops_from(graph, from)) {
      if (hops == 0) continue;
      ++found.pairs;
      found.worst = std::max(found.worst, hops);
      found.mean += hops;
    }
  if (found.pairs > 0) found.mean /= static_cast<double>(found.pairs);
  return found;
}

std::vector<std::string> shapes() {
  std::vector<std::string> all;
  for (const char* kind : {"switch", "ring", "mesh"})
    for (const int size : {1, 2, 3, 4, 5, 8, 9}) {
      all.push_back('[' + dimension("a", kind, size) + ']');
      all.push_back('[' + dimension("a", kind, size) + ", " + dimension("b", "ring", 4) + ", " +
                    dimension("c", "switch", 2) + ']');
      all.push_back('[' + dimension("a", "ring", 5) + ", " + dimension("b", kind, size) + ']');
    }
  return all;
}

// A link of these shapes takes 1 us, so that hops and microseconds are the same number; routes are
// shortest, so that a breadth-first search finds as many.
TEST(InsideUnit, IsWhatABreadthFirstSearchFinds) {
  for (const std::string& shape : shapes()) {
    const System system = bare_system(shape, "[]", 1, 1);
    const Distances found = inside_unit(system);
    const Searched searched = searched_inside(system);
    EXPECT_EQ(found.pairs, searched.pairs) << shape;
    EXPECT_EQ(found.worst_hops, searched.worst) << shape;
    EXPECT_NEAR(found.mean_hops, searched.mean, 1e-12) << shape;
    EXPECT_NEAR(found.worst_latency, searched.worst * us, 1e-15) << shape;
    EXPECT_NEAR(found.mean_latency, searched.mean * us, 1e-15) << shape;
  }
}

// Latencies of the files differ between dimensions.
TEST(InsideUnit, HasTheLatenciesOfTheRoutesOfEveryFile) {
  for (const std::string& file : test::system_files()) {
    const System system = load_system(file, 1);
    if (system.chips() == 1) continue;
    const Network network(system);
    const Distances found = inside_unit(system);
    Seconds sum = 0;
    Seconds worst = 0;
    std::vector<Link> route;
    for (Rank from = 0; from < system.chips(); ++from)
      for (Rank to = 0; to < system.chips(); ++to) {
        const Seconds latency = network.route(from, to, route);
        sum += latency;
        worst = std::max(worst, latency);
      }
    EXPECT_NEAR(found.worst_latency, worst, 1e-12) << file;
    EXPECT_NEAR(found.mean_latency * static_cast<double>(found.pairs), sum, 1e-9 * sum) << file;
  }
}

// The mean distance in a k-ary n-cube with even k is n k / 4, the chip itself counted (Dally and
// Towles, section 5.2.2): 16 in a TPU v5p pod of 16 x 20 x 28, whose farthest chips are 8 + 10 + 14
// apart.
TEST(InsideUnit, HasTheMeanDistanceOfATorus) {
  const System pod =
      bare_system('[' + dimension("x", "ring", 16) + ", " + dimension("y", "ring", 20) + ", " +
                      dimension("z", "ring", 28) + ']',
                  "[]", 1);
  const Distances found = inside_unit(pod);
  EXPECT_NEAR(found.mean_hops * 8959 / 8960, (16 + 20 + 28) / 4.0, 1e-12);
  EXPECT_EQ(found.worst_hops, 32);
}

std::vector<Clos> closes() {
  std::vector<Clos> all;
  for (const std::string& layers :
       {std::string("[]"), '[' + layer("leaf", 1, 1) + ']', '[' + layer("leaf", 2, 2) + ']',
        '[' + layer("leaf", 2, 1) + ", " + layer("spine", 4, 3) + ']',
        '[' + layer("leaf", 1, 2) + ", " + layer("spine", 3, 1) + ", " + layer("core", 6, 1) + ']'})
    for (const int units : {1, 2, 3, 4, 7, 8, 13}) all.push_back({layers, units});
  return all;
}

// The units, then the switches of each layer, then the top.
Neighbours units_and_switches(const System& system) {
  Neighbours graph(system.units);
  std::vector<size_t> above(system.units);
  const auto grow = [&](size_t count) {
    const size_t first = graph.size();
    graph.resize(first + count);
    return first;
  };
  const auto join = [&](size_t one, size_t other) {
    graph[one].push_back(other);
    graph[other].push_back(one);
  };
  std::vector<size_t> lower(system.units);
  for (size_t i = 0; i < lower.size(); ++i) lower[i] = i;
  for (const ClosLayer& of : system.scale_out.layers) {
    const size_t groups = (system.units + of.units - 1) / of.units;
    if (groups == 1) break;
    const size_t first = grow(groups);
    for (Rank unit = 0; unit < system.units; ++unit) {
      const size_t group = first + unit / of.units;
      if (std::find(graph[group].begin(), graph[group].end(), lower[unit]) == graph[group].end())
        join(lower[unit], group);
      lower[unit] = group;
    }
  }
  const size_t top = grow(1);
  for (const size_t node : lower)
    if (std::find(graph[top].begin(), graph[top].end(), node) == graph[top].end()) join(node, top);
  return graph;
}

TEST(BetweenUnits, IsWhatABreadthFirstSearchFinds) {
  for (const Clos& clos : closes()) {
    const System system = four_chips_a_unit(clos);
    const Neighbours graph = units_and_switches(system);
    Searched searched;
    for (size_t from = 0; from < system.units; ++from) {
      const std::vector<int> hops = hops_from(graph, from);
      for (size_t to = 0; to < system.units; ++to) {
        if (from == to) continue;
        searched.pairs += 16;  // 4 chips in each
        searched.worst = std::max(searched.worst, hops[to]);
        searched.mean += 16.0 * hops[to];
      }
    }
    if (searched.pairs > 0) searched.mean /= static_cast<double>(searched.pairs);
    const Distances found = together(between_units(system), "");
    const std::string where = clos.layers + " of " + std::to_string(clos.units);
    EXPECT_EQ(found.pairs, searched.pairs) << where;
    EXPECT_EQ(found.worst_hops, searched.worst) << where;
    EXPECT_NEAR(found.mean_hops, searched.mean, 1e-12) << where;
  }
}

TEST(BetweenUnits, HasTheLatenciesOfAllRoutes) {
  for (const Clos& clos : closes()) {
    const System system = four_chips_a_unit(clos);
    const Network network(system);
    std::vector<Link> route;
    Seconds sum = 0;
    Seconds worst = 0;
    for (Rank from = 0; from < system.chips(); ++from)
      for (Rank to = 0; to < system.chips(); ++to) {
        if (from / 4 == to / 4) continue;
        const Seconds latency = network.route(from, to, route);
        sum += latency;
        worst = std::max(worst, latency);
      }
    const Distances found = together(between_units(system), "");
    EXPECT_NEAR(found.mean_latency * static_cast<double>(found.pairs), sum, 1e-12);
    EXPECT_NEAR(found.worst_latency, worst, 1e-15);
  }
}

// 16 units in leaves of 4, two leaves a pod: of the 15 other units 3 are below the same leaf, 4
// below the same pod and 8 above it.
TEST(BetweenUnits, AreSplitByWhereRoutesTurn) {
  const System system =
      four_chips_a_unit({'[' + layer("leaf", 4, 1) + ", " + layer("pod", 8, 1) + ']', 16});
  const std::vector<Distances> found = between_units(system);
  ASSERT_EQ(found.size(), 3);
  const std::vector<uint64_t> others{3, 4, 8};
  EXPECT_EQ(found[0].where, "below one leaf");
  EXPECT_EQ(found[1].where, "below one pod");
  EXPECT_EQ(found[2].where, "over the top");
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found[i].pairs, 256 * others[i]);  // 16 units, 4 x 4 chips
    EXPECT_EQ(found[i].worst_hops, 2 + 2 * i);
    EXPECT_NEAR(found[i].mean_latency, (20 + 3.0 * static_cast<double>(i)) * us, 1e-15);
  }
}

// What sources state of all ports of a chip, one direction: Trainium2 640 GB/s (1.28 TB/s both
// ways, AWS), MI300X 448, MI355X 535.5, GB200 900, TPU v5p 600.
TEST(Ports, AddUpToWhatSourcesState) {
  const std::map<std::string, double> stated{
      {"trn2-ultraserver.json", 640e9}, {"mi300x-roce.json", 448e9},
      {"mi355x-roce.json", 535.5e9},    {"gb200-nvl72.json", 900e9},
      {"tpu-v5p.json", 600e9},          {"trn3-gen2-aws-links.json", 704e9}};
  for (const auto& [file, bytes_per_second] : stated) {
    double sum = 0;
    for (const FabricDimension& of : load_system(file, 1).scale_up)
      sum += ports_of_chip(of) * of.bandwidth;
    EXPECT_NEAR(sum, bytes_per_second, 1) << file;
  }
}

// Three layers of k-port switches join k^3 / 4 ports in k pods of (k / 2)^2 (Al-Fares et al.,
// SIGCOMM 2008): 524,288 in 128 pods of 4,096, as SemiAnalysis has it for k = 128. A plane has 72
// ports of an UltraServer. AWS: up to 1,000,000 chips.
TEST(UltraCluster, HasAMillionChipsInWholePodsWithinThreeLayers) {
  const System system = load_system("trn3-gen2-ultracluster.json", 7000);
  EXPECT_GE(system.chips(), 1'000'000);
  const Rank pod = system.scale_out.layers.back().units;
  EXPECT_EQ(system.units % pod, 0);
  EXPECT_LE(system.units / pod, 128);
  EXPECT_LE(pod * 72, 4096);
}

TEST(UltraCluster, IsMeasuredInLessThanASecond) {
  const auto begin = std::chrono::steady_clock::now();
  const System system = load_system("trn3-gen2-ultracluster.json", 7000);
  EXPECT_EQ(inside_unit(system).pairs + together(between_units(system), "").pairs,
            1'008'000ULL * 1'007'999);
  EXPECT_DOUBLE_EQ(narrowest(cuts_between_units(system)).nominal, 3500 * 72 * 50e9);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

}  // namespace
}  // namespace trnsim
