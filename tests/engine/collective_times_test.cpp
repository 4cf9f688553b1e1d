// Times of single collectives against closed forms.

#include <gtest/gtest.h>

#include <cmath>

#include "fixtures.h"
#include "plan/training_step.h"

namespace trnsim::test {
namespace {

constexpr double GiB = 1073741824.0;

Played play_collective(const System& system, CollectiveOp op, Algorithm algorithm, Bytes bytes,
                       const PlayOptions& options = {}) {
  return play(collective_plan(system, op, algorithm, bytes), Network(system), options);
}

// Thakur, Rabenseifner and Gropp (2005): 2 (n - 1) messages of ceil(S / n), one after another.
Seconds ring_all_reduce(Rank n, Bytes bytes, BytesPerSecond bandwidth, Seconds latency) {
  const Bytes shard = (bytes + n - 1) / n;
  return 2.0 * (n - 1) * (static_cast<double>(shard) / bandwidth + latency);
}

TEST(RingAllReduce, TakesItsClosedFormForEveryCountOfRanks) {
  constexpr Bytes per_rank = 1'000'000;
  for (Rank n = 2; n <= 144; ++n) {
    for (const Bytes bytes : {n * per_rank, n * per_rank + 1}) {
      const System system = one_switch(n, 100e9, 500e-9);
      const Played played =
          play_collective(system, CollectiveOp::all_reduce, Algorithm::ring, bytes);
      const Seconds expected = ring_all_reduce(n, bytes, 100e9, 500e-9);
      EXPECT_NEAR(played.step, expected, 1e-9 * expected) << n << " ranks, " << bytes << " bytes";
    }
  }
}

TEST(RingAllReduce, TakesItsClosedFormUnfolded) {
  for (const Rank n : {2U, 3U, 7U, 16U}) {
    const System system = one_switch(n, 100e9, 500e-9);
    const Played played = play_collective(system, CollectiveOp::all_reduce, Algorithm::ring,
                                          n * 100'000, {.fold = false});
    const Seconds expected = ring_all_reduce(n, n * 100'000, 100e9, 500e-9);
    EXPECT_NEAR(played.step, expected, 1e-9 * expected);
    EXPECT_EQ(played.classes, n);
    EXPECT_EQ(played.messages, 2 * n * (n - 1));
  }
}

// A pipelined chain: 16 (n - 1) messages, and n - 2 more until the last rank has the first.
Seconds chain(Rank n, Bytes bytes, BytesPerSecond bandwidth, Seconds latency) {
  const Bytes messages = 16 * (n - 1);
  const Bytes message = (bytes + messages - 1) / messages;
  return static_cast<double>(messages + n - 2) *
         (static_cast<double>(message) / bandwidth + latency);
}

TEST(Broadcast, TakesItsClosedForm) {
  for (const Rank n : {2U, 3U, 8U, 31U}) {
    for (const Fidelity fidelity : {Fidelity::message, Fidelity::phase, Fidelity::analytic}) {
      const System system = one_switch(n, 100e9, 500e-9);
      const Played played = play_collective(system, CollectiveOp::broadcast, Algorithm::ring,
                                            12'345'678, {.fidelity = fidelity});
      const Seconds expected = chain(n, 12'345'678, 100e9, 500e-9);
      EXPECT_NEAR(played.step, expected, 1e-9 * expected) << n << " ranks";
      EXPECT_EQ(played.classes, n);
      const uint64_t at_once = fidelity == Fidelity::message ? 16 * (n - 1) : 1;
      EXPECT_EQ(played.messages, (n - 1) * at_once);
    }
  }
}

TEST(Broadcast, GoesAlongTheSlowestDimensionFirst) {
  System system = one_switch(4, 100e9, 1e-6);
  system.scale_up.push_back(dimension("second", FabricDimension::Kind::switched, 3, 25e9, 2e-6));
  const Seconds expected = chain(3, 9'000'000, 25e9, 2e-6) + chain(4, 9'000'000, 100e9, 1e-6);
  const Played played =
      play_collective(system, CollectiveOp::broadcast, Algorithm::ring, 9'000'000);
  EXPECT_NEAR(played.step, expected, 1e-9 * expected);
  // 2 chains of the second dimension have 32 messages for each rank but the first; one of them
  // runs.
  EXPECT_EQ(played.messages, 2 * 32 + 3 * 3 * 48);
}

// Nobody can reduce its first gradient before the last rank has begun.
TEST(Broadcast, DelaysTheFirstStepByItsTime) {
  Job job = small_job(one_switch(5, 1e9, 1e-6));
  const auto step = [&] { return play(training_step(job), Network(job.system)).step; };
  const Seconds without = step();
  job.layout.broadcast_parameters = true;
  const Seconds expected = without + chain(5, 2 * job.model.parameters(), 1e9, 1e-6);
  EXPECT_NEAR(step(), expected, 1e-9 * expected);
}

TEST(RingAllReduce, Of144RanksOverOneGibibyte) {
  const System system = one_switch(144, 100 * GiB, 500e-9);
  for (const bool fold : {true, false}) {
    const Played played = play_collective(system, CollectiveOp::all_reduce, Algorithm::ring,
                                          1'073'741'760, {.fold = fold});
    const Seconds expected = 2 * 143 * (1'073'741'760 / 144 / (100 * GiB) + 500e-9);
    EXPECT_NEAR(played.step, expected, 1e-9 * expected);
  }
}

// All n - 1 messages of a rank share its port, so the phase takes latency + (n - 1) shards.
TEST(DirectReduceScatter, IsBoundByThePort) {
  for (const Rank n : {2U, 5U, 64U}) {
    const System system = one_switch(n, 50e9, 2e-6);
    const Played played =
        play_collective(system, CollectiveOp::reduce_scatter, Algorithm::direct, n * 1'000'000);
    const Seconds expected = 2e-6 + (n - 1) * 1e6 / 50e9;
    EXPECT_NEAR(played.step, expected, 1e-9 * expected);
  }
}

// Rings along two dimensions: the second moves the shard that the first left.
TEST(HierarchicalAllGather, IsTheSumOfItsRings) {
  System system = one_switch(4, 100e9, 1e-6);
  system.scale_up.push_back(dimension("second", FabricDimension::Kind::switched, 6, 50e9, 3e-6));
  const Bytes bytes = 24'000'000;
  const Played played = play_collective(system, CollectiveOp::all_gather, Algorithm::ring, bytes);
  const Seconds expected = 5 * (1e6 / 50e9 + 3e-6) + 3 * (6e6 / 100e9 + 1e-6);
  EXPECT_NEAR(played.step, expected, 1e-9 * expected);
}

// Two chips share a NIC: each gets half of it.
TEST(RingOverUnits, SharesTheNic) {
  System system = one_switch(2, 100e9, 1e-6);
  system.units = 3;
  system.scale_out.chips_per_nic = 2;
  system.scale_out.bandwidth = exactly(20e9);
  system.scale_out.latency = exactly(10e-6);
  const Bytes bytes = 6'000'000;
  const Played played =
      play_collective(system, CollectiveOp::reduce_scatter, Algorithm::ring, bytes);
  const Seconds expected = (3e6 / 100e9 + 1e-6) + 2 * (1e6 / 10e9 + 10e-6);
  EXPECT_NEAR(played.step, expected, 1e-9 * expected);
}

TEST(Reduction, DelaysEachHopByItsTail) {
  const System system = one_switch(4, 100e9, 0);
  const Played played = play(collective_plan(system, CollectiveOp::reduce_scatter, Algorithm::ring,
                                             4'000'000, {10e9, 100'000}),
                             Network(system));
  const Seconds expected = 3 * (1e6 / 100e9 + 100'000 / 10e9);
  EXPECT_NEAR(played.step, expected, 1e-9 * expected);
}

// A ring of n on a torus axis and a mesh have links of their own for each neighbour.
TEST(RingAllReduce, RunsAtLinkSpeedOnTorusAndMesh) {
  for (const auto kind : {FabricDimension::Kind::ring, FabricDimension::Kind::mesh}) {
    System system = one_switch(8, 1e9, 0);
    system.scale_up = {dimension("axis", kind, 8, 64e9, 1e-6)};
    const Played played =
        play_collective(system, CollectiveOp::all_reduce, Algorithm::ring, 8'000'000);
    const Seconds expected = ring_all_reduce(8, 8'000'000, 64e9, 1e-6);
    EXPECT_NEAR(played.step, expected, 1e-9 * expected);
  }
}

// Where nothing contends the three fidelities are one model.
TEST(Fidelities, AgreeForACollectiveAlone) {
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::direct}) {
    System system = one_switch(6, 100e9, 1e-6);
    system.units = 4;
    const auto step = [&](Fidelity fidelity) {
      return play_collective(system, CollectiveOp::all_reduce, algorithm, 7'654'321,
                             {.fidelity = fidelity})
          .step;
    };
    const Seconds message = step(Fidelity::message);
    EXPECT_NEAR(step(Fidelity::phase), message, 1e-9 * message);
    EXPECT_NEAR(step(Fidelity::analytic), message, 1e-9 * message);
  }
}

TEST(Bandwidth, NeverSlowsACollectiveAlone) {
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::direct}) {
    Seconds before = std::numeric_limits<double>::infinity();
    for (const double bandwidth : {1e9, 3e9, 50e9, 400e9}) {
      const Played played = play_collective(one_switch(12, bandwidth, 1e-6),
                                            CollectiveOp::all_reduce, algorithm, 9'999'999);
      EXPECT_LT(played.step, before);
      before = played.step;
    }
  }
}

}  // namespace
}  // namespace trnsim::test
