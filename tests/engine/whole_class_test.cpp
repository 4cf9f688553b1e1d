// One fault put on its whole class against the truth: the run in which every rank is by itself.

#include "engine/whole_class.h"

#include <gtest/gtest.h>

#include "fixtures.h"
#include "plan/training_step.h"
#include "random_jobs.h"

namespace trnsim::test {
namespace {

TEST(WholeClass, BoundsOneFaultAmongEqualRanks) {
  unsigned bounded = 0;
  unsigned exact = 0;
  for (unsigned seed = 0; seed < 250; ++seed) {
    Random random(seed);
    Job job = random_job(random);
    job.layout.ordered = true;
    break_symmetry(random, job);
    if (job.faults.empty()) continue;
    const std::optional<StepBounds> bounds = bounds_of_fault(job);
    if (!bounds) continue;
    ++bounded;
    const auto [least, most] = *bounds;
    const Seconds truth = play(training_step(job), network_of(job), {.fold = false}).step;
    EXPECT_LE(least, truth * (1 + 1e-12)) << "seed " << seed;
    EXPECT_GE(most, truth * (1 - 1e-12)) << "seed " << seed;
    if (least >= most * (1 - 1e-12)) ++exact;
  }
  EXPECT_GT(bounded, 60U);
  EXPECT_GT(exact, 30U);
  EXPECT_LT(exact, bounded);
}

TEST(WholeClass, NeedsOneStream) {
  Job job = small_job(one_switch(8, 100e9, 1e-6));
  const auto bounded = [&] { return shares_most_in_step(training_step(job), network_of(job)); };
  EXPECT_TRUE(bounded());
  job.layout.ordered = false;
  EXPECT_FALSE(bounded());
}

TEST(WholeClass, NeedsUplinksThatTakeAllNics) {
  Job job = small_job(one_switch(2, 100e9, 1e-6));
  job.system.units = 8;
  job.system.scale_out.layers = {{"pod", 4, exactly(1)}};
  job.layout.data = job.training.global_batch = 16;
  const auto bounded = [&] { return shares_most_in_step(training_step(job), network_of(job)); };
  EXPECT_TRUE(bounded());
  const Network network = network_of(job);
  const Link uplink = network.find("group 1 pod, up").link;
  EXPECT_TRUE(shares_most_in_step(training_step(job), network, uplink));
  job.system.scale_out.layers.front().oversubscription = exactly(2);
  EXPECT_FALSE(bounded());
}

}  // namespace
}  // namespace trnsim::test
