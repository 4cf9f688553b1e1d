// Messages between rails against closed forms, and collectives that keep to their rails against
// one wide network.

#include <gtest/gtest.h>

#include "fixtures.h"

namespace trnsim::test {
namespace {

// Two units of two chips, a NIC of 4 GB/s and 20 us each, on two rails of leaf switches at 4 : 1,
// each further layer 3 us; inside 10 GB/s and 1 us.
System two_rails(bool meet_in_unit) {
  System system = one_switch(2, 10e9, 1e-6);
  system.units = 2;
  ScaleOut& out = system.scale_out;
  out.chips_per_nic = 1;
  out.bandwidth = exactly(4e9);
  out.efficiency = exactly(1);
  out.latency = exactly(20e-6);
  out.hop_latency = exactly(3e-6);
  out.layers = {{"leaf", 2, exactly(4)}};
  out.rails = 2;
  out.rail_layers = 1;
  out.rails_meet_in_unit = meet_in_unit;
  return system;
}

Seconds shifted_by_one(const System& system, bool fold) {
  // Chips 1 and 3 send to rail 0 of the other unit.
  Plan plan;
  plan.ranks = 4;
  plan.streams = {"compute", "collectives"};
  plan.names = {"send_recv"};
  const Group group = make_group(plan, CollectiveOp::send_recv, "all", {{"ranks", 1, 4}}, {});
  plan.programs = {{1, [group](size_t, Unrolled& steps) {
                      CollectiveSteps how;
                      how.stream = 1;
                      add_collective(steps, group, CollectiveOp::send_recv, 8'000'000, how, {});
                    }}};
  return play(plan, Network(system), {.fold = fold}).step;
}

// A leaf switch has uplinks of 2 NICs x 4 GB/s / 4 = 2 GB/s. Rail 1's carries both messages, each
// of 8 MB: 20 + 3 us + 16 MB / 2 GB/s.
TEST(Rails, ShareTheUplinksOfTheirLeafSwitch) {
  const Seconds expected = 23e-6 + 16e6 / 2e9;
  for (const bool fold : {false, true})
    EXPECT_NEAR(shifted_by_one(two_rails(false), fold), expected, 1e-9 * expected);
}

// Through the unit: 1 + 20 us, then the NIC of the other chip, which nobody else uses.
TEST(Rails, ThatMeetInTheUnitKeepToTheLeafSwitch) {
  const Seconds expected = 21e-6 + 8e6 / 4e9;
  for (const bool fold : {false, true})
    EXPECT_NEAR(shifted_by_one(two_rails(true), fold), expected, 1e-9 * expected);
}

// Collectives along the axes of the fabric keep to their rail, so nothing tells rails from one wide
// leaf, oversubscribed or not, but for groups of units that have a leaf switch for each rail.
TEST(Rails, ChangeNothingForWhatKeepsToThem) {
  for (const Rank units : {2U, 4U, 12U})
    for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_gather,
                                  CollectiveOp::reduce_scatter, CollectiveOp::all_to_all})
      for (const Algorithm algorithm : {Algorithm::ring, Algorithm::direct}) {
        System rails = two_rails(false);
        rails.units = units;
        System wide = rails;
        wide.scale_out.rails = 1;
        wide.scale_out.rail_layers = 0;
        const auto time = [&](const System& system) {
          return play(collective_plan(system, op, algorithm, 7'654'321), Network(system)).step;
        };
        EXPECT_NEAR(time(rails), time(wide), 1e-12 * time(wide)) << units;
      }
}

}  // namespace
}  // namespace trnsim::test
