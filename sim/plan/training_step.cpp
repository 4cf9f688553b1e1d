#include "plan/training_step.h"

#include <memory>
#include <utility>

#include "plan/data_parallel.h"
#include "plan/part_steps.h"
#include "plan/pipeline_links.h"
#include "workload/stages.h"

namespace trnsim {
namespace {

uint64_t parameters_held(const Job& job, uint64_t stage) {
  const bool sharded = job.layout.zero_stage > 0;
  const Architecture shard = rank_shard(job.model, job.layout);
  const uint64_t routed = routed_stage_parameters(shard, job.layout, stage);
  return divide_up(trained_stage_parameters(shard, job.layout, stage) - routed,
                   sharded ? job.layout.shard : 1) +
         divide_up(routed, sharded ? job.layout.expert_replicas() : 1);
}

// The parts of a stage; of each one operation a pass where their times are given.
ModelParts parts_of(const Job& job, uint64_t stage, const std::vector<PartTimes>& times,
                    Plan& plan) {
  ModelParts parts = time_parts(job, stage, parameters_held(job, stage), plan);
  if (times.empty()) return parts;
  for (ModelPart& part : parts.kinds) {
    const auto whole = [&](std::vector<TimedOperation>& operations, Seconds seconds) {
      TimedOperation one{seconds, name_index(plan, part.name)};
      for (const TimedOperation& of : operations) {
        one.parameters.insert(one.parameters.end(), of.parameters.begin(), of.parameters.end());
        one.routed.insert(one.routed.end(), of.routed.begin(), of.routed.end());
      }
      operations = {one};
    };
    whole(part.forward, times.at(part.entry).forward);
    const PartTimes& time = times.at(part.entry);
    whole(part.backward, time.backward + (part.recomputed ? time.again : 0));
  }
  return parts;
}

// Writes the blocks of one stage's training step. Never changes once made.
class StageWriter {
 public:
  StageWriter(const Job& job, uint64_t stage, std::shared_ptr<TrainingCollectives> collectives,
              std::shared_ptr<const PipelineLinks> links, const std::vector<PartTimes>& times,
              Plan& plan)
      : layout_(job.layout),
        stage_(stage),
        collectives_(std::move(collectives)),
        links_(std::move(links)),
        blocks_(job, stage, parts_of(job, stage, times, plan), !times.empty()),
        parallel_(job.layout.zero_stage == 3 ? make_fully_sharded(job, blocks_, *collectives_, plan)
                                             : make_bucketed(job, blocks_, *collectives_, plan)),
        broadcast_(job, stage, plan) {
    for (const ModelPart& part : blocks_.parts().kinds)
      for (const auto* operations : {&part.forward, &part.backward})
        announce(*operations, *collectives_, plan);
    if (layout_.scatter_gather)
      collectives_->announce(plan, CollectiveOp::all_gather, boundary, collectives_->tensor,
                             links_->whole_bytes());
    if (layout_.sequence_parallel && layout_.tensor > 1) {
      whole_gradients_ =
          job.training.reduction_bytes() * whole_parameters(job.model, layout_, stage);
      collectives_->announce(plan, CollectiveOp::all_reduce, norms, collectives_->tensor,
                             whole_gradients_);
    }
  }

  size_t blocks() const { return blocks_.count(); }

  void write(size_t block, Unrolled& program) const {
    if (block == 0) broadcast_.add(program);
    parallel_->before(block, program);
    const Position last =
        block == blocks_.optimizer() ? write_optimizer(program) : write_compute(block, program);
    program.publish(name_of(Name::What::computed, block), last);
  }

 private:
  static constexpr const char* boundary = "activations of a stage";
  static constexpr const char* norms = "norm gradients";

  // Posts the receive of the next pass when this one can begin, so that it runs beside it.
  void post_receives(const StageBlocks::Place& at, Unrolled& program) const {
    std::vector<Position> after;
    if (at.pass == 0)
      links_->receive(stage_, blocks_.passes(), 0, {}, program);
    else
      after = {program.at(name_of(Name::What::computed, blocks_.last_of(at.pass - 1)))};
    links_->receive(stage_, blocks_.passes(), at.pass + 1, after, program);
  }

  // What the first step of a block waits for beside what data parallelism needs.
  std::vector<Position> ready(size_t block, const StageBlocks::Place& at, Unrolled& program) const {
    std::vector<Position> after;
    if (block > 0) after.push_back(program.at(name_of(Name::What::computed, block - 1)));
    if (!at.first_of_pass) return after;
    if (program.has(PipelineLinks::received(at.pass))) {
      Position received = program.at(PipelineLinks::received(at.pass));
      if (layout_.scatter_gather) {
        std::vector<Position> inputs = after;
        inputs.push_back(received);
        received =
            collectives_->add(program, CollectiveOp::all_gather, boundary, collectives_->tensor,
                              links_->whole_bytes(), label_of(at), std::move(inputs));
      }
      after.push_back(received);
    }
    if (!layout_.overlap_p2p && at.pass > 0 && program.has(PipelineLinks::sent(at.pass - 1)))
      after.push_back(program.at(PipelineLinks::sent(at.pass - 1)));
    return after;
  }

