// Messages that share links, as SimGrid plays them for us, against an independent solver.

#include "engine/simgrid_medium.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "progressive_filling.h"

namespace trnsim::test {
namespace {

// A graph of messages alone, each with its start (its latency) and links.
Graph graph_of(const std::vector<ReferenceFlow>& flows, const std::vector<double>& capacities) {
  Graph graph;
  for (const double capacity : capacities) graph.links.push_back({{}, 1, capacity});
  for (const ReferenceFlow& flow : flows) {
    std::map<uint32_t, uint64_t> times;
    for (const size_t link : flow.links) ++times[static_cast<uint32_t>(link)];
    MessageClass message;
    message.latency = flow.start;
    message.crossings.assign(times.begin(), times.end());
    graph.messages.push_back(message);
  }
  return graph;
}

std::vector<double> simulated(const std::vector<ReferenceFlow>& flows,
                              const std::vector<double>& capacities) {
  const Graph graph = graph_of(flows, capacities);
  const auto medium = make_simgrid_medium(graph);
  std::vector<double> ends(flows.size(), -1);
  for (uint32_t i = 0; i < flows.size(); ++i)
    medium->after(flows[i].start, {Event::Kind::latency_passed, i, 0});
  medium->run([&](const Event& event) {
    if (event.kind == Event::Kind::latency_passed)
      medium->send(event.index, static_cast<Bytes>(flows[event.index].bytes),
                   {Event::Kind::delivered, event.index, 0});
    else
      ends[event.index] = medium->now();
  });
  return ends;
}

// The first alone for 9 us, then both with half: 10 us + 2 x 991 us; the rest of the second alone.
TEST(SimgridMedium, SharesALinkEquallyWhateverTheLatencies) {
  const std::vector<double> ends = simulated({{1e-6, 1e6, {0}}, {10e-6, 1e6, {0}}}, {1e9});
  EXPECT_NEAR(ends[0], 1.992e-3, 1e-9 * 1.992e-3);
  EXPECT_NEAR(ends[1], 2.001e-3, 1e-9 * 2.001e-3);
}

// With latency in its routes and lazy updates SimGrid 3.32 lets B and C exceed link y. By hand:
// they need 2 x 3,255,000 bytes over 25 GB/s of y, from 3 us; D runs alone at 50 GB/s for 1 us,
// then at the 25 GB/s that B and C leave of x and A of r.
TEST(SimgridMedium, KeepsEveryLinkWithinItsCapacity) {
  enum : size_t { x, r, p, q, s, y, z, u, v };
  const std::vector<double> capacities = {50e9, 50e9, 50e9, 50e9, 50e9, 25e9, 25e9, 25e9, 25e9};
  constexpr double bytes = 3'255'000;
  const std::vector<double> ends = simulated({{3e-6, bytes, {s, u, v, r}},
                                              {3e-6, bytes, {x, y, z, p}},
                                              {3e-6, bytes, {x, y, z, q}},
                                              {2e-6, bytes, {x, r}}},
                                             capacities);
  EXPECT_NEAR(ends[0], 3e-6 + bytes / 25e9, 1e-9 * ends[0]);
  EXPECT_NEAR(ends[1], 3e-6 + 2 * bytes / 25e9, 1e-9 * ends[1]);
  EXPECT_NEAR(ends[2], 3e-6 + 2 * bytes / 25e9, 1e-9 * ends[2]);
  EXPECT_NEAR(ends[3], 3e-6 + (bytes - 50'000) / 25e9, 1e-9 * ends[3]);
}

// A link of capacity 100, crossed three times by A and once by B: both get 25.
TEST(SimgridMedium, CountsEachCrossingOfALink) {
  const std::vector<double> ends = simulated({{0, 1e8, {0, 0, 0}}, {0, 1e8, {0}}}, {100e6});
  EXPECT_NEAR(ends[0], 4, 1e-9);
  EXPECT_NEAR(ends[1], 4, 1e-9);
}

class RandomFlows : public testing::TestWithParam<unsigned> {};

TEST_P(RandomFlows, EndWhenProgressiveFillingSaysSo) {
  std::mt19937 random(GetParam());
  const auto pick = [&](unsigned low, unsigned high) {
    return std::uniform_int_distribution<unsigned>(low, high)(random);
  };
  std::vector<double> capacities;
  for (unsigned i = 0; i < pick(3, 9); ++i) capacities.push_back(pick(1, 8) * 12.5e9);
  while (capacities.size() < 3) capacities.push_back(25e9);
  std::vector<ReferenceFlow> flows(pick(2, 14));
  for (ReferenceFlow& flow : flows) {
    flow.start = pick(0, 40) * 1e-6;
    flow.bytes = pick(1, 60) * 1e5;
    for (unsigned i = 0; i < pick(1, 4); ++i)
      flow.links.push_back(pick(0, static_cast<unsigned>(capacities.size()) - 1));
    if (flow.links.empty()) flow.links.push_back(0);
  }
  const std::vector<double> expected = finish_times(flows, capacities);
  const std::vector<double> ends = simulated(flows, capacities);
  for (size_t i = 0; i < flows.size(); ++i) EXPECT_NEAR(ends[i], expected[i], 1e-6 * expected[i]);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomFlows, testing::Range(0U, 40U));

TEST(SimgridMedium, HandsOnWhatTheHandlerThrows) {
  const Graph graph = graph_of({{0, 1e6, {0}}}, {1e9});
  const auto medium = make_simgrid_medium(graph);
  medium->send(0, 1'000'000, {Event::Kind::delivered, 0, 0});
  EXPECT_THROW(medium->run([](const Event&) { throw std::runtime_error("from the handler"); }),
               std::runtime_error);
}

}  // namespace
}  // namespace trnsim::test
