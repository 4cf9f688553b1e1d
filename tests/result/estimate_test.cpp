// Estimated steps against those of analytic fidelity, which plays every operation on every rank.

#include "result/estimate.h"

#include <gtest/gtest.h>

#include "random_jobs.h"
#include "result/simulate.h"

namespace trnsim {
namespace {

// Whether layers as one operation and ranks in step leave nothing out: a layer's gradients are
// reduced when it has ended, nothing is beside its products, and the ranks of a stage are alike.
bool loses_nothing(const Job& job, const RunResult& run) {
  const bool whole_layers = job.layout.zero_stage == 3 || !job.layout.overlap_grad_reduce;
  const bool serial = !job.layout.overlap_tensor && job.layout.context == 1;
  return whole_layers && serial && run.engine.classes == job.layout.pipeline;
}

TEST(EstimatedStep, IsNeverTooShortAndExactWhereLayersAreWhole) {
  size_t exact = 0;
  size_t near = 0;
  const unsigned seeds = 2 * test::random_cases();
  for (unsigned seed = 0; seed < seeds; ++seed) {
    test::Random random(seed);
    Job job = seed % 2 == 0 ? test::random_job(random) : test::random_parallel_job(random);
    job.engine.fidelity = Fidelity::analytic;
    job.faults.clear();
    const RunResult run = simulate(job);
    const double ratio = estimated_step(job) / run.step_time;
    EXPECT_GE(ratio, 1 - 1e-9) << "seed " << seed;
    if (ratio < 1.05) ++near;
    if (!loses_nothing(job, run)) continue;
    EXPECT_LE(ratio, 1 + 1e-9) << "seed " << seed;
    ++exact;
  }
  EXPECT_GT(exact, seeds / 8);
  EXPECT_GT(near, seeds * 9 / 10);
}

}  // namespace
}  // namespace trnsim
