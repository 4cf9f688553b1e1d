#include "plan/collective_job.h"

#include <algorithm>

#include "plan/groups.h"
#include "plan/library_group.h"

namespace trnsim {
namespace {

// Patterns from `first` on then speak of the ranks of one group alone.
void keep_to_one_group(Plan& plan, size_t first, const GroupShape& group) {
  const Axis all{"", group.stride, group.count};
  const auto first_of_group = [all](Rank rank) { return rank - all.coordinate(rank) * all.stride; };
  const Rank ours = first_of_group(group.offset);
  for (; first < plan.patterns.size(); ++first) {
    Pattern& pattern = plan.patterns[first];
    pattern.first_hop = [whole = pattern, first_of_group, ours](Rank rank, Rank shift) {
      return first_of_group(rank) == ours ? whole.sent(rank, shift) : std::nullopt;
    };
  }
}

// All peers at once, each with what is for it; nothing goes where there is nothing.
void give_sizes(Pattern& pattern, const PairSizes& sizes) {
  const Axis axis = pattern.axis;
  pattern.bytes = [axis, sizes](Rank rank, Rank shift) {
    return sizes.between(axis.coordinate(rank), (axis.coordinate(rank) + shift) % axis.size);
  };
  pattern.first_hop = [bytes = pattern.bytes](Rank rank, Rank shift) {
    return bytes(rank, shift) > 0 ? std::optional<Rank>(0) : std::nullopt;
  };
}

Group make_group_of(Plan& plan, const CollectiveJob& job, StreamId stream) {
  if (is_chosen(job.op) && job.algorithms.library) {
    Group group = make_library_group(plan, job.system, "ranks", group_axes(job),
                                     *job.algorithms.library, stream);
    prepare(plan, group, job.op, job.bytes);
    return group;
  }
  Group group = make_group(plan, job.op, "ranks", group_axes(job), job.algorithms);
  pipeline(plan, group, is_chosen(job.op) ? job.pieces : 1, stream);
  if (job.sizes && !group.axes.empty())
    give_sizes(plan.patterns[group.axes.front().scatter.front()], *job.sizes);
  return group;
}

Collective info_of(const Plan& plan, const CollectiveJob& job, const Group& group) {
  Collective info = collective_info(plan, job.op, "buffer", group, job.bytes);
  if (!job.sizes) return info;
  info.op = name_of(job);
  info.sent_per_rank = job.sizes->largest_part();
  info.bus_factor =
      static_cast<double>(info.sent_per_rank) / static_cast<double>(std::max<Bytes>(1, job.bytes));
  return info;
}

// A collective with what add_collective() needs beside it.
struct Ready {
  Group group;
  CollectiveOp op;
  Bytes bytes;
  CollectiveSteps steps;
};

Ready make_ready(Plan& plan, const CollectiveJob& job) {
  const size_t first_pattern = plan.patterns.size();
  const auto stream = static_cast<StreamId>(plan.streams.size());
  plan.streams.emplace_back("collectives");
  Ready ready{make_group_of(plan, job, stream), job.op, job.bytes, {}};
  if (!job.group.everywhere && job.group.count < plan.ranks)
    keep_to_one_group(plan, first_pattern, job.group);
  ready.steps.stream = stream;
  ready.steps.label.kind = Label::Kind::collective;
  ready.steps.label.name = static_cast<uint16_t>(plan.names.size());
  ready.steps.label.collective = static_cast<int32_t>(plan.collectives.size());
  ready.steps.reduction = {job.system.chip.reduction_rate,
                           static_cast<Bytes>(job.system.chip.reduction_chunk.value)};
  plan.names.push_back(name_of(job));
  plan.collectives.push_back(info_of(plan, job, ready.group));
  return ready;
}

}  // namespace

std::optional<std::string> obstacle(const GroupShape& group, const System& system) {
  const uint64_t span = static_cast<uint64_t>(group.count) * group.stride;
  const uint64_t first = group.offset - group.offset % span / group.stride * group.stride;
  if (first + (group.count - 1) * static_cast<uint64_t>(group.stride) >= system.chips())
    return "a group of " + std::to_string(group.count) + " ranks, " + std::to_string(group.stride) +
           " apart, with rank " + std::to_string(group.offset) + " ends beyond the " +
           std::to_string(system.chips()) + " chips of " + system.name;
  if (group.everywhere && system.chips() % span != 0)
    return "groups of " + std::to_string(group.count) + " ranks, " + std::to_string(group.stride) +
           " apart, do not fill the " + std::to_string(system.chips()) + " chips of " + system.name;
  return std::nullopt;
}

std::vector<Axis> group_axes(const CollectiveJob& job) {
  const GroupShape& group = job.group;
  if (job.op == CollectiveOp::send_recv || job.sizes) return {{"ranks", group.stride, group.count}};
  return group_axes(job.system, group.stride, group.count);
}

std::string name_of(const CollectiveJob& job) {
  return job.sizes ? "all_to_all_v" : to_string(job.op);
}

Plan collective_plan(const CollectiveJob& job) { return collective_plan(std::vector{job}); }

Plan collective_plan(const std::vector<CollectiveJob>& jobs) {
  Plan plan;
  plan.ranks = jobs.front().system.chips();
  plan.streams = {"compute"};
  plan.names = {"start"};
  std::vector<Ready> all;
  for (const CollectiveJob& job : jobs) all.push_back(make_ready(plan, job));
  const bool some_are_special =
      std::any_of(plan.patterns.begin(), plan.patterns.end(),
                  [](const Pattern& of) { return static_cast<bool>(of.first_hop); });
  if (some_are_special) refuse_what_never_ends(plan, plan.ranks);
  plan.programs.push_back({1, [all](size_t, Unrolled& program) {
                             Step start;
                             start.work = Compute{0};
                             const Position ready = program.add(start);
                             for (const Ready& one : all)
                               add_collective(program, one.group, one.op, one.bytes, one.steps,
                                              {ready});
                           }});
  return plan;
}

}  // namespace trnsim
