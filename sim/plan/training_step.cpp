#include "plan/training_step.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "plan/data_parallel.h"
#include "plan/pipeline_links.h"
#include "workload/stages.h"

namespace trnsim {
namespace {

constexpr StreamId compute_stream = 0;

uint64_t parameters_held(const Job& job, uint64_t stage) {
  const uint64_t shards = job.layout.zero_stage == 0 ? 1 : job.layout.shard;
  const Architecture shard = tensor_shard(job.model, job.layout.tensor);
  return divide_up(stage_parameters(shard, job.layout, stage), shards);
}

// Collectives between the operations of a block whose results later operations wait for.
class InTheWay {
 public:
  void add(Position position, uint32_t beside) { waiting_.emplace_back(position, beside); }

  // What the next operation waits for.
  std::vector<Position> for_next() {
    std::vector<Position> now;
    std::erase_if(waiting_, [&](auto& of) {
      if (of.second > 0) {
        --of.second;
        return false;
      }
      now.push_back(of.first);
      return true;
    });
    return now;
  }

 private:
  std::vector<std::pair<Position, uint32_t>> waiting_;
};

// Writes the blocks of one stage's training step. Never changes once made.
class StageWriter {
 public:
  StageWriter(const Job& job, uint64_t stage, std::shared_ptr<TrainingCollectives> collectives,
              std::shared_ptr<const PipelineLinks> links, Plan& plan)
      : layout_(job.layout),
        stage_(stage),
        collectives_(std::move(collectives)),
        links_(std::move(links)),
        blocks_(job, stage, time_parts(job, stage, parameters_held(job, stage), plan)),
        parallel_(job.layout.zero_stage == 3 ? make_fully_sharded(job, blocks_, *collectives_, plan)
                                             : make_bucketed(job, blocks_, *collectives_, plan)),
        broadcast_(job, stage, plan) {
    for (const ModelPart& part : blocks_.parts().kinds)
      for (const auto* operations : {&part.forward, &part.backward})
        for (const TimedOperation& operation : *operations)
          if (operation.transfer) announce(operation, plan);
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

  void announce(const TimedOperation& operation, Plan& plan) {
    const Transfer& transfer = *operation.transfer;
    collectives_->announce(plan, *transfer.op, operation.what, collectives_->over(transfer.over),
                           transfer.bytes);
  }

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

  Position add_transfer(const TimedOperation& operation, Label label, std::vector<Position> after,
                        Unrolled& program) const {
    const Transfer& transfer = *operation.transfer;
    return collectives_->add(program, *transfer.op, operation.what,
                             collectives_->over(transfer.over), transfer.bytes, label,
                             std::move(after));
  }

  Step compute_step(const TimedOperation& operation, const StageBlocks::Place& at) const {
    Step step;
    step.stream = compute_stream;
    step.work = Compute{operation.seconds};
    step.label = label_of(at);
    step.label.kind = operation.recomputation ? Label::Kind::recompute
                      : at.backward           ? Label::Kind::backward
                                              : Label::Kind::forward;
    step.label.name = operation.name;
    return step;
  }

  Position write_compute(size_t block, Unrolled& program) const {
    const StageBlocks::Place at = blocks_.place(block);
    if (at.first_of_pass) post_receives(at, program);
    const ModelPart& part = blocks_.parts().at(at.part);
    const std::vector<TimedOperation>& operations = at.backward ? part.backward : part.forward;
    const auto kept = static_cast<int64_t>(part.kept);
    const auto is_compute = [](const TimedOperation& of) { return !of.transfer; };
    const auto first = std::find_if(operations.begin(), operations.end(), is_compute);
    const auto last_one = std::find_if(operations.rbegin(), operations.rend(), is_compute);
    const std::vector<Position> begin = ready(block, at, program);
    std::vector<Position> inputs = begin;  // of the next collective
    InTheWay in_the_way;
    Position last = 0;
    for (size_t i = 0; i < operations.size(); ++i) {
      const TimedOperation& operation = operations[i];
      if (operation.transfer) {
        last = add_transfer(operation, label_of(at), inputs, program);
        in_the_way.add(last, operation.transfer->beside);
      } else {
        Step step = compute_step(operation, at);
        step.after = in_the_way.for_next();
        if (&operation == &*first) {
          step.after.insert(step.after.end(), begin.begin(), begin.end());
          const std::vector<Position> needed = parallel_->needs(block, program);
          step.after.insert(step.after.end(), needed.begin(), needed.end());
          if (block == 0 && program.has(ParameterBroadcast::name))
            step.after.push_back(program.at(ParameterBroadcast::name));
          step.memory_at_begin = parallel_->taken(block) + (at.backward ? 0 : kept);
        }
        if (&operation == &*last_one)
          step.memory_at_end = -parallel_->freed(block) - (at.backward ? kept : 0);
        last = program.add(std::move(step));
        inputs = {last};
      }
      parallel_->after_operation(block, i, last, program);
    }
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

Plan training_step(const Job& job) {
  Plan plan;
  plan.ranks = job.system.chips();
  const auto collectives = std::make_shared<TrainingCollectives>(job, plan);
  const auto links = std::make_shared<const PipelineLinks>(job, plan);
  for (uint64_t stage = 0; stage < job.layout.pipeline; ++stage) {
    const auto writer = std::make_shared<const StageWriter>(job, stage, collectives, links, plan);
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
