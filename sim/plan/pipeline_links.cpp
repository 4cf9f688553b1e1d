#include "plan/pipeline_links.h"

#include <string>
#include <utility>

#include "plan/groups.h"
#include "plan/passes.h"
#include "plan/training_parts.h"
#include "workload/stages.h"

namespace trnsim {
namespace {

constexpr Bytes bf16 = 2;

// `shift` further along the axis, from one coordinate alone.
Pattern from_one(const Axis& axis, Rank coordinate, Rank shift) {
  return {axis, {shift}, [axis, coordinate](Rank rank, Rank) -> std::optional<Rank> {
            return axis.coordinate(rank) == coordinate ? std::optional<Rank>(0) : std::nullopt;
          }};
}

// Between the first and the last coordinate, both ways.
Pattern between_ends(const Axis& axis) {
  Pattern made{axis, {1}, [axis](Rank rank, Rank shift) -> std::optional<Rank> {
                 const Rank at = axis.coordinate(rank);
                 const bool sends =
                     (at == 0 && shift == axis.size - 1) || (at == axis.size - 1 && shift == 1);
                 return sends ? std::optional<Rank>(0) : std::nullopt;
               }};
  if (axis.size > 2) made.shifts.push_back(axis.size - 1);
  return made;
}

StreamId add_stream(Plan& plan, const std::string& name) {
  plan.streams.push_back(name);
  return static_cast<StreamId>(plan.streams.size() - 1);
}

}  // namespace

PipelineLinks::PipelineLinks(const Job& job, Plan& plan)
    : stages_(job.layout.pipeline),
      chunks_(job.layout.pipeline * job.layout.virtual_stages),
      axis_(pipeline_axis(job.layout)) {
  if (stages_ == 1) return;
  const Layout& layout = job.layout;
  whole_bytes_ = bf16 * job.training.micro_batch * job.training.sequence_length / layout.context *
                 job.model.hidden;
  const bool split = layout.sequence_parallel || layout.scatter_gather;
  bytes_ = split ? divide_up(whole_bytes_, layout.tensor) : whole_bytes_;
  name_ = name_index(plan, "send_recv");
  add_direction(false, plan);
  add_direction(true, plan);
  if (copies_embedding(job.model, layout)) add_embedding(job, plan);
}

void PipelineLinks::add_direction(bool backward, Plan& plan) {
  Direction& made = directions_[backward ? 1 : 0];
  const auto stages = static_cast<Rank>(stages_);
  for (Rank stage = 0; stage < stages; ++stage) {
    if (stage + 1 == stages && chunks_ == stages_) break;  // nothing goes round
    made.patterns.push_back(static_cast<PatternId>(plan.patterns.size()));
    plan.patterns.push_back(backward ? from_one(axis_, (stage + 1) % stages, stages - 1)
                                     : from_one(axis_, stage, 1));
  }
  const std::string what = backward ? "activation gradients" : "activations";
  for (const bool sends : {true, false}) {
    const std::string op = sends ? "send" : "receive";
    made.streams[sends ? 0 : 1] = add_stream(plan, op + ' ' + what);
    made.collectives[sends ? 0 : 1] = static_cast<CollectiveId>(plan.collectives.size());
    plan.collectives.push_back(
        {op, what, "pipeline", "direct", 2, bytes_, sends ? bytes_ : Bytes{0}, 1});
  }
}

void PipelineLinks::add_embedding(const Job& job, Plan& plan) {
  const Architecture shard = rank_shard(job.model, job.layout);
  Bytes bytes = job.training.reduction_bytes() * shard.vocabulary * shard.hidden;
  if (job.layout.zero_stage == 3) bytes = divide_up(bytes, job.layout.shard);
  embedding_.pattern = static_cast<PatternId>(plan.patterns.size());
  embedding_.bytes = divide_up(bytes, 2);
  embedding_.posted = true;
  plan.patterns.push_back(between_ends(axis_));
  embedding_sum_ = Reduction{job.system.chip.reduction_rate,
                             static_cast<Bytes>(job.system.chip.reduction_chunk.value)}
                       .tail(embedding_.bytes, 1);
  embedding_collective_ = static_cast<CollectiveId>(plan.collectives.size());
  plan.collectives.push_back({"all_reduce", "embedding gradients", "embedding", "direct", 2, bytes,
                              2 * embedding_.bytes, 1});
}

Name PipelineLinks::received(size_t pass) {
  return {Name::What::received, static_cast<int32_t>(pass)};
}
Name PipelineLinks::sent(size_t pass) { return {Name::What::sent, static_cast<int32_t>(pass)}; }

// Whether a pass sends what it ends with, or receives what it begins with.
bool PipelineLinks::crosses(uint64_t stage, const Pass& pass, bool sends) const {
  const uint64_t chunk = pass.chunk * stages_ + stage;  // in the model's order
  return sends != pass.backward ? chunk + 1 < chunks_ : chunk > 0;
}

Position PipelineLinks::add(uint64_t stage, const Pass& pass, bool sends,
                            std::vector<Position> after, Unrolled& program) const {
  const Direction& direction = directions_[pass.backward ? 1 : 0];
  // Backward what a stage receives comes over the boundary that it sends over forward.
  const uint64_t boundary = sends != pass.backward ? stage : (stage + stages_ - 1) % stages_;
  Exchange exchange;
  exchange.pattern = direction.patterns.at(boundary);
  exchange.bytes = exchange.payload = bytes_;
  exchange.posted = true;
  Step step;
  step.stream = direction.streams[sends ? 0 : 1];
  step.work = exchange;
  step.after = std::move(after);
  step.label.kind = Label::Kind::collective;
  step.label.name = name_;
  step.label.microbatch = static_cast<int32_t>(pass.microbatch);
  step.label.collective = static_cast<int32_t>(direction.collectives[sends ? 0 : 1]);
  step.label.first_of_collective = step.label.last_of_collective = true;
  return program.add(std::move(step));
}

void PipelineLinks::receive(uint64_t stage, const std::vector<Pass>& passes, size_t pass,
                            std::vector<Position> after, Unrolled& program) const {
  if (stages_ == 1 || pass >= passes.size() || !crosses(stage, passes[pass], false)) return;
  program.publish(received(pass), add(stage, passes[pass], false, std::move(after), program));
}

void PipelineLinks::send(uint64_t stage, const std::vector<Pass>& passes, size_t pass,
                         Position computed, Unrolled& program) const {
  if (stages_ == 1 || !crosses(stage, passes[pass], true)) return;
  program.publish(sent(pass), add(stage, passes[pass], true, {computed}, program));
}

std::vector<Position> PipelineLinks::sum_embedding(uint64_t stage, std::vector<Position> after,
                                                   Unrolled& program) const {
  if (!embedding_collective_ || (stage > 0 && stage + 1 < stages_)) return after;
  // Each sums its half, then they swap the sums.
  for (const bool sums : {true, false}) {
    Step step;
    step.stream = directions_[0].streams[0];
    Exchange exchange = embedding_;
    exchange.reduces = sums;
    exchange.reduction = sums ? embedding_sum_ : 0;
    step.work = exchange;
    step.after = std::move(after);
    step.label.kind = Label::Kind::collective;
    step.label.name = name_;
    step.label.collective = static_cast<int32_t>(*embedding_collective_);
    step.label.first_of_collective = sums;
    step.label.last_of_collective = !sums;
    after = {program.add(std::move(step))};
  }
  return after;
}

}  // namespace trnsim
