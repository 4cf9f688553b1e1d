// Folded runs against unfolded ones, and the check that tells sound foldings from wrong ones.

#include "engine/folding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "fixtures.h"
#include "plan/groups.h"
#include "plan/training_step.h"

namespace trnsim::test {
namespace {

using Kind = FabricDimension::Kind;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  unsigned from(unsigned low, unsigned high) {
    return std::uniform_int_distribution<unsigned>(low, high)(engine_);
  }
  bool chance(unsigned one_in) { return from(1, one_in) == 1; }

 private:
  std::mt19937 engine_;
};

System random_system(Random& random) {
  System system = one_switch(1, 1e9, 0);
  system.scale_up.clear();
  const unsigned dimensions = random.from(1, 3);
  for (unsigned i = 0; i < dimensions; ++i) {
    const Kind kinds[] = {Kind::switched, Kind::ring, Kind::mesh};
    system.scale_up.push_back(dimension("d" + std::to_string(i), kinds[random.from(0, 2)],
                                        random.from(1, 4), random.from(1, 4) * 25e9,
                                        random.from(0, 3) * 1e-6));
  }
  system.units = random.from(1, 6);
  const Rank chips = system.chips_per_unit();
  system.scale_out.chips_per_nic = chips % 2 == 0 && random.chance(2) ? 2 : 1;
  system.scale_out.bandwidth = exactly(random.from(1, 4) * 5e9);
  system.scale_out.latency = exactly(random.from(1, 20) * 1e-6);
  system.scale_out.hop_latency = exactly(random.from(0, 2) * 1e-6);
  if (random.chance(2)) {
    system.scale_out.layers.push_back({"leaf", random.from(1, 3), exactly(random.from(1, 3))});
    if (random.chance(2))
      system.scale_out.layers.push_back(
          {"pod", 2 * system.scale_out.layers[0].units, exactly(random.from(1, 2))});
  }
  system.chip.hbm_bandwidth = exactly(random.from(1, 30) * 1e10);
  return system;
}

Job random_job(Random& random) {
  Job job = small_job(random_system(random));
  job.training.global_batch *= random.from(1, 2);
  job.layout.zero_stage = static_cast<int>(random.from(0, 3));
  job.layout.shard = job.layout.zero_stage == 0 ? 1 : job.layout.data;
  const Rank unit = job.system.chips_per_unit();
  if (job.layout.zero_stage > 0 && random.chance(3)) job.layout.shard = unit;
  job.layout.reshard_after_forward = random.chance(2);
  job.layout.sync_every_microbatch = job.layout.zero_stage == 2 || random.chance(2);
  job.layout.dynamic_buckets = random.chance(2);
  for (const Axis& axis : fabric_axes(job.system)) {
    const auto names = algorithm_names();
    const Algorithm any = algorithm_of(names[random.from(0, static_cast<Rank>(names.size()) - 1)]);
    if (!obstacle(any, axis)) job.layout.algorithms.along[axis.name] = any;
  }
  job.layout.ordered = random.chance(2);
  job.layout.overlap_grad_reduce = !random.chance(4);
  job.layout.overlap_param_gather = !random.chance(4);
  job.layout.prefetch = random.from(0, 2);
  job.layout.reduce_bucket = {random.from(1, 5) * 10000, 0, 5000};
  job.layout.gather_bucket = {0, random.from(1, 5) * 10000, 0};
  return job;
}

void break_symmetry(Random& random, Job& job) {
  Fault fault;
  if (random.chance(2)) {
    fault.chip = random.from(0, job.system.chips() - 1);
    fault.factor = 0.7;
  } else {
    const Network network(job.system);
    if (network.links() == 0) return;
    fault.link = network.name(random.from(0, network.links() - 1));
    fault.factor = 0.5;
  }
  job.faults.push_back(fault);
}

class RandomJobs : public testing::TestWithParam<unsigned> {};

TEST_P(RandomJobs, FoldedEqualsUnfolded) {
  Random random(GetParam());
  Job job = random_job(random);
  if (random.chance(2)) break_symmetry(random, job);
  const double tax = random.chance(3) ? 0.2 : 0;
  const Plan plan = training_step(job);
  const Network network = network_of(job);
  const Played folded = play(plan, network, {.fold = true, .tax = tax});
  const Played unfolded = play(plan, network, {.fold = false, .tax = tax});
  ASSERT_EQ(folded.error, "");
  ASSERT_EQ(unfolded.error, "");
  EXPECT_LE(folded.messages, unfolded.messages);
  EXPECT_NEAR(folded.step, unfolded.step, 1e-12 * unfolded.step);
  ASSERT_EQ(folded.ends.size(), unfolded.ends.size());
  for (const auto& [step, end] : unfolded.ends)
    ASSERT_NEAR(folded.ends.at(step), end, 1e-12 * unfolded.step)
        << "rank " << step.first << " step " << step.second;
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomJobs, testing::Range(0U, 120U));

// Puts two colours together, and numbers them again without a gap.
void merge(std::vector<uint32_t>& colours, uint32_t& count, uint32_t a, uint32_t b) {
  for (uint32_t& colour : colours)
    if (colour == b)
      colour = a;
    else if (colour > b)
      --colour;
  --count;
}

class WrongFoldings : public testing::TestWithParam<unsigned> {};

// refine() finds the coarsest sound folding, so every merge of two of its classes is wrong.
TEST_P(WrongFoldings, AreRejected) {
  Random random(GetParam());
  Job job = random_job(random);
  break_symmetry(random, job);
  const Plan plan = training_step(job);
  const Network network = network_of(job);
  const Folding right = refine(plan, network);
  ASSERT_TRUE(sound(plan, network, right));
  ASSERT_TRUE(sound(plan, network, identity(plan, network)));
  for (int i = 0; i < 20; ++i) {
    Folding wrong = right;
    const bool ranks = random.chance(2);
    std::vector<uint32_t>& colours = ranks ? wrong.rank : wrong.link;
    uint32_t& count = ranks ? wrong.rank_colours : wrong.link_colours;
    if (count < 2) continue;
    const uint32_t a = random.from(0, count - 2);
    merge(colours, count, a, random.from(a + 1, count - 1));
    EXPECT_FALSE(sound(plan, network, wrong));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, WrongFoldings, testing::Range(0U, 60U));

// What is folded by moving units around is what looking at each rank and link gives.
TEST(Folding, OfUnitsThatMoveIsThatOfEachRankAndLink) {
  unsigned moved = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const Job job = random_job(random);
    const Plan plan = training_step(job);
    const Network network = network_of(job);
    const auto orbits = Orbits::of_units(plan, network);
    if (!orbits) continue;
    ++moved;
    const Folding quick = refine(plan, network, *orbits);
    const Folding slow = refine(plan, network, Orbits::each(plan, network));
    EXPECT_TRUE(sound(plan, network, quick)) << "seed " << seed;
    EXPECT_EQ(quick.rank_colours, slow.rank_colours) << "seed " << seed;
    EXPECT_EQ(quick.link_colours, slow.link_colours) << "seed " << seed;
  }
  EXPECT_GT(moved, 100U);
}

// Units are not alike where something tells them apart.
TEST(Folding, OfUnitsThatMoveNeedsThemAlike) {
  System system = one_switch(2, 100e9, 1e-6);
  system.units = 6;
  system.scale_out.layers = {{"leaf", 2, exactly(2)}};
  Job job = small_job(system);
  const auto alike = [&] {
    return Orbits::of_units(training_step(job), network_of(job)).has_value();
  };
  EXPECT_TRUE(alike());
  job.faults = {{.chip = 3, .link = {}, .factor = 0.7}};
  EXPECT_FALSE(alike());
  job.faults = {{.chip = {}, .link = network_of(job).name(0), .factor = 0.7}};
  EXPECT_FALSE(alike());
  job.faults.clear();
  job.layout.broadcast_parameters = true;
  EXPECT_FALSE(alike());
  job.layout.broadcast_parameters = false;
  job.system.scale_out.layers.front().units = 4;  // the second group has two of four units
  EXPECT_FALSE(alike());
}

TEST(Folding, PutsAllChipsOfAHealthyClusterTogether) {
  System system = one_switch(4, 100e9, 1e-6);
  system.scale_up.push_back(dimension("twin", Kind::mesh, 2, 25e9, 1e-6));
  system.units = 6;
  system.scale_out.layers = {{"leaf", 2, exactly(2)}};
  const Job job = small_job(system);
  const Folding folding = refine(training_step(job), network_of(job));
  EXPECT_EQ(folding.rank_colours, 1U);
}

// A unit of one slow chip with rings along its dimensions tells every chip apart.
TEST(Folding, SplitsARingAroundASlowChip) {
  Job job = small_job(one_switch(9, 100e9, 1e-6));
  job.faults.push_back({.chip = 4, .link = {}, .factor = 0.7});
  EXPECT_EQ(refine(training_step(job), network_of(job)).rank_colours, 9U);
  job.layout.algorithms = {Algorithm::direct};
  EXPECT_EQ(refine(training_step(job), network_of(job)).rank_colours, 2U);
}

// In an ordered plan of equal ranks one slow chip costs what all being slow would.
TEST(OrderedPlan, OneSlowChipCostsAsMuchAsAll) {
  for (unsigned seed = 0; seed < 120; ++seed) {
    Random random(seed);
    Job job = random_job(random);
    job.layout.ordered = true;
    const Plan healthy = training_step(job);
    const Network network = network_of(job);
    if (!ordered(healthy, network) || refine(healthy, network).rank_colours != 1) continue;
    Plan one = healthy;
    one.speed[random.from(0, one.ranks - 1)] = 0.7;
    Plan all = healthy;
    for (Rank rank = 0; rank < all.ranks; ++rank) all.speed[rank] = 0.7;
    const Seconds truth = play(one, network, {.fold = false}).step;
    EXPECT_NEAR(play(all, network, {.fold = true}).step, truth, 1e-12 * truth) << "seed " << seed;
  }
}

// Relabelling the chips of a switch changes nothing: whichever is slow, the step is as long.
TEST(Relabelling, ChangesNothing) {
  System system = one_switch(4, 100e9, 1e-6);
  system.scale_up.push_back(dimension("second", Kind::switched, 3, 25e9, 2e-6));
  system.units = 2;
  Job job = small_job(system);
  job.layout.ordered = false;
  std::vector<Seconds> steps;
  for (const Rank chip : {0U, 5U, 11U, 17U, 23U}) {
    job.faults = {{.chip = chip, .link = {}, .factor = 0.6}};
    steps.push_back(play(training_step(job), network_of(job), {.fold = false}).step);
  }
  for (const Seconds step : steps) EXPECT_NEAR(step, steps.front(), 1e-12 * steps.front());
}

TEST(OrderedPlan, NeedsOneStreamAndPortsOfOnesOwn) {
  Job job = small_job(one_switch(8, 100e9, 1e-6));
  EXPECT_TRUE(ordered(training_step(job), network_of(job)));
  job.layout.ordered = false;
  EXPECT_FALSE(ordered(training_step(job), network_of(job)));
  job.layout.ordered = true;
  job.system.units = 2;
  job.layout.data = job.training.global_batch = 16;
  EXPECT_TRUE(ordered(training_step(job), network_of(job)));
  job.system.scale_out.chips_per_nic = 2;  // two chips on one NIC can be out of step
  EXPECT_FALSE(ordered(training_step(job), network_of(job)));
}

}  // namespace
}  // namespace trnsim::test
