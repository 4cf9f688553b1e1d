// Plans of tensor x data x pipeline that no layout describes: stages differ in all that they may.

#include <algorithm>
#include <array>

#include "plan/collectives.h"
#include "random_jobs.h"
#include "workload/schedule.h"

namespace trnsim::test {
namespace {

constexpr StreamId tensor_stream = 1;
constexpr StreamId data_stream = 2;
constexpr StreamId first_link_stream = 3;  // send and receive forward, then backward

// What one stage does for each microbatch, and at the end of the step.
struct Stage {
  std::vector<Seconds> layers;
  Bytes activations = 0;  // that a layer's tensor all-reduce sums
  std::vector<Bytes> buckets;
};

struct Pipeline {
  Group tensor, data;
  Axis axis;
  std::array<std::vector<PatternId>, 2> boundaries;  // forward, backward; by the stage before
  Layout layout;
  uint64_t microbatches = 1;
  Bytes boundary_bytes = 0;
  Seconds spare = 0;  // of the optimizer
  std::vector<Stage> stages;
};

// At most `most`.
Rank any_divisor(Random& random, Rank of, Rank most) {
  std::vector<Rank> divisors;
  for (Rank n = 1; n <= std::min(of, most); ++n)
    if (of % n == 0) divisors.push_back(n);
  return divisors[random.from(0, static_cast<Rank>(divisors.size()) - 1)];
}

// Tensor, data and pipeline, the fastest in any place.
std::array<Axis, 3> random_axes(Random& random, Rank ranks) {
  std::array<Axis, 3> axes;
  axes[2] = {"pipeline", 1, any_divisor(random, ranks, 4)};
  axes[0] = {"tensor", 1, any_divisor(random, ranks / axes[2].size, 8)};
  axes[1] = {"data", 1, ranks / axes[2].size / axes[0].size};
  std::array<size_t, 3> order{0, 1, 2};
  for (unsigned i = 2; i > 0; --i) std::swap(order[i], order[random.from(0, i)]);
  Rank stride = 1;
  for (const size_t axis : order) {
    axes[axis].stride = stride;
    stride *= axes[axis].size;
  }
  return axes;
}

// Any, or one for whom all ranks are alike.
Algorithms some_algorithms(Random& random, const Axis& axis) {
  if (random.chance(2)) return random_algorithms(random, {axis});
  return {random.chance(2) ? Algorithm::ring : Algorithm::direct};
}

// Only the ranks of one stage send.
PatternId from_stage(Plan& plan, const Axis& axis, Rank stage, Rank shift) {
  plan.patterns.push_back({axis, {shift}, [axis, stage](Rank rank, Rank) -> std::optional<Rank> {
                             if (axis.coordinate(rank) != stage) return std::nullopt;
                             return 0;
                           }});
  return static_cast<PatternId>(plan.patterns.size() - 1);
}

// The k-th exchange of the sender on a boundary's pattern meets the k-th of the receiver.
Position cross(Unrolled& program, const Pipeline& of, Rank boundary, bool backward, bool sends,
               std::vector<Position> after) {
  Exchange exchange;
  exchange.pattern = of.boundaries[backward ? 1 : 0].at(boundary);
  exchange.bytes = exchange.payload = of.boundary_bytes;
  exchange.posted = true;
  Step step;
  step.stream = first_link_stream + (backward ? 2 : 0) + (sends ? 0 : 1);
  step.work = exchange;
  step.after = std::move(after);
  return program.add(std::move(step));
}

Position compute(Unrolled& program, Seconds seconds, std::vector<Position> after) {
  Step step;
  step.work = Compute{seconds};
  step.after = std::move(after);
  return program.add(std::move(step));
}

Position sum(Unrolled& program, const Group& group, Bytes bytes, StreamId stream,
             std::vector<Position> after) {
  CollectiveSteps steps;
  steps.stream = stream;
  steps.reduction = {200e9, 5000};
  return add_collective(program, group, CollectiveOp::all_reduce, bytes, steps, std::move(after));
}

// One pass of a stage: receive, compute each layer with its tensor all-reduce, send.
void write_pass(const Pipeline& of, Rank stage, const Pass& pass, Unrolled& program) {
  const Rank last = of.axis.size - 1;
  const bool backward = pass.backward;
  const Name before{Name::What::computed, 0};
  std::vector<Position> ready;
  if (program.has(before)) ready.push_back(program.at(before));
  if (backward ? stage < last : stage > 0)
    ready.push_back(cross(program, of, backward ? stage : stage - 1, backward, false, ready));
  for (const Seconds layer : of.stages[stage].layers) {
    const Position computed = compute(program, layer * (backward ? 2 : 1), ready);
    ready = {sum(program, of.tensor, of.stages[stage].activations, tensor_stream, {computed})};
  }
  program.publish(before, ready.front());
  if (backward ? stage > 0 : stage < last)
    cross(program, of, backward ? stage - 1 : stage, backward, true, ready);
}

// Data-parallel buckets, beside what the optimizer does already.
void write_end(const Pipeline& of, Rank stage, Unrolled& program) {
  const Position done = program.at({Name::What::computed, 0});
  std::vector<Position> summed{compute(program, of.spare, {done})};
  for (const Bytes bucket : of.stages[stage].buckets)
    summed.push_back(sum(program, of.data, bucket, data_stream, {done}));
  compute(program, 5e-6, summed);
}

}  // namespace

Plan random_pipeline_plan(Random& random, const System& system) {
  Plan plan;
  plan.ranks = system.chips();
  plan.names = {"something"};
  plan.streams = {"compute",       "tensor",          "data", "send forward", "receive forward",
                  "send backward", "receive backward"};
  const auto [tensor, data, pipeline] = random_axes(random, plan.ranks);
  Pipeline of;
  of.axis = pipeline;
  of.tensor = make_group(plan, CollectiveOp::all_reduce, "tensor", {tensor},
                         some_algorithms(random, tensor));
  of.data =
      make_group(plan, CollectiveOp::all_reduce, "data", {data}, some_algorithms(random, data));
  for (Rank stage = 0; stage + 1 < pipeline.size; ++stage) {
    of.boundaries[0].push_back(from_stage(plan, pipeline, stage, 1));
    of.boundaries[1].push_back(from_stage(plan, pipeline, stage + 1, pipeline.size - 1));
  }
  of.layout.pipeline = pipeline.size;
  of.layout.schedule = random.chance(2) ? Schedule::gpipe : Schedule::one_f_one_b;
  of.microbatches = random.from(1, 4);
  of.boundary_bytes = random.from(1, 400'000);
  of.spare = random.from(0, 20) * 1e-6;
  const bool alike = random.chance(4);
  for (Rank stage = 0; stage < pipeline.size; ++stage) {
    Stage made;
    for (unsigned i = random.from(1, 3); i > 0; --i)
      made.layers.push_back(random.from(1, 9) * 3e-6);
    made.activations = random.from(1, 200'000);
    for (unsigned i = random.from(0, 3); i > 0; --i)
      made.buckets.push_back(random.from(1, 900'000));
    of.stages.push_back(alike && stage > 0 ? of.stages.front() : made);
  }
  for (Rank stage = 0; stage < pipeline.size; ++stage) {
    const std::vector<Pass> passes = schedule(of.layout, stage, of.microbatches);
    plan.programs.push_back({passes.size() + 1, [of, stage, passes](size_t block, Unrolled& steps) {
                               if (block < passes.size())
                                 write_pass(of, stage, passes[block], steps);
                               else
                                 write_end(of, stage, steps);
                             }});
  }
  plan.program_of = [pipeline](Rank rank) { return pipeline.coordinate(rank); };
  return plan;
}

}  // namespace trnsim::test