  Label label_of(const StageBlocks::Place& at) const {
    Label label;
    label.layer = blocks_.parts().layer_of(at.part);
    label.microbatch = static_cast<int32_t>(at.microbatch);
    return label;
  }

  // All parts of a pass that is one block; memory is not looked at where there are such.
  TimedOperation sum_of_pass(const StageBlocks::Place& at) const {
    TimedOperation sum;
    for (size_t i = 0; i < at.parts; ++i) {
      const ModelPart& part = blocks_.parts().at(at.backward ? at.part - i : at.part + i);
      for (const TimedOperation& operation : at.backward ? part.backward : part.forward)
        sum.seconds += operation.seconds;
    }
    return sum;
  }

  Position write_compute(size_t block, Unrolled& program) const {
    const StageBlocks::Place at = blocks_.place(block);
    if (at.first_of_pass) post_receives(at, program);
    const ModelPart& part = blocks_.parts().at(at.part);
    std::vector<TimedOperation> whole_pass;
    if (at.parts > 1) whole_pass = {sum_of_pass(at)};
    const std::vector<TimedOperation>& operations = at.parts > 1  ? whole_pass
                                                    : at.backward ? part.backward
                                                                  : part.forward;
    const auto kept = static_cast<int64_t>(part.kept);
    PartSteps steps;
    steps.backward = at.backward;
    steps.label = label_of(at);
    steps.begin = ready(block, at, program);
    steps.needed = parallel_->needs(block, program);
    if (block == 0 && program.has(ParameterBroadcast::name))
      steps.needed.push_back(program.at(ParameterBroadcast::name));
    steps.memory_at_begin = parallel_->taken(block) + (at.backward ? 0 : kept);
    steps.memory_at_end = -parallel_->freed(block) - (at.backward ? kept : 0);
    steps.after_operation = [&](size_t operation, Position done) {
      parallel_->after_operation(block, operation, done, program);
    };
    const Position last = add_operations(operations, steps, *collectives_, program);
    if (at.last_of_pass) links_->send(stage_, blocks_.passes(), at.pass, last, program);
    return last;
  }

  Position write_optimizer(Unrolled& program) const {
    std::vector<Position> after = parallel_->needs(blocks_.optimizer(), program);
    after.push_back(program.at(name_of(Name::What::computed, blocks_.optimizer() - 1)));
    if (whole_gradients_ > 0)
      after = {collectives_->add(program, CollectiveOp::all_reduce, norms, collectives_->tensor,
                                 whole_gradients_, {}, after)};
    after = links_->sum_embedding(stage_, after, program);
    Position last = 0;
    for (const TimedOperation& operation : blocks_.parts().optimizer) {
      Step step;
      step.stream = compute_stream;
      step.work = Compute{operation.seconds};
      step.label.kind = Label::Kind::optimizer;
      step.label.name = operation.name;
      step.after = after;
      last = program.add(std::move(step));
    }
    return last;
  }

  Layout layout_;
  uint64_t stage_;
  std::shared_ptr<TrainingCollectives> collectives_;
  std::shared_ptr<const PipelineLinks> links_;
  StageBlocks blocks_;
  std::unique_ptr<const DataParallel> parallel_;
  ParameterBroadcast broadcast_;
  Bytes whole_gradients_ = 0;  // of what every rank of tensor holds whole
};

}  // namespace

Plan training_step(const Job& job, const std::vector<PartTimes>& times) {
  Plan plan;
  plan.ranks = job.system.chips();
  const auto collectives = std::make_shared<TrainingCollectives>(job, plan);
  const auto links = std::make_shared<const PipelineLinks>(job, plan);
  for (uint64_t stage = 0; stage < job.layout.pipeline; ++stage) {
    const auto writer =
        std::make_shared<const StageWriter>(job, stage, collectives, links, times, plan);
    plan.programs.push_back({writer->blocks(), [writer](size_t block, Unrolled& program) {
                               writer->write(block, program);
                             }});
  }
  if (job.layout.pipeline > 1)
    plan.program_of = [layout = job.layout](Rank rank) {
      return static_cast<uint32_t>(layout.stage_of(rank));
    };
  for (const Fault& fault : job.faults)
    if (fault.chip) plan.speed[*fault.chip] = fault.factor;
  return plan;
}

}  // namespace trnsim
