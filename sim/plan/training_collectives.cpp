#include "plan/training_collectives.h"

#include "plan/library_group.h"
#include "plan/training_parts.h"
#include "workload/stages.h"

namespace trnsim {
namespace {

// What the collectives over context are.
CollectiveOp context_op(ContextMethod method) {
  switch (method) {
    case ContextMethod::ring:
      return CollectiveOp::send_recv;
    case ContextMethod::ulysses:
      return CollectiveOp::all_to_all;
    case ContextMethod::all_gather:
      break;
  }
  return CollectiveOp::all_gather;
}

}  // namespace

TrainingCollectives::TrainingCollectives(const Job& job, Plan& plan)
    : reduction_{job.system.chip.reduction_rate,
                 static_cast<Bytes>(job.system.chip.reduction_chunk.value)} {
  const Layout& layout = job.layout;
  const LayoutGroups groups = layout_groups(job.system, layout);
  plan.streams = {"compute"};
  if (layout.ordered) plan.streams.emplace_back("collectives");
  for (const CollectiveOp op :
       {CollectiveOp::all_gather, CollectiveOp::reduce_scatter, CollectiveOp::all_reduce}) {
    if (!layout.ordered) plan.streams.push_back(to_string(op));
    streams_[op] = static_cast<StreamId>(plan.streams.size() - 1);
  }
  for (const CollectiveOp op : collective_ops()) names_[op] = name_index(plan, to_string(op));
  const bool whole = layout.zero_stage == 0 || layout.shard == layout.replicas();
  shard = make(job, whole ? "data" : "shard", groups.shard, 1, plan);
  across = make(job, "replicas", groups.across, 1, plan);
  const auto add_stream = [&](const std::string& group) {
    plan.streams.push_back(group + " collectives");
    return streams_of_groups_[group] = static_cast<StreamId>(plan.streams.size() - 1);
  };
  if (layout.tensor > 1) tensor = make(job, "tensor", groups.tensor, add_stream("tensor"), plan);
  if (layout.splits_experts())
    expert_replicas = make(job, "expert replicas", groups.expert_replicas, 1, plan);
  if (layout.expert > 1) {
    const StreamId stream = add_stream("experts");
    const auto make_experts = [&](const std::string& name, const std::vector<Axis>& axes) {
      streams_of_groups_[name] = stream;
      return make_group(plan, CollectiveOp::all_to_all, name, axes, layout.algorithms);
    };
    const auto [inside, across_units] = inside_and_across(job.system, groups.experts);
    if (layout.deduplicates_tokens && !across_units.empty()) {
      experts_inside = make_experts("experts inside a unit", inside);
      experts_across = make_experts("experts across units", across_units);
    } else {
      experts = make_experts("experts", groups.experts);
    }
  }
  if (layout.context == 1) return;
  const StreamId stream = add_stream("context");
  const CollectiveOp op = context_op(layout.context_method);
  if (op == CollectiveOp::all_gather) {
    context = make(job, "context", groups.context, stream, plan);
    return;
  }
  const auto stride = static_cast<Rank>(layout.stride(Split::context));
  const std::vector<Axis> ring{{"context ring", stride, static_cast<Rank>(layout.context)}};
  context = make_group(plan, op, "context", op == CollectiveOp::send_recv ? ring : groups.context,
                       layout.algorithms);
}

Group TrainingCollectives::make(const Job& job, const std::string& name,
                                const std::vector<Axis>& axes, StreamId stream, Plan& plan) {
  const auto by = [&](const Algorithms& algorithms) {
    if (algorithms.library && !axes.empty())
      return make_library_group(plan, job.system, name, axes, *algorithms.library, stream);
    Group made = make_group(plan, CollectiveOp::all_reduce, name, axes, algorithms);
    if (stream == 1) pipeline(plan, made, job.layout.pieces, stream);
    return made;
  };
  for (const auto& [op, algorithms] : job.layout.algorithms_of)
    variants_[{collective_op_of(op), name}] = by(algorithms);
  return by(job.layout.algorithms);
}

const Group& TrainingCollectives::over(Transfer::Over over) const {
  switch (over) {
    case Transfer::Over::tensor:
      return tensor;
    case Transfer::Over::context:
      return context;
    case Transfer::Over::experts_inside:
      return experts_inside;
    case Transfer::Over::experts_across:
      return experts_across;
    case Transfer::Over::experts:
      break;
  }
  return experts;
}

const Group& TrainingCollectives::variant(CollectiveOp op, const Group& group) const {
  const auto found = variants_.find({op, group.name});
  return found == variants_.end() ? group : found->second;
}

StreamId TrainingCollectives::stream(CollectiveOp op, const Group& group) const {
  const auto of_group = streams_of_groups_.find(group.name);
  return of_group == streams_of_groups_.end() ? streams_.at(op) : of_group->second;
}

void TrainingCollectives::announce(Plan& plan, CollectiveOp op, const std::string& what,
                                   const Group& group, Bytes bytes) {
  const auto [known, is_new] = ids_.try_emplace({op, what, group.name, bytes},
                                                static_cast<CollectiveId>(plan.collectives.size()));
  if (!is_new) return;
  const Group& of = variant(op, group);
  prepare(plan, of, op, bytes);
  plan.collectives.push_back(collective_info(plan, op, what, of, bytes));
}

Position TrainingCollectives::add(Unrolled& program, CollectiveOp op, const std::string& what,
                                  const Group& group, Bytes bytes, Label label,
                                  std::vector<Position> after, int64_t memory_at_begin,
                                  int64_t memory_at_end) const {
  CollectiveSteps steps;
  steps.stream = stream(op, group);
  steps.label = label;
  steps.label.kind = Label::Kind::collective;
  steps.label.name = names_.at(op);
  steps.label.collective = static_cast<int32_t>(ids_.at({op, what, group.name, bytes}));
  steps.reduction = reduction_;
  steps.memory_at_begin = memory_at_begin;
  steps.memory_at_end = memory_at_end;
  return add_collective(program, variant(op, group), op, bytes, steps, std::move(after));
}

ParameterBroadcast::ParameterBroadcast(const Job& job, uint64_t stage, Plan& plan) {
  if (!job.layout.broadcast_parameters || job.layout.replicas() == 1) return;
  bytes_ = job.training.parameter_bytes() *
           stage_parameters(rank_shard(job.model, job.layout), job.layout, stage);
  constexpr CollectiveOp op = CollectiveOp::broadcast;
  chains_ = make_group(plan, op, "data", layout_groups(job.system, job.layout).replicas, {});
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
