#include "plan/collective_job.h"

#include <algorithm>
#include <stdexcept>

#include "plan/groups.h"
#include "plan/library_group.h"

namespace trnsim {
namespace {

// Patterns then speak of the ranks of one group alone.
void keep_to_one_group(Plan& plan, const GroupShape& group) {
  const Axis all{"", group.stride, group.count};
  const auto first_of_group = [all](Rank rank) { return rank - all.coordinate(rank) * all.stride; };
  const Rank ours = first_of_group(group.offset);
  for (Pattern& pattern : plan.patterns)
    pattern.first_hop = [whole = pattern, first_of_group, ours](Rank rank, Rank shift) {
      return first_of_group(rank) == ours ? whole.sent(rank, shift) : std::nullopt;
    };
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
  const std::vector<Axis> flat{{"ranks", group.stride, group.count}};
  if (job.op == CollectiveOp::send_recv) return flat;
  try {
    const auto [skipped, rest] = split_axes(fabric_axes(job.system), group.stride);
    return split_axes(rest, group.count).first;
  } catch (const std::invalid_argument&) {
    return flat;  // does not lie along the dimensions
  }
}

Plan collective_plan(const CollectiveJob& job) {
  Plan plan;
  plan.ranks = job.system.chips();
  plan.streams = {"compute", "collectives"};
  plan.names = {"start", to_string(job.op)};
  const bool has_choice = is_chosen(job.op);
  const bool by_library = has_choice && job.algorithms.library;
  Group group = by_library ? make_library_group(plan, job.system, "ranks", group_axes(job),
                                                *job.algorithms.library, 1)
                           : make_group(plan, job.op, "ranks", group_axes(job), job.algorithms);
  if (by_library)
    prepare(plan, group, job.op, job.bytes);
  else
    pipeline(plan, group, has_choice ? job.pieces : 1, 1);
  if (!job.group.everywhere && job.group.count < plan.ranks) keep_to_one_group(plan, job.group);
  const bool some_are_special =
      std::any_of(plan.patterns.begin(), plan.patterns.end(),
                  [](const Pattern& of) { return static_cast<bool>(of.first_hop); });
  if (some_are_special) refuse_what_never_ends(plan, plan.ranks);
  plan.collectives.push_back(collective_info(plan, job.op, "buffer", group, job.bytes));
  CollectiveSteps steps;
  steps.stream = 1;
  steps.label.kind = Label::Kind::collective;
  steps.label.name = 1;
  steps.label.collective = 0;
  steps.reduction = {job.system.chip.reduction_rate,
                     static_cast<Bytes>(job.system.chip.reduction_chunk.value)};
  plan.programs.push_back({1, [job, group, steps](size_t, Unrolled& program) {
                             Step start;
                             start.work = Compute{0};
                             const Position ready = program.add(start);
                             add_collective(program, group, job.op, job.bytes, steps, {ready});
                           }});
  return plan;
}

}  // namespace trnsim
