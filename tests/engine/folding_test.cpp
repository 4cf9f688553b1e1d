// Folded runs against unfolded ones, and the check that tells sound foldings from wrong ones.

#include "engine/folding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "fixtures.h"
#include "plan/training_step.h"
#include "random_jobs.h"
#include "workload/stages.h"

namespace trnsim::test {
namespace {

using Kind = FabricDimension::Kind;

// Both ways of simulating the same, and what was seen over all seeds of one process.
class Folded : public testing::TestWithParam<unsigned> {
 protected:
  static void TearDownTestSuite() {
    if (cases > 1)
      std::cout << cases << " cases, largest relative difference of any step's end " << worst
                << ", ranks for each class: " << std::exp(log_factors / cases)
                << " (geometric mean)\n";
  }

  static void expect_equal(const Plan& plan, const Network& network, double tax) {
    const Played folded = play(plan, network, {.fold = true, .tax = tax});
    const Played unfolded = play(plan, network, {.fold = false, .tax = tax});
    ASSERT_EQ(folded.error, "");
    ASSERT_EQ(unfolded.error, "");
    EXPECT_LE(folded.messages, unfolded.messages);
    EXPECT_NEAR(folded.step, unfolded.step, 1e-12 * unfolded.step);
    ASSERT_EQ(folded.ends.size(), unfolded.ends.size());
    for (const auto& [step, end] : unfolded.ends) {
      ASSERT_NEAR(folded.ends.at(step), end, 1e-12 * unfolded.step)
          << "rank " << step.first << " step " << step.second;
      worst = std::max(worst, std::abs(folded.ends.at(step) - end) / unfolded.step);
    }
    ++cases;
    log_factors += std::log(static_cast<double>(plan.ranks) / folded.classes);
  }

  // Half of them with a slow chip or link.
  static void expect_equal_also_with_faults(Random& random, const System& system, Plan plan) {
    Network network(system);
    if (random.chance(2)) {
      if (random.chance(2) || network.links() == 0)
        plan.speed[random.from(0, plan.ranks - 1)] = 0.7;
      else
        network.scale({random.from(0, network.links() - 1), {}}, 0.5);
    }
    expect_equal(plan, network, random.chance(3) ? 0.2 : 0);
  }

  static inline unsigned cases = 0;
  static inline double worst = 0;
  static inline double log_factors = 0;
};

class RandomJobs : public Folded {};

TEST_P(RandomJobs, FoldedEqualsUnfolded) {
  Random random(GetParam());
  Job job = random_job(random);
  if (random.chance(2)) break_symmetry(random, job);
  const double tax = random.chance(3) ? 0.2 : 0;
  expect_equal(training_step(job), network_of(job), tax);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomJobs, testing::Range(0U, random_cases()));

class RandomParallelJobs : public Folded {};

TEST_P(RandomParallelJobs, FoldedEqualsUnfolded) {
  Random random(GetParam());
  Job job = random_parallel_job(random);
  ASSERT_FALSE(misfit(job.model, job.training, job.layout));
  if (random.chance(2)) break_symmetry(random, job);
  const double tax = random.chance(3) ? 0.2 : 0;
  expect_equal(training_step(job), network_of(job), tax);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomParallelJobs, testing::Range(0U, random_cases()));

class RandomPlans : public Folded {};

TEST_P(RandomPlans, FoldedEqualsUnfolded) {
  Random random(GetParam());
  const System system = random_system(random);
  expect_equal_also_with_faults(random, system, random_plan(random, system));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPlans, testing::Range(0U, random_cases()));

class RandomPipelines : public Folded {};

TEST_P(RandomPipelines, FoldedEqualsUnfolded) {
  Random random(GetParam());
  System system = random_system(random);
  while (system.chips() > 64) system = random_system(random);  // minutes, unfolded
  expect_equal_also_with_faults(random, system, random_pipeline_plan(random, system));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPipelines, testing::Range(0U, random_cases()));

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

}  // namespace
}  // namespace trnsim::test
