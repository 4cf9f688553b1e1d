#include "plan/training_step.h"

#include <memory>
#include <utility>

#include "plan/data_parallel.h"

namespace trnsim {
namespace {

constexpr StreamId compute_stream = 0;

uint64_t parameters_held(const Job& job) {
  const uint64_t shards = job.layout.zero_stage == 0 ? 1 : job.layout.shard;
  return divide_up(job.model.parameters(), shards);
}

// Writes the blocks of a training step. Never changes once made.
class StepWriter {
 public:
  StepWriter(const Job& job, Plan& plan)
      : parts_(time_parts(job, parameters_held(job), plan)),
        blocks_{parts_.count, job.microbatches()},
        parallel_(job.layout.zero_stage == 3 ? make_fully_sharded(job, parts_, plan)
                                             : make_bucketed(job, parts_, plan)),
        broadcast_(job, plan) {}

  size_t blocks() const { return blocks_.count(); }

  void write(size_t block, Unrolled& program) const {
    if (block == 0) broadcast_.add(program);
    parallel_->before(block, program);
    const Position last =
        block == blocks_.optimizer() ? write_optimizer(program) : write_compute(block, program);
    program.publish(name_of(Name::What::computed, block), last);
  }

 private:
  Position write_compute(size_t block, Unrolled& program) const {
    const StepBlocks::Place at = blocks_.place(block);
    const ModelPart& part = parts_.at(at.part);
    const std::vector<TimedOperation>& operations = at.backward ? part.backward : part.forward;
    const auto kept = static_cast<int64_t>(part.kept);
    Position last = 0;
    for (size_t i = 0; i < operations.size(); ++i) {
      Step step;
      step.stream = compute_stream;
      step.work = Compute{operations[i].seconds};
      step.label.kind = operations[i].recomputation ? Label::Kind::recompute
                        : at.backward               ? Label::Kind::backward
                                                    : Label::Kind::forward;
      step.label.name = operations[i].name;
      step.label.layer = parts_.layer_of(at.part);
      step.label.microbatch = static_cast<int32_t>(at.microbatch);
      if (i == 0) {
        step.after = parallel_->needs(block, program);
        if (block == 0 && program.has(ParameterBroadcast::name))
          step.after.push_back(program.at(ParameterBroadcast::name));
        step.memory_at_begin = parallel_->taken(block) + (at.backward ? 0 : kept);
      }
      if (i + 1 == operations.size())
        step.memory_at_end = -parallel_->freed(block) - (at.backward ? kept : 0);
      last = program.add(std::move(step));
      parallel_->after_operation(block, i, last, program);
    }
    return last;
  }

  Position write_optimizer(Unrolled& program) const {
    Position last = 0;
    for (const TimedOperation& operation : parts_.optimizer) {
      Step step;
      step.stream = compute_stream;
      step.work = Compute{operation.seconds};
      step.label.kind = Label::Kind::optimizer;
      step.label.name = operation.name;
      step.after = parallel_->needs(blocks_.optimizer(), program);
      last = program.add(std::move(step));
    }
    return last;
  }

  ModelParts parts_;
  StepBlocks blocks_;
  std::unique_ptr<const DataParallel> parallel_;
  ParameterBroadcast broadcast_;
};

}  // namespace

Plan training_step(const Job& job) {
  Plan plan;
  plan.ranks = job.system.chips();
  const auto writer = std::make_shared<const StepWriter>(job, plan);
  plan.programs.push_back({writer->blocks(), [writer](size_t block, Unrolled& program) {
                             writer->write(block, program);
                           }});
  for (const Fault& fault : job.faults)
    if (fault.chip) plan.speed[*fault.chip] = fault.factor;
  return plan;
}

}  // namespace trnsim
