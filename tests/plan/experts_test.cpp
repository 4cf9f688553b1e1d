// Mixtures of experts: what is computed, exchanged and held, against formulas and published counts.

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "fixtures.h"
#include "plan/cost.h"
#include "plan/groups.h"
#include "plan/training_step.h"
#include "result/estimate.h"
#include "result/simulate.h"
#include "workload/activations.h"
#include "workload/load.h"
#include "workload/memory.h"
#include "workload/stages.h"

namespace trnsim::test {
namespace {

constexpr uint64_t layers = 4;
constexpr Bytes bf16 = 2;
constexpr Bytes tokens = 32;

// Four layers of 64, of which the first is dense; the others send each token to 2 of 8 experts.
Job job_of(Layout layout, uint64_t microbatches, System system) {
  Job job = small_job(system);
  job.model = {"mixture", layers, 64, 8, 4, 16, 128, true, 128, false};
  job.model.experts = Experts{8, 8, 2, 32, 16, 1, false};
  layout.reduce_bucket = layout.gather_bucket = {0, 1'000'000'000, 0};
  layout.sync_every_microbatch = false;
  if (layout.zero_stage > 0) layout.shard = layout.replicas();
  job.layout = layout;
  job.training.global_batch = layout.data * microbatches;
  EXPECT_FALSE(misfit(job.model, job.training, job.layout).has_value());
  return job;
}

Layout split(uint64_t expert, uint64_t data, uint64_t tensor = 1, uint64_t pipeline = 1) {
  Layout made;
  made.expert = expert;
  made.data = data;
  made.tensor = made.expert_tensor = tensor;
  made.pipeline = pipeline;
  made.sequence_parallel = tensor > 1;
  return made;
}

// Bytes that one rank of the first stage sends in a step, by what they are.
std::map<std::string, Bytes> sent(const Job& job) {
  const Plan plan = training_step(job);
  Unrolled program(plan.programs.front(), plan.streams.size());
  while (program.unroll()) {
  }
  std::map<std::string, Bytes> bytes;
  for (Position at = 0; at < program.end(); ++at) {
    const Step& step = program.step(at);
    const auto* exchange = std::get_if<Exchange>(&step.work);
    if (exchange == nullptr) continue;
    const Collective& of = plan.collectives.at(static_cast<size_t>(step.label.collective));
    bytes[of.what] +=
        exchange->bytes * exchange->hops * plan.patterns[exchange->pattern].shifts.size();
  }
  return bytes;
}

// FLOPs of a token, forward and backward, as lists of published runs count them:
// 6 [L (2 H h d + 2 H k d) + MLP + V H] + 6 L s h d, of experts those that a token meets, and the
// router. The figures were computed from that formula by others, for published configurations.
TEST(Experts, OfPublishedModelsNeedThePublishedFlops) {
  EXPECT_NEAR(load_workload("deepseek-v3.json").model_flops_per_token(4096), 250449887232.0, 1);
  EXPECT_NEAR(load_workload("gpt-oss-120b.json").model_flops_per_token(4096), 34410479616.0, 1);
  EXPECT_NEAR(load_workload("gpt-oss-120b.json").model_flops_per_token(8192), 38034358272.0, 1);
  EXPECT_NEAR(load_workload("qwen3-235b-a22b.json").model_flops_per_token(4096), 148330512384.0, 1);
  EXPECT_NEAR(load_workload("qwen3-30b-a3b.json").model_flops_per_token(4096), 23081779200.0, 1);
}

// arXiv:2412.19437: 671 billion parameters.
TEST(Experts, OfDeepSeekAreCounted) {
  EXPECT_EQ(load_workload("deepseek-v3.json").parameters(), 671'026'404'352);
}

// A rank sends all but 1 / E of its copies of tokens, to their experts and back, forward and
// backward, of each microbatch and each layer that has experts.
TEST(Experts, ExchangeEachCopyOfEachTokenFourTimes) {
  for (const uint64_t expert : {2, 4, 8})
    for (const uint64_t microbatches : {1, 3}) {
      const Job job = job_of(split(expert, 8), microbatches, one_switch(8, 1e9, 1e-6));
      const Bytes copies = bf16 * tokens * 64 * 2 * (expert - 1) / expert;
      std::map<std::string, Bytes> bytes = sent(job);
      EXPECT_EQ(bytes["tokens"], (layers - 1) * microbatches * copies);
      EXPECT_EQ(bytes["tokens gradient"], (layers - 1) * microbatches * copies);
      EXPECT_EQ(bytes["results of experts"], (layers - 1) * microbatches * copies);
      EXPECT_EQ(bytes["results of experts gradient"], (layers - 1) * microbatches * copies);
    }
}

// ZeRO-1: all gradients are scattered over the ranks that hold the same parameters, and those are
// gathered: (n - 1) / n of each, of experts over 8 / E ranks, of the rest over 8.
TEST(Experts, GradientsAreSummedOverTheRanksThatHoldThem) {
  for (const uint64_t expert : {1, 2, 4, 8}) {
    Layout layout = split(expert, 8);
    layout.zero_stage = 1;
    const Job job = job_of(layout, 1, one_switch(8, 1e9, 1e-6));
    const uint64_t routed = (layers - 1) * 8 / expert * 3 * 64 * 32;
    const uint64_t all = rank_shard(job.model, job.layout).parameters();
    EXPECT_EQ(rank_shard(job.model, job.layout).routed_parameters() * (layers - 1), routed);
    const uint64_t rest = expert == 1 ? all : all - routed;
    const Bytes gradient = job.training.reduction_bytes();
    const uint64_t holders = 8 / expert;
    std::map<std::string, Bytes> bytes = sent(job);
    EXPECT_EQ(bytes["gradient bucket"], gradient * rest * 7 / 8);
    EXPECT_EQ(bytes["parameter bucket"], bf16 * rest * 7 / 8);
    if (expert == 1) continue;
    EXPECT_EQ(bytes["expert gradient bucket"], gradient * routed * (holders - 1) / holders);
    EXPECT_EQ(bytes["expert parameter bucket"], bf16 * routed * (holders - 1) / holders);
  }
}

// All that the ranks of a group hold of the experts is all experts, once.
TEST(Experts, AreHeldOnce) {
  const Architecture model = job_of(split(1, 8), 1, one_switch(8, 1e9, 0)).model;
  for (const uint64_t expert : {1, 2, 4, 8})
    EXPECT_EQ(expert * rank_shard(model, split(expert, 8)).routed_parameters(),
              model.routed_parameters());
}

// With one expert that every token meets and nothing to route, the layer is a dense one and what
// moves tokens about.
TEST(Experts, OneForAllIsADenseLayer) {
  Job one = job_of(split(1, 1), 1, one_switch(1, 1e9, 0));
  one.model.experts = Experts{1, 1, 1, 128, 0, 0, false};
  const Architecture dense = one.model.dense();
  EXPECT_EQ(one.model.layer_parameters(), dense.layer_parameters() + 64);
  const auto flops = [&](const Architecture& model) {
    double sum = 0;
    for (const PartOperations& part : model_operations(model, one.training))
      for (const Operation& op : part.forward)
        if (op.name != "router") sum += static_cast<double>(part.repeats) * op.flops;
    return sum;
  };
  EXPECT_DOUBLE_EQ(flops(one.model), flops(dense));
}

// The rank whose experts get more than the mean computes and sends so much more.
TEST(Experts, OfTheBusiestRankDecide) {
  Job job = job_of(split(8, 8), 1, one_switch(8, 1e9, 1e-6));
  const Bytes balanced = sent(job)["tokens"];
  job.training.expert_imbalance = 1.5;
  EXPECT_EQ(2 * sent(job)["tokens"], 3 * balanced);
}

// Two units of 4: of 2 experts of a token, each anywhere, are on 2 (1 - 1/4) = 1.5 of the units.
TEST(Experts, DeduplicatedTokensCrossOnceForEachUnit) {
  System system = one_switch(4, 1e9, 1e-6);
  system.units = 2;
  system.scale_out.name = "network";
  system.scale_out.bandwidth = exactly(1e8);
  system.scale_out.efficiency = exactly(1);
  Layout layout = split(8, 8);
  layout.deduplicates_tokens = true;
  const Job job = job_of(layout, 1, system);
  const Plan plan = training_step(job);
  std::map<std::string, Bytes> of_group;
  for (const Collective& collective : plan.collectives)
    if (collective.what == "tokens") of_group[collective.group] = collective.bytes;
  EXPECT_EQ(of_group["experts inside a unit"], bf16 * tokens * 64 * 2);
  EXPECT_EQ(of_group["experts across units"], bf16 * tokens * 64 * 3 / 2);
}

// 6 of 12 chips in 2 units of 6, taken by 2: no dimension has them, so no unit can be told apart.
TEST(Experts, OfFlatGroupsAreNotDeduplicated) {
  const std::vector<Axis> flat{{"ranks", 2, 6}};
  EXPECT_TRUE(inside_and_across(one_switch(6, 1e9, 0), flat).second.empty());
}

struct Case {
  uint64_t expert, data, tensor, pipeline;
};

// Every mix folds to what the simulation of all ranks gives, whatever the fidelity.
TEST(Experts, FoldedIsUnfolded) {
  for (const Case& of :
       {Case{2, 8, 1, 1}, Case{8, 8, 1, 1}, Case{4, 4, 2, 1}, Case{2, 4, 1, 2}, Case{4, 2, 2, 2}})
    for (const Fidelity fidelity : {Fidelity::message, Fidelity::phase, Fidelity::analytic}) {
      SCOPED_TRACE(testing::Message() << of.expert << ' ' << of.data << ' ' << of.tensor << ' '
                                      << of.pipeline << ' ' << to_string(fidelity));
      Layout layout = split(of.expert, of.data, of.tensor, of.pipeline);
      layout.expert_tensor = 1;
      layout.zero_stage = 1;
      Job job = job_of(layout, 2, one_switch(8, 1e9, 1e-6));
      job.engine.fidelity = fidelity;
      job.engine.fold = true;
      Job plain = job;
      plain.engine.fold = false;
      const std::vector<RunResult> runs = simulate_all({job, plain});
      EXPECT_NEAR(runs[0].step_time / runs[1].step_time, 1, 1e-9);
      EXPECT_EQ(runs[0].engine.represented_messages, runs[1].engine.represented_messages);
    }
}

// Where nothing is beside anything the estimate is the analytic step.
TEST(Experts, EstimateIsTheAnalyticStep) {
  Job job = job_of(split(8, 8), 2, one_switch(8, 1e9, 1e-6));
  job.engine.fidelity = Fidelity::analytic;
  EXPECT_NEAR(estimated_step(job) / simulate(job).step_time, 1, 1e-9);
}

// By hand: 2 of 8 experts for each of 32 tokens, kept as input of an expert (64), gate and up (64),
// their product (32) and result (64), 2 bytes each; the shared expert keeps 3 x 16 a token.
TEST(Experts, ActivationsByHand) {
  const Job job = job_of(split(1, 1), 1, one_switch(1, 1e9, 0));
  Training training = job.training;
  training.recompute = Recompute::selective;
  Architecture without = job.model.dense();
  without.ffn = 16;
  EXPECT_EQ(layer_activation_bytes(job.model, training),
            layer_activation_bytes(without, training) + bf16 * tokens * 2 * (64 + 64 + 32 + 64));
}

TEST(Experts, SayWhichRuleAMixBreaks) {
  const Job job = job_of(split(1, 8), 1, one_switch(8, 1e9, 0));
  const auto why = [&](const Layout& layout) {
    const auto found = misfit(job.model, job.training, layout);
    return found ? found->key + ": " + found->why : "";
  };
  EXPECT_EQ(why(split(3, 9)), "expert: 3 does not divide experts (8)");
  EXPECT_EQ(why(split(8, 4)),
            "expert: 8 does not divide tensor / expert_tensor x context x data (4)");
  Layout tensor = split(2, 4, 2);
  tensor.sequence_parallel = false;
  EXPECT_EQ(
      why(tensor),
      "sequence_parallel: must be true where experts meet tensor (2), for each rank sends its "
      "own tokens");
  Layout sharded = split(2, 8);
  sharded.zero_stage = 3;
  EXPECT_EQ(why(sharded),
            "expert: 2 needs zero_stage 0, 1 or 2: ZeRO-3 of split experts is not described");
  Layout order = split(4, 4, 2);
  order.expert_tensor = 1;
  order.order = {Split::data, Split::tensor, Split::context, Split::pipeline};
  EXPECT_EQ(why(order), "expert: 4 needs an order in which tp, cp and dp follow each other");
  Layout broadcast = split(2, 8);
  broadcast.broadcast_parameters = true;
  EXPECT_EQ(why(broadcast),
            "broadcast_parameters: goes to all ranks of data, which do not hold the same experts "
            "(expert 2)");
  Architecture dense = job.model.dense();
  const auto found = misfit(dense, job.training, split(2, 8));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->why, "2: mixture has no experts");
}

}  // namespace
}  // namespace trnsim::test
