// Collectives on graphs: a graph that spells out a system has its times, and units of unequal size
// have the times of a closed form.

#include <gtest/gtest.h>

#include "fixtures.h"
#include "system/fabrics.h"
#include "system/graphs.h"

namespace trnsim::test {
namespace {

// Two units of four chips on a switch, each chip with a NIC of 4 GB/s; a hop's latency is half of
// it on the way into a switch and half on the way out.
const std::string two_by_four = R"("chips": 8, "switches": ["s0", "s1", "net"], "levels": [)" +
                                graph_level("port", "10 GB/s", "0.5 us") + ',' +
                                graph_level("NIC", "4 GB/s", "10 us") + R"(], "links": [
  {"level": "port", "from": ["chip 0", "chip 1", "chip 2", "chip 3"], "to": "s0"},
  {"level": "port", "from": ["chip 4", "chip 5", "chip 6", "chip 7"], "to": "s1"},
  {"level": "NIC", "from": "net", "to": ["chip 0", "chip 1", "chip 2", "chip 3",
                                         "chip 4", "chip 5", "chip 6", "chip 7"]}])";

TEST(GraphFabric, HasTheTimesOfTheSystemThatItSpellsOut) {
  const System system = bare_system('[' + dimension("s", "switch", 4) + ']', "[]", 2, 1);
  const Network coordinates(system);
  const Network graph(graph_system(two_by_four));
  for (const CollectiveOp op :
       {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
        CollectiveOp::all_to_all, CollectiveOp::broadcast})
    for (const Algorithm algorithm :
         {Algorithm::ring, Algorithm::direct, Algorithm::double_binary_tree})
      for (const Fidelity fidelity : {Fidelity::message, Fidelity::analytic})
        for (const bool fold : {true, false}) {
          const Plan plan = collective_plan(system, op, algorithm, 7'654'321);
          const Played expected = play(plan, coordinates, {.fidelity = fidelity, .fold = fold});
          const Played played = play(plan, graph, {.fidelity = fidelity, .fold = fold});
          EXPECT_NEAR(played.step, expected.step, 1e-9 * expected.step) << to_string(op);
          EXPECT_EQ(played.classes, expected.classes) << to_string(op);
        }
}

// Three chips on one switch, five on another, and an uplink of 4 GB/s from each. Of an all_gather
// that goes to all at once 3 x 5 messages cross each uplink, after 0.5 + 3 + 3 + 0.5 us.
TEST(GraphFabric, MayHaveUnitsOfUnequalSize) {
  const System system = graph_system(R"("chips": 8, "switches": ["a", "b", "top"], "levels": [)" +
                                     graph_level("port", "10 GB/s", "0.5 us") + ',' +
                                     graph_level("uplink", "4 GB/s", "3 us") + R"(], "links": [
      {"level": "port", "from": ["chip 0", "chip 1", "chip 2"], "to": "a"},
      {"level": "port", "from": ["chip 3", "chip 4", "chip 5", "chip 6", "chip 7"], "to": "b"},
      {"level": "uplink", "from": ["a", "b"], "to": "top"}])");
  const Bytes bytes = 8'000'000;
  const Plan plan = collective_plan(system, CollectiveOp::all_gather, Algorithm::direct, bytes);
  const Seconds expected = 7e-6 + 15 * 1e6 / 4e9;
  for (const bool fold : {true, false})
    EXPECT_NEAR(play(plan, Network(system), {.fold = fold}).step, expected, 1e-9 * expected);
}

// 1 MB for each of seven others, out of one port of 10 GB/s or, to chips of the other unit, of 4.
TEST(GraphFabric, IsNoFasterThanItsPorts) {
  const System system = graph_system(two_by_four);
  EXPECT_EQ(system.graph->widest_port(), 14e9);
  const Plan plan = collective_plan(system, CollectiveOp::all_gather, Algorithm::direct, 8'000'000);
  EXPECT_NEAR(play(plan, Network(system), {}).step, 20e-6 + 4e6 / 4e9, 1e-12);
}

}  // namespace
}  // namespace trnsim::test
