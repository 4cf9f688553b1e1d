#include "plan/training_step.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "plan/training_parts.h"

namespace trnsim {
namespace {

constexpr StreamId compute_stream = 0;
constexpr Bytes bf16 = 2;

// Writes the blocks of a training step. For each microbatch there is one for each part of the model
// forward, and one for each backward; the last block is the optimizer. Never changes once made.
class StepWriter {
 public:
  StepWriter(const Job& job, Plan& plan);

  size_t blocks() const { return microbatches_ * 2 * parts_.count + 1; }
  void write(size_t block, Unrolled& program) const;

 private:
  struct Place {
    size_t part;
    bool backward;
    int32_t microbatch;
  };

  Place place(size_t block) const;
  bool gathers(size_t block) const;
  bool last_microbatch(const Place& at) const {
    return static_cast<size_t>(at.microbatch) + 1 == microbatches_;
  }
  Label label(const Place& at, Label::Kind kind, uint16_t name) const;
  CollectiveSteps collective(CollectiveOp op, const std::string& what, Bytes bytes,
                             const Place& at) const;

  void write_gather(size_t block, Unrolled& program) const;
  Position write_compute(size_t block, Unrolled& program) const;
  void write_reduce(size_t block, Position computed, Unrolled& program) const;
  void write_bucket(const Bucket& bucket, Position complete, Unrolled& program) const;
  void write_optimizer(Unrolled& program) const;

