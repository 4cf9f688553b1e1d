// One fault put on its whole class against the truth: the run in which every rank is by itself.

#include "engine/whole_class.h"

#include <gtest/gtest.h>

#include "engine/analytic_medium.h"
#include "fixtures.h"
#include "plan/training_step.h"
#include "random_jobs.h"

namespace trnsim::test {
namespace {

Seconds analytic(const Graph& graph) {
  return execute(graph, *make_analytic_medium(graph), Fidelity::analytic, {}, {});
}

TEST(WholeClass, BoundsOneFaultAmongEqualRanks) {
  unsigned bounded = 0;
  unsigned exact = 0;
  for (unsigned seed = 0; seed < 250; ++seed) {
    Random random(seed);
    Job job = random_job(random);
    job.layout.ordered = true;
    const Plan healthy = training_step(job);
    const Network network(job.system);
    const Folding folding = refine(healthy, network);
    break_symmetry(random, job);
    if (job.faults.empty()) continue;
    const Fault& fault = job.faults.front();
    const auto slow = fault.link ? std::optional(network.find(*fault.link).link) : std::nullopt;
    if (folding.rank_colours != 1 || !shares_most_in_step(healthy, network, slow)) continue;
    ++bounded;
    Graph all = make_graph(healthy, network, folding);
    if (slow)
      slow_all_links(all, folding, *slow, fault.factor);
    else
      slow_all_chips(all, fault.factor);
    const Seconds most = analytic(all);  // all ranks are in step, and phases follow one another
    leave_alone(all, network, folding);
    const Seconds least = analytic(all);
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
