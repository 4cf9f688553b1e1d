#include "plan/data_parallel.h"

#include "plan/groups.h"
#include "plan/library_group.h"

namespace trnsim {

StepBlocks::Place StepBlocks::place(size_t block) const {
  const size_t within = block % (2 * parts);
  const bool backward = within >= parts;
  return {backward ? 2 * parts - 1 - within : within, backward, block / (2 * parts)};
}

Name name_of(Name::What what, size_t block) { return {what, static_cast<int32_t>(block)}; }

DataCollectives::DataCollectives(const Job& job, Plan& plan)
    : reduction_{job.system.chip.reduction_rate,
                 static_cast<Bytes>(job.system.chip.reduction_chunk.value)} {
  const Layout& layout = job.layout;
  const std::vector<Axis> axes = fabric_axes(job.system);
  plan.streams = {"compute"};
  if (layout.ordered) plan.streams.emplace_back("collectives");
  for (const CollectiveOp op :
       {CollectiveOp::all_gather, CollectiveOp::reduce_scatter, CollectiveOp::all_reduce}) {
    if (!layout.ordered) plan.streams.push_back(to_string(op));
    streams_[op] = static_cast<StreamId>(plan.streams.size() - 1);
    names_[op] = name_index(plan, to_string(op));
  }
  const auto make = [&](const std::string& name, const std::vector<Axis>& of,
                        const Algorithms& algorithms) {
    if (algorithms.library)
      return make_library_group(plan, job.system, name, of, *algorithms.library, 1);
    Group made = make_group(plan, CollectiveOp::all_reduce, name, of, algorithms);
    pipeline(plan, made, layout.pieces, 1);
    return made;
  };
  const auto make_all = [&](const std::string& name, const std::vector<Axis>& of) {
    for (const auto& [op, algorithms] : layout.algorithms_of)
      variants_[{collective_op_of(op), name}] = make(name, of, algorithms);
    return make(name, of, layout.algorithms);
  };
  if (layout.zero_stage == 0 || layout.shard == layout.data) {
    shard = make_all("data", axes);
  } else {
    const auto [inner, outer] = split_axes(axes, static_cast<Rank>(layout.shard));
    shard = make_all("shard", inner);
    replicas = make_all("replicas", outer);
  }
}

const Group& DataCollectives::variant(CollectiveOp op, const Group& group) const {
  const auto found = variants_.find({op, group.name});
  return found == variants_.end() ? group : found->second;
}

void DataCollectives::announce(Plan& plan, CollectiveOp op, const std::string& what,
                               const Group& group, Bytes bytes) {
  const auto [known, is_new] = ids_.try_emplace({op, what, group.name, bytes},
                                                static_cast<CollectiveId>(plan.collectives.size()));
  if (!is_new) return;
  const Group& of = variant(op, group);
  prepare(plan, of, op, bytes);
  plan.collectives.push_back(collective_info(plan, op, what, of, bytes));
}

Position DataCollectives::add(Unrolled& program, CollectiveOp op, const std::string& what,
                              const Group& group, Bytes bytes, Label label,
                              std::vector<Position> after, int64_t memory_at_begin,
                              int64_t memory_at_end) const {
  CollectiveSteps steps;
  steps.stream = streams_.at(op);
  steps.label = label;
  steps.label.kind = Label::Kind::collective;
  steps.label.name = names_.at(op);
  steps.label.collective = static_cast<int32_t>(ids_.at({op, what, group.name, bytes}));
  steps.reduction = reduction_;
  steps.memory_at_begin = memory_at_begin;
  steps.memory_at_end = memory_at_end;
  return add_collective(program, variant(op, group), op, bytes, steps, std::move(after));
}

ParameterBroadcast::ParameterBroadcast(const Job& job, Plan& plan) {
  if (!job.layout.broadcast_parameters || job.layout.data == 1) return;
  constexpr Bytes bf16 = 2;
  bytes_ = bf16 * job.model.parameters();
  constexpr CollectiveOp op = CollectiveOp::broadcast;
  chains_ = make_group(plan, op, "data", fabric_axes(job.system), {});
  steps_.stream = 1;  // of gathers, whether or not it is theirs alone
  steps_.label.kind = Label::Kind::collective;
  steps_.label.name = name_index(plan, to_string(op));
  steps_.label.collective = static_cast<int32_t>(plan.collectives.size());
  plan.collectives.push_back(collective_info(plan, op, "parameters", chains_, bytes_));
}

void ParameterBroadcast::add(Unrolled& program) const {
  if (bytes_ == 0) return;
  program.publish(name,
                  add_collective(program, chains_, CollectiveOp::broadcast, bytes_, steps_, {}));
}

}  // namespace trnsim