  Layout layout_;
  size_t microbatches_;
  Bytes gradient_bytes_;
  Group group_;
  bool sharded_;  // ZeRO-3 over more than one rank
  ModelParts parts_;
  std::vector<Bucket> buckets_;  // DDP over more than one rank
  Reduction reduction_;
  std::map<CollectiveOp, StreamId> streams_;
  std::map<CollectiveOp, uint16_t> names_;
  std::map<std::pair<std::string, Bytes>, CollectiveId> collectives_;  // by what and buffer
};

uint64_t parameters_held(const Job& job) {
  const uint64_t shards = job.layout.zero_stage == 3 ? job.layout.data : 1;
  return (job.model.parameters() + shards - 1) / shards;
}

StepWriter::StepWriter(const Job& job, Plan& plan)
    : layout_(job.layout),
      microbatches_(job.microbatches()),
      gradient_bytes_(job.training.gradient_bytes()),
      group_(make_group(plan, "data", fabric_axes(job.system), job.layout.algorithm)),
      sharded_(job.layout.zero_stage == 3 && !group_.axes.empty()),
      parts_(time_parts(job, parameters_held(job), plan)),
      reduction_{job.system.chip.reduction_rate,
                 static_cast<Bytes>(job.system.chip.reduction_chunk.value)} {
  plan.streams = {"compute"};
  if (layout_.ordered) plan.streams.emplace_back("collectives");
  for (const CollectiveOp op :
       {CollectiveOp::all_gather, CollectiveOp::reduce_scatter, CollectiveOp::all_reduce}) {
    if (!layout_.ordered) plan.streams.push_back(to_string(op));
    streams_[op] = static_cast<StreamId>(plan.streams.size() - 1);
    names_[op] = name_index(plan, to_string(op));
  }
  const auto announce = [&](CollectiveOp op, const std::string& what, Bytes bytes) {
    const auto [known, is_new] =
        collectives_.try_emplace({what, bytes}, static_cast<CollectiveId>(plan.collectives.size()));
    if (is_new) plan.collectives.push_back(collective_info(op, what, group_, bytes));
  };
  if (sharded_) {
    for (const ModelPart* part : {&parts_.embedding, &parts_.layer, &parts_.head}) {
      announce(CollectiveOp::all_gather, part->name + std::string(" parameters"),
               bf16 * part->parameters);
      announce(CollectiveOp::reduce_scatter, part->name + std::string(" gradients"),
               gradient_bytes_ * part->parameters);
    }
  } else if (!group_.axes.empty()) {
    buckets_ = fill_buckets(parts_, layout_.bucket, gradient_bytes_);
    for (const Bucket& bucket : buckets_)
      announce(CollectiveOp::all_reduce, "gradient bucket", bucket.bytes);
  }
}

StepWriter::Place StepWriter::place(size_t block) const {
  const size_t within = block % (2 * parts_.count);
  const bool backward = within >= parts_.count;
  return {backward ? 2 * parts_.count - 1 - within : within, backward,
          static_cast<int32_t>(block / (2 * parts_.count))};
}

// The head stays gathered from its forward to its backward pass, which follows at once.
bool StepWriter::gathers(size_t block) const {
  return sharded_ && block + 1 < blocks() && block % (2 * parts_.count) != parts_.count;
}

Label StepWriter::label(const Place& at, Label::Kind kind, uint16_t name) const {
  Label made;
  made.kind = kind;
  made.name = name;
  made.layer = parts_.layer_of(at.part);
  made.microbatch = at.microbatch;
  return made;
}

CollectiveSteps StepWriter::collective(CollectiveOp op, const std::string& what, Bytes bytes,
                                       const Place& at) const {
  CollectiveSteps steps;
  steps.stream = streams_.at(op);
  steps.label = label(at, Label::Kind::collective, names_.at(op));
  steps.label.collective = static_cast<int32_t>(collectives_.at({what, bytes}));
  steps.reduction = reduction_;
  return steps;
}

Name name_of(Name::What what, size_t block) { return {what, static_cast<int32_t>(block)}; }

void StepWriter::write_gather(size_t block, Unrolled& program) const {
  const Place at = place(block);
  const ModelPart& part = parts_.at(at.part);
  const Bytes bytes = bf16 * part.parameters;
  const size_t ahead = layout_.overlap ? layout_.prefetch : 0;
  std::vector<Position> after;
  // A gathered layer is freed when it has been computed: only then is there room for one more.
  if (block > ahead) after.push_back(program.at(name_of(Name::What::computed, block - 1 - ahead)));
  if (!layout_.overlap && block > 0) {
    const Name reduced = name_of(Name::What::reduced, block - 1);
    if (program.has(reduced)) after.push_back(program.at(reduced));
  }
  CollectiveSteps steps =
      collective(CollectiveOp::all_gather, part.name + std::string(" parameters"), bytes, at);
  steps.memory_at_begin = static_cast<int64_t>(bytes);
  const Position gathered = all_gather(program, group_, bytes, steps, std::move(after));
  program.publish(name_of(Name::What::gathered, block), gathered);
}

Position StepWriter::write_compute(size_t block, Unrolled& program) const {
  const Place at = place(block);
  const ModelPart& part = parts_.at(at.part);
  const std::vector<TimedOperation>& operations = at.backward ? part.backward : part.forward;
  const bool head = at.part + 1 == parts_.count;
  Position last = 0;
  for (size_t i = 0; i < operations.size(); ++i) {
    const TimedOperation& operation = operations[i];
    Step step;
    step.stream = compute_stream;
    step.work = Compute{operation.seconds};
    step.label = label(at,
                       operation.recomputation ? Label::Kind::recompute
                       : at.backward           ? Label::Kind::backward
                                               : Label::Kind::forward,
                       operation.name);
    if (i == 0) {
      if (gathers(block)) step.after.push_back(program.at(name_of(Name::What::gathered, block)));
      if (!at.backward) step.memory_at_begin += static_cast<int64_t>(part.kept);
      if (at.backward && sharded_)
        step.memory_at_begin += static_cast<int64_t>(gradient_bytes_ * part.parameters);
    }
    if (i + 1 == operations.size()) {
      if (at.backward) step.memory_at_end -= static_cast<int64_t>(part.kept);
      if (sharded_ && (at.backward || !head))
        step.memory_at_end -= static_cast<int64_t>(bf16 * part.parameters);
    }
    last = program.add(std::move(step));
    if (!at.backward || !last_microbatch(at) || !layout_.overlap) continue;
    for (const Bucket& bucket : buckets_)
      if (bucket.part == at.part && bucket.operation == i) write_bucket(bucket, last, program);
  }
  return last;
}

void StepWriter::write_reduce(size_t block, Position computed, Unrolled& program) const {
  const Place at = place(block);
  const ModelPart& part = parts_.at(at.part);
  const Bytes bytes = gradient_bytes_ * part.parameters;
  CollectiveSteps steps =
      collective(CollectiveOp::reduce_scatter, part.name + std::string(" gradients"), bytes, at);
  steps.memory_at_end = -static_cast<int64_t>(bytes);
  program.publish(name_of(Name::What::reduced, block),
                  reduce_scatter(program, group_, bytes, steps, {computed}));
}

void StepWriter::write_bucket(const Bucket& bucket, Position complete, Unrolled& program) const {
  const Place at{bucket.part, true, static_cast<int32_t>(microbatches_ - 1)};
  CollectiveSteps steps = collective(CollectiveOp::all_reduce, "gradient bucket", bucket.bytes, at);
  steps.label.bucket = bucket.number;
  program.publish(name_of(Name::What::reduced, blocks() - 1),
                  all_reduce(program, group_, bucket.bytes, steps, {complete}));
}

void StepWriter::write_optimizer(Unrolled& program) const {
  const Position computed = program.at(name_of(Name::What::computed, blocks() - 2));
  if (!layout_.overlap)
    for (const Bucket& bucket : buckets_) write_bucket(bucket, computed, program);
  for (const TimedOperation& operation : parts_.optimizer) {
    Step step;
    step.stream = compute_stream;
    step.work = Compute{operation.seconds};
    step.label.kind = Label::Kind::optimizer;
    step.label.name = operation.name;
    // Reductions run in order, so the last one to be written is the last to end.
    for (const size_t block : {blocks() - 1, blocks() - 2}) {
      const Name reduced = name_of(Name::What::reduced, block);
      if (program.has(reduced)) step.after.push_back(program.at(reduced));
    }
    program.add(std::move(step));
  }
}

void StepWriter::write(size_t block, Unrolled& program) const {
  const size_t ahead = layout_.overlap ? layout_.prefetch : 0;
  for (size_t next = block == 0 ? 0 : block + ahead; next <= block + ahead; ++next)
    if (gathers(next)) write_gather(next, program);
  if (block + 1 == blocks()) {
    write_optimizer(program);
    return;
  }
  const Position computed = write_compute(block, program);
  program.publish(name_of(Name::What::computed, block), computed);
  if (sharded_ && place(block).backward) write_reduce(block, computed, program);
}

}  // namespace

std::vector<Axis> fabric_axes(const System& system) {
  std::vector<Axis> axes;
  Rank stride = 1;
  const auto add = [&](const std::string& name, Rank size) {
    axes.push_back({name, stride, size});
    stride *= size;
  };
  for (const FabricDimension& dimension : system.scale_up) add(dimension.name, dimension.size);
  Rank grouped = 1;  // units that the axes so far cover
  for (const ClosLayer& layer : system.scale_out.layers) {
    if (layer.units >= system.units || system.units % layer.units != 0) break;
    add(layer.name, layer.units / grouped);
    grouped = layer.units;
  }
  add(system.scale_out.name, system.units / grouped);
  return axes;
}

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
