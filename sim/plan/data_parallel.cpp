#include "plan/data_parallel.h"

#include "plan/groups.h"

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
  const CollectiveOp any = CollectiveOp::all_reduce;
  if (layout.zero_stage == 0 || layout.shard == layout.data) {
    shard = make_group(plan, any, "data", axes, layout.algorithms);
  } else {
    const auto [inner, outer] = split_axes(axes, static_cast<Rank>(layout.shard));
    shard = make_group(plan, any, "shard", inner, layout.algorithms);
    replicas = make_group(plan, any, "replicas", outer, layout.algorithms);
  }
  plan.streams = {"compute"};
  if (layout.ordered) plan.streams.emplace_back("collectives");
  for (const CollectiveOp op :
       {CollectiveOp::all_gather, CollectiveOp::reduce_scatter, CollectiveOp::all_reduce}) {
    if (!layout.ordered) plan.streams.push_back(to_string(op));
    streams_[op] = static_cast<StreamId>(plan.streams.size() - 1);
    names_[op] = name_index(plan, to_string(op));
  }
  pipeline(plan, shard, layout.pieces, 1);
  pipeline(plan, replicas, layout.pieces, 1);
}

void DataCollectives::announce(Plan& plan, CollectiveOp op, const std::string& what,
                               const Group& group, Bytes bytes) {
  const auto [known, is_new] = ids_.try_emplace({op, what, group.name, bytes},
                                                static_cast<CollectiveId>(plan.collectives.size()));
  if (is_new) plan.collectives.push_back(collective_info(plan, op, what, group, bytes));
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
  return add_collective(program, group, op, bytes, steps, std::move(after));
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
