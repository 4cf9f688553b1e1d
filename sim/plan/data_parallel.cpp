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
  if (layout.zero_stage == 0 || layout.shard == layout.data) {
    shard = make_group(plan, "data", axes, layout.algorithm);
  } else {
    const auto [inner, outer] = split_axes(axes, static_cast<Rank>(layout.shard));
    shard = make_group(plan, "shard", inner, layout.algorithm);
    replicas = make_group(plan, "replicas", outer, layout.algorithm);
  }
  plan.streams = {"compute"};
  if (layout.ordered) plan.streams.emplace_back("collectives");
  for (const CollectiveOp op :
       {CollectiveOp::all_gather, CollectiveOp::reduce_scatter, CollectiveOp::all_reduce}) {
    if (!layout.ordered) plan.streams.push_back(to_string(op));
    streams_[op] = static_cast<StreamId>(plan.streams.size() - 1);
    names_[op] = name_index(plan, to_string(op));
  }
}

void DataCollectives::announce(Plan& plan, CollectiveOp op, const std::string& what,
                               const Group& group, Bytes bytes) {
  const auto [known, is_new] = ids_.try_emplace({op, what, group.name, bytes},
                                                static_cast<CollectiveId>(plan.collectives.size()));
  if (is_new) plan.collectives.push_back(collective_info(op, what, group, bytes));
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
  switch (op) {
    case CollectiveOp::all_gather:
      return all_gather(program, group, bytes, steps, std::move(after));
    case CollectiveOp::reduce_scatter:
      return reduce_scatter(program, group, bytes, steps, std::move(after));
    case CollectiveOp::all_reduce:
      return all_reduce(program, group, bytes, steps, std::move(after));
    case CollectiveOp::broadcast:
      break;  // a ParameterBroadcast
  }
  throw std::logic_error("unknown collective");
}

ParameterBroadcast::ParameterBroadcast(const Job& job, Plan& plan) {
  if (!job.layout.broadcast_parameters || job.layout.data == 1) return;
  constexpr Bytes bf16 = 2;
  bytes_ = bf16 * job.model.parameters();
  chains_ = make_chains(plan, "data", fabric_axes(job.system));
  steps_.stream = 1;  // of gathers, whether or not it is theirs alone
  steps_.label.kind = Label::Kind::collective;
  steps_.label.name = name_index(plan, to_string(CollectiveOp::broadcast));
  steps_.label.collective = static_cast<int32_t>(plan.collectives.size());
  plan.collectives.push_back(
      collective_info(CollectiveOp::broadcast, "parameters", chains_, bytes_));
}

void ParameterBroadcast::add(Unrolled& program) const {
  if (bytes_ > 0) program.publish(name, broadcast(program, chains_, bytes_, steps_, {}));
}

}  // namespace trnsim
