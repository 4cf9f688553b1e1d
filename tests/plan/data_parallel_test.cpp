// What each kind of data parallelism sends, to the byte, and what it waits for.

#include "plan/data_parallel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fixtures.h"
#include "plan/buckets.h"
#include "plan/groups.h"
#include "plan/training_step.h"
#include "result/simulate.h"

namespace trnsim::test {
namespace {

// Bytes of one rank in a step, by walking its program.
Bytes sent_bytes(const Job& job) {
  const Plan plan = training_step(job);
  Unrolled program(plan.programs.front(), plan.streams.size());
  while (program.unroll()) {
  }
  Bytes sent = 0;
  for (Position at = 0; at < program.end(); ++at)
    if (const auto* exchange = std::get_if<Exchange>(&program.step(at).work))
      sent += exchange->bytes * exchange->hops * plan.patterns[exchange->pattern].shifts.size();
  return sent;
}

// A model whose parts all divide by 16 ranks, so that no shard is rounded up.
Job job_of(int zero_stage, uint64_t microbatches) {
  System system = one_switch(4, 1e9, 1e-6);
  system.units = 4;
  Job job = small_job(system);
  job.model = {"even", 3, 64, 4, 2, 16, 96, true, 112, false};
  job.training.global_batch = 16 * microbatches;
  job.layout.zero_stage = zero_stage;
  job.layout.shard = zero_stage == 0 ? 1 : 16;
  job.layout.sync_every_microbatch = zero_stage >= 2;
  job.layout.reduce_bucket = {0, 16'384, 0};
  job.layout.gather_bucket = {0, 16'384, 0};
  return job;
}

// (n - 1) / n of `bytes`: what a rank sends in a reduce-scatter or all-gather (Thakur et al. 2005).
Bytes pass(Bytes bytes, Bytes n) { return bytes / n * (n - 1); }

// arXiv:1910.02054, section 7: stages 0 to 2 move twice the parameters a step, stage 3 three times.
// Gradients here are 4 bytes wide and parameters 2.
TEST(BytesSent, OfEachStageAreThePublishedFormula) {
  const Job one = job_of(0, 1);
  const Bytes parameters = one.model.parameters();
  const Bytes head = one.model.head_parameters();
  ASSERT_EQ(parameters % 16, 0U);
  EXPECT_EQ(sent_bytes(one), 2 * pass(4 * parameters, 16));
  EXPECT_EQ(sent_bytes(job_of(1, 1)), pass(4 * parameters, 16) + pass(2 * parameters, 16));
  EXPECT_EQ(sent_bytes(job_of(2, 1)), pass(4 * parameters, 16) + pass(2 * parameters, 16));
  // The head stays gathered between its two passes.
  EXPECT_EQ(sent_bytes(job_of(3, 1)), pass(4 * parameters, 16) + pass(2 * parameters, 16) +
                                          pass(2 * (parameters - head), 16));
}

TEST(BytesSent, GrowWithMicrobatchesWhereTheyMust) {
  const Bytes parameters = job_of(0, 1).model.parameters();
  const Bytes head = job_of(0, 1).model.head_parameters();
  EXPECT_EQ(sent_bytes(job_of(0, 4)), sent_bytes(job_of(0, 1)));
  EXPECT_EQ(sent_bytes(job_of(1, 4)), sent_bytes(job_of(1, 1)));
  EXPECT_EQ(sent_bytes(job_of(2, 4)), 4 * pass(4 * parameters, 16) + pass(2 * parameters, 16));
  EXPECT_EQ(sent_bytes(job_of(3, 4)), 4 * sent_bytes(job_of(3, 1)));
  Job every = job_of(0, 4);
  every.layout.sync_every_microbatch = true;
  EXPECT_EQ(sent_bytes(every), 4 * sent_bytes(job_of(0, 1)));
  Job last = job_of(3, 4);  // FSDP's no_sync
  last.layout.sync_every_microbatch = false;
  EXPECT_EQ(sent_bytes(last), 4 * pass(2 * (2 * parameters - head), 16) + pass(4 * parameters, 16));
}

TEST(BytesSent, FollowPrecisionAndResharding) {
  const Bytes parameters = job_of(0, 1).model.parameters();
  Job narrow = job_of(0, 1);
  narrow.training.gradient_precision = narrow.training.reduction_precision = "bf16";
  EXPECT_EQ(sent_bytes(narrow), 2 * pass(2 * parameters, 16));
  Job kept = job_of(3, 1);
  kept.layout.reshard_after_forward = false;
  EXPECT_EQ(sent_bytes(kept), pass(4 * parameters, 16) + pass(2 * parameters, 16));
}

// Adapters of rank 8 beside QKV: 8 (64 + 128) in each of 3 layers; nothing else has a gradient.
TEST(BytesSent, OfAdaptersAreThoseOfWhatIsTrained) {
  for (const int stage : {0, 1, 2, 3}) {
    Job job = job_of(stage, 1);
    job.model.adapters = Adapters{8, true, false, false, false};
    const Bytes trained = 3 * 8 * (64 + 128);
    const Bytes gradients = (stage == 0 ? 2 : 1) * pass(4 * trained, 16);
    const Bytes gathers =
        stage == 0  ? 0
        : stage < 3 ? pass(2 * trained, 16)
                    : pass(2 * (2 * job.model.parameters() - job.model.head_parameters()), 16);
    EXPECT_EQ(sent_bytes(job), gradients + gathers) << "stage " << stage;
  }
}

// Sharded inside a unit of 4, replicated over 4 units: a shard's gradient is all-reduced across.
TEST(BytesSent, OfHybridShardingAreInsideAndAcross) {
  const Bytes parameters = job_of(0, 1).model.parameters();
  const Bytes head = job_of(0, 1).model.head_parameters();
  for (const int stage : {1, 2, 3}) {
    Job job = job_of(stage, 1);
    job.layout.shard = 4;
    const Bytes gathers = stage == 3 ? 2 * (2 * parameters - head) : 2 * parameters;
    EXPECT_EQ(sent_bytes(job),
              pass(gathers, 4) + pass(4 * parameters, 4) + 2 * pass(4 * parameters / 4, 4))
        << "stage " << stage;
  }
}

TEST(Overlap, OffIsNeverFasterAndMovesTheSameBytes) {
  for (const int stage : {0, 1, 2, 3}) {
    Job on = job_of(stage, 2);
    on.engine.fidelity = Fidelity::analytic;
    Job off = on;
    off.layout.overlap_grad_reduce = off.layout.overlap_param_gather = false;
    const RunResult with = simulate_all({on}).front();
    const RunResult without = simulate_all({off}).front();
    EXPECT_LE(with.step_time, without.step_time * (1 + 1e-12)) << "stage " << stage;
    EXPECT_EQ(sent_bytes(on), sent_bytes(off));
    // Nothing is hidden where nothing overlaps: the step is the sum.
    EXPECT_NEAR(without.overlapped, 0, 1e-12 * without.step_time);
  }
}

TEST(Buckets, HoldEveryGradientOnceAndCloseWhenFull) {
  const Job job = job_of(0, 1);
  Plan plan;
  const ModelParts parts = time_parts(job, 0, 1, plan);
  for (const bool dynamic : {true, false}) {
    const auto buckets = gradient_buckets(parts, Held::by_replicas, 10'000, 500, dynamic);
    uint64_t sum = 0;
    for (size_t i = 0; i < buckets.size(); ++i) {
      sum += buckets[i].parameters;
      if (i > 0 && i + 1 < buckets.size()) {
        EXPECT_GE(buckets[i].parameters, 10'000U);
      }
      // Registered order: the norm of a layer comes first in its bucket and is complete last.
      EXPECT_TRUE(dynamic || buckets[i].operation + 1 == parts.at(buckets[i].part).backward.size());
    }
    EXPECT_EQ(sum, job.model.parameters());
  }
  uint64_t gathered = 0;
  for (const ParameterBucket& bucket : parameter_buckets(parts, Held::by_replicas, 10'000))
    gathered += bucket.parameters;
  EXPECT_EQ(gathered, job.model.parameters());
}

TEST(SplitAxes, CutsOneAxisAndKeepsEveryRankOnce) {
  const std::vector<Axis> axes = {{"a", 1, 4}, {"b", 4, 18}, {"c", 72, 2}};
  const auto [inner, outer] = split_axes(axes, 12);
  ASSERT_EQ(inner.size(), 2U);
  EXPECT_EQ(inner[1].size, 3U);
  ASSERT_EQ(outer.size(), 2U);
  EXPECT_EQ(outer[0].stride, 12U);
  EXPECT_EQ(outer[0].size, 6U);
  EXPECT_THROW(split_axes(axes, 5), std::invalid_argument);
  EXPECT_THROW(split_axes(axes, 16), std::invalid_argument);
  EXPECT_NO_THROW(split_axes(axes, 144));
}

}  // namespace
}  // namespace trnsim::test
