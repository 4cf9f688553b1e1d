// Tensor, pipeline and context parallelism against the formulas of the papers that describe them.

#include <gtest/gtest.h>

#include <map>

#include "fixtures.h"
#include "plan/groups.h"
#include "plan/training_step.h"
#include "result/simulate.h"
#include "workload/activations.h"
#include "workload/schedule.h"
#include "workload/stages.h"

namespace trnsim::test {
namespace {

// Four layers whose every dimension four ranks divide; two key and value heads.
Job job_of(Layout layout, uint64_t microbatches, System system) {
  Job job = small_job(system);
  job.model = {"even", 4, 64, 8, 4, 16, 128, true, 128, false};
  layout.reduce_bucket = layout.gather_bucket = {0, 1'000'000'000, 0};
  layout.sync_every_microbatch = false;
  job.layout = layout;
  job.training.global_batch = layout.data * microbatches;
  return job;
}

Layout split(uint64_t tensor, uint64_t context, uint64_t pipeline, uint64_t data) {
  Layout made;
  made.tensor = tensor;
  made.context = context;
  made.pipeline = pipeline;
  made.data = data;
  return made;
}

// Bytes that one rank of a stage sends in a step, by the group of its collectives.
std::map<std::string, Bytes> sent_by_group(const Job& job, uint32_t stage = 0) {
  const Plan plan = training_step(job);
  Unrolled program(plan.programs.at(stage), plan.streams.size());
  while (program.unroll()) {
  }
  std::map<std::string, Bytes> sent;
  for (Position at = 0; at < program.end(); ++at) {
    const Step& step = program.step(at);
    const auto* exchange = std::get_if<Exchange>(&step.work);
    if (exchange == nullptr) continue;
    const Collective& of = plan.collectives.at(static_cast<size_t>(step.label.collective));
    if (of.op == "receive") continue;
    const Pattern& pattern = plan.patterns[exchange->pattern];
    size_t peers = pattern.shifts.size();
    if (of.group == "embedding") peers = 1;
    sent[of.op == "send" ? of.what : of.group] += exchange->bytes * exchange->hops * peers;
  }
  return sent;
}

constexpr Bytes bf16 = 2;
constexpr Bytes tokens = 32;
constexpr Bytes hidden = bf16 * tokens * 64;  // of one microbatch's activations

// Narayanan et al., arXiv:2104.04473, section 3.2: 8 b s h (t - 1) / t elements for each layer and
// microbatch. To these come the sums of the embedding's output and of the input's gradient of the
// logits (Shoeybi et al., arXiv:1909.08053, section 3), and three numbers a token of the loss.
TEST(TensorParallel, SendsThePublishedBytes) {
  for (const uint64_t t : {2, 4}) {
    for (const uint64_t microbatches : {1, 3}) {
      const Job job = job_of(split(t, 1, 1, 8 / t), microbatches, one_switch(8, 1e9, 1e-6));
      const Bytes layers = 4 * 8 * (hidden / bf16) * (t - 1) / t * bf16;
      const Bytes ends = 2 * 2 * hidden * (t - 1) / t;
      const Bytes loss = 3 * 2 * 4 * tokens * (t - 1) / t;
      EXPECT_EQ(sent_by_group(job)["tensor"], microbatches * (layers + ends + loss));
    }
  }
}

// Korthikanti et al., arXiv:2205.05198, section 4.2.2: a gather and a scatter in place of each sum,
// the same bytes, and in the backward pass the inputs of both columns of products again. At the
// ends of a step the norms' gradients are summed.
TEST(SequenceParallel, SendsThePublishedBytes) {
  const uint64_t t = 4;
  Layout layout = split(t, 1, 1, 2);
  layout.sequence_parallel = true;
  const Job job = job_of(layout, 1, one_switch(8, 1e9, 1e-6));
  const Bytes pass = hidden * (t - 1) / t;
  const Bytes layers = 4 * (8 + 2) * pass;
  const Bytes ends = 2 * pass + 3 * pass;  // embedding; logits, whose input is gathered again
  const Bytes loss = 3 * 2 * 4 * tokens * (t - 1) / t;
  const Bytes norms = 2 * 4 * (4 * 2 + 1) * 64 * (t - 1) / t;
  EXPECT_EQ(sent_by_group(job)["tensor"], layers + ends + loss + norms);
}

// What each rank of a stage holds, added up, is the model, but for what all ranks of tensor hold
// whole: norms.
TEST(Stages, HoldTheModelOnce) {
  const Architecture model = job_of({}, 1, one_switch(8, 1e9, 0)).model;
  const uint64_t norms = (4 * 2 + 1) * 64;
  for (const uint64_t t : {1, 2, 4}) {
    for (const uint64_t p : {1, 2, 4}) {
      const Layout layout = split(t, 1, p, 1);
      uint64_t sum = 0;
      for (uint64_t stage = 0; stage < p; ++stage)
        sum += t * stage_parameters(rank_shard(model, layout), layout, stage);
      EXPECT_EQ(sum, model.parameters() + (t - 1) * norms) << t << " x " << p;
    }
  }
}

// Llama 3 405B: 126 layers on 16 stages, of which the first and the last have one less
// (arXiv:2407.21783, section 3.3.2).
TEST(Stages, CountTheirEnds) {
  Job job = job_of(split(1, 1, 16, 1), 1, one_switch(16, 1e9, 0));
  job.model.layers = 126;
  ASSERT_TRUE(misfit(job.model, job.training, job.layout));
  job.layout.ends_count = true;
  ASSERT_FALSE(misfit(job.model, job.training, job.layout));
  uint64_t layers = 0;
  for (uint64_t stage = 0; stage < 16; ++stage) {
    const Chunk of = chunk_of(job.model, job.layout, stage, 0);
    EXPECT_EQ(of.first_layer, layers);
    EXPECT_EQ(of.layers, stage == 0 || stage == 15 ? 7U : 8U);
    layers += of.layers;
  }
  EXPECT_EQ(layers, 126U);
}

// A pipeline sends b s h elements a microbatch over each boundary and direction (arXiv:2104.04473,
// section 3.2), with sequence parallelism 1 / t of them.
TEST(Pipeline, SendsThePublishedBytes) {
  Layout layout = split(2, 1, 4, 1);
  const System system = one_switch(8, 1e9, 1e-6);
  for (const bool sequence : {false, true}) {
    layout.sequence_parallel = sequence;
    const Bytes each = hidden / (sequence ? 2 : 1);
    for (uint32_t stage = 0; stage < 4; ++stage) {
      auto sent = sent_by_group(job_of(layout, 5, system), stage);
      EXPECT_EQ(sent["activations"], stage < 3 ? 5 * each : 0);
      EXPECT_EQ(sent["activation gradients"], stage > 0 ? 5 * each : 0);
    }
  }
}

// Gradients are summed over data x context; the four kinds of context parallelism's messages, a
// layer and microbatch: of a ring both keys and values to the next, c - 1 times, backward with
// gradients and these once more home (arXiv:2310.01889); of a gather keys and values of all forward
// and backward, and their gradients back (arXiv:2407.21783, section 3.3.2); of Ulysses four
// exchanges of a rank's queries, keys, values and output forward, and as many backward
// (arXiv:2309.14509, section 3.2).
TEST(ContextParallel, SendsThePublishedBytes) {
  const uint64_t c = 4;
  const System system = one_switch(8, 1e9, 1e-6);
  const Bytes keys_values = 2 * bf16 * (tokens / c) * 4 * 16;  // of one rank
  const Bytes queries = bf16 * (tokens / c) * 8 * 16;
  Layout layout = split(1, c, 1, 2);
  layout.context_method = ContextMethod::ring;
  EXPECT_EQ(sent_by_group(job_of(layout, 1, system))["context"],
            4 * keys_values * ((c - 1) + 2 * (c - 1) + 1));
  layout.context_method = ContextMethod::all_gather;
  EXPECT_EQ(sent_by_group(job_of(layout, 1, system))["context"], 4 * 3 * (c - 1) * keys_values);
  layout.context_method = ContextMethod::ulysses;
  EXPECT_EQ(sent_by_group(job_of(layout, 1, system))["context"],
            4 * 2 * (2 * queries + keys_values) * (c - 1) / c);
  const Job job = job_of(layout, 1, system);
  EXPECT_EQ(sent_by_group(job)["data"], 2 * 4 * job.model.parameters() * 7 / 8);
}

// Layers that take all the time, and nothing else any.
Job equal_stages(uint64_t pipeline, uint64_t microbatches, Schedule schedule, uint64_t chunks) {
  System system = one_switch(static_cast<Rank>(pipeline), 1e30, 0);
  system.chip.hbm_bandwidth = exactly(1e40);
  system.chip.hbm_capacity = exactly(1e18);
  Layout layout = split(1, 1, pipeline, 1);
  layout.schedule = schedule;
  layout.virtual_stages = chunks;
  Job job = job_of(layout, microbatches, system);
  job.model.layers = pipeline * chunks * 2;
  job.model.ffn = 10'000'000'000'000;
  job.model.vocabulary = 1;
  return job;
}

// Huang et al., arXiv:1811.06965; Narayanan et al., arXiv:2104.04473, section 2.2: of the ideal
// time the bubble is (p - 1) / m, so (p - 1) / (m + p - 1) of the step; interleaved (p - 1) / (v
// m).
TEST(Pipeline, HasThePublishedBubble) {
  for (const auto& [schedule, chunks] : {std::pair{Schedule::gpipe, 1},
                                         {Schedule::one_f_one_b, 1},
                                         {Schedule::interleaved, 2},
                                         {Schedule::interleaved, 3}}) {
    for (const uint64_t p : {2, 4, 5}) {
      for (const uint64_t m : {p, 2 * p, 4 * p}) {
        for (const Fidelity fidelity : {Fidelity::message, Fidelity::analytic}) {
          Job job = equal_stages(p, m, schedule, static_cast<uint64_t>(chunks));
          job.engine.fidelity = fidelity;
          const RunResult run = simulate_all({job}).front();
          const double ideal = run.breakdown.compute;
          const double bubble = static_cast<double>(p - 1) / static_cast<double>(chunks * m);
          EXPECT_NEAR(run.step_time, ideal * (1 + bubble), 1e-9 * ideal) << p << ' ' << m;
          EXPECT_NEAR(run.breakdown.bubble, ideal * bubble, 1e-9 * ideal);
          EXPECT_NEAR(run.free_communication, run.step_time, 1e-9 * ideal);
        }
      }
    }
  }
}

// Where no two messages share a link, the closed forms are what is simulated.
TEST(Fidelities, AgreeWhereNothingContends) {
  const auto expect_equal = [](const Layout& layout, Rank chips) {
    Job job = job_of(layout, 4, one_switch(chips, 1e9, 1e-6));
    job.layout.zero_stage = 0;
    std::vector<Job> jobs(3, job);
    jobs[1].engine.fidelity = Fidelity::phase;
    jobs[2].engine.fidelity = Fidelity::analytic;
    const std::vector<RunResult> runs = simulate_all(jobs);
    EXPECT_NEAR(runs[1].step_time, runs[0].step_time, 1e-9 * runs[0].step_time);
    EXPECT_NEAR(runs[2].step_time, runs[0].step_time, 1e-9 * runs[0].step_time);
  };
  for (const bool on : {false, true}) {
    Layout tensor = split(4, 1, 1, 2);
    tensor.sequence_parallel = on;
    tensor.overlap_grad_reduce = false;
    expect_equal(tensor, 8);
    Layout pipeline = split(1, 1, 2, 1);
    pipeline.overlap_p2p = on;
    expect_equal(pipeline, 2);
    pipeline.schedule = Schedule::gpipe;
    expect_equal(pipeline, 2);
  }
  for (const ContextMethod method :
       {ContextMethod::ring, ContextMethod::all_gather, ContextMethod::ulysses}) {
    Layout context = split(1, 4, 1, 2);
    context.context_method = method;
    context.overlap_grad_reduce = false;
    expect_equal(context, 8);
  }
}

// The most forward passes whose backward pass has not run.
uint64_t in_flight(const Layout& layout, uint64_t stage, uint64_t microbatches) {
  uint64_t now = 0;
  uint64_t most = 0;
  for (const Pass& pass : schedule(layout, stage, microbatches)) {
    now += pass.backward ? -1 : 1;
    most = std::max(most, now);
  }
  EXPECT_EQ(now, 0U);
  return most;
}

// arXiv:2104.04473, section 2.2: all microbatches of GPipe, as many as stages follow and one of
// 1F1B; interleaved (1 + (p - 1) / (p v)) p on the first stage (arXiv:2205.05198, section 4.2.3).
TEST(Schedule, HasThePublishedPassesInFlight) {
  Layout layout = split(1, 1, 4, 1);
  for (uint64_t stage = 0; stage < 4; ++stage) {
    layout.schedule = Schedule::gpipe;
    EXPECT_EQ(in_flight(layout, stage, 12), 12U);
    layout.schedule = Schedule::one_f_one_b;
    EXPECT_EQ(in_flight(layout, stage, 12), 4 - stage);
    EXPECT_EQ(in_flight(layout, stage, 2), std::min<uint64_t>(2, 4 - stage));
  }
  layout.schedule = Schedule::interleaved;
  layout.virtual_stages = 3;
  EXPECT_EQ(in_flight(layout, 0, 12), 4 * 3 + 4 - 1U);
}

// Sequence parallelism leaves a rank 1 / t of what a layer keeps (arXiv:2205.05198, table 2), with
// tensor parallelism alone the inputs of norms and of both columns of products stay whole.
TEST(Activations, ArePublishedPartsOfTheWhole) {
  const Job job = job_of({}, 1, one_switch(8, 1e9, 0));
  Layout layout = split(4, 1, 1, 2);
  const Architecture shard = rank_shard(job.model, layout);
  const Bytes whole = layer_activation_bytes(job.model, job.training);
  EXPECT_EQ(layer_activation_bytes(shard, job.training, layout),
            4 * hidden + (whole - 4 * hidden) / 4);
  layout.sequence_parallel = true;
  EXPECT_EQ(layer_activation_bytes(shard, job.training, layout), whole / 4);
}

TEST(Order, SaysWhichRanksAreNeighbours) {
  Layout layout = split(2, 3, 5, 4);
  EXPECT_EQ(layout.stride(Split::tensor), 1U);
  EXPECT_EQ(layout.stride(Split::context), 2U);
  EXPECT_EQ(layout.stride(Split::data), 6U);
  EXPECT_EQ(layout.stride(Split::pipeline), 24U);
  layout.order = {Split::pipeline, Split::data, Split::tensor, Split::context};
  EXPECT_EQ(layout.stride(Split::tensor), 20U);
  EXPECT_EQ(layout.stage_of(7), 2U);
}

// On a unit of 4 x 2 chips and 3 units.
TEST(GroupAxes, LieAlongTheFabricWhereTheyCan) {
  System system = one_switch(4, 1e9, 1e-6);
  system.scale_up.push_back(dimension("plane", FabricDimension::Kind::switched, 2, 1e9, 1e-6));
  system.units = 3;
  const auto named = [&](Rank stride, Rank count) {
    std::string text;
    for (const Axis& axis : group_axes(system, stride, count))
      text += axis.name + ' ' + std::to_string(axis.stride) + 'x' + std::to_string(axis.size) + ' ';
    return text;
  };
  EXPECT_EQ(named(1, 8), "switch 1x4 plane 4x2 ");
  EXPECT_EQ(named(2, 4), "switch 2x2 plane 4x2 ");
  EXPECT_EQ(named(4, 6), "plane 4x2 network 8x3 ");
  EXPECT_EQ(named(1, 3), "ranks 1x3 ");
}

}  // namespace
}  // namespace trnsim::test
