#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/passes.h"
#include "system/system.h"
#include "workload/recipe.h"

namespace trnsim {

/// The axes of the fabric, from the fastest to the slowest: the dimensions of a unit, then the
/// units below one group of each layer of switches. Where the units do not fill whole groups, the
/// layers above that are one axis. Of a graph, whose chips have no coordinates, it is one: "ranks".
std::vector<Axis> fabric_axes(const System& system);

/// Splits axes into those of the groups of `inner` neighbouring ranks and those across such groups;
/// an axis may be cut in two. Throws std::invalid_argument if the groups are no product of axes;
/// its message names the nearest size that is.
std::pair<std::vector<Axis>, std::vector<Axis>> split_axes(const std::vector<Axis>& axes,
                                                           Rank inner);

/// The axes of the groups of `count` ranks that are `stride` apart: parts of the fabric's
/// dimensions where they lie along them; else parts of a unit's dimensions and of all units as one
/// axis; else, and in a graph, one axis, "ranks", along which the next is the one `stride` further.
std::vector<Axis> group_axes(const System& system, Rank stride, Rank count);

/// The groups of a layout whose collectives may pass along several axes. Gradients are summed over
/// `replicas`, data and context together; `shard` are those that share one copy of what is sharded
/// (all replicas, if nothing is), and `across` those that hold the same shard.
struct LayoutGroups {
  std::vector<Axis> tensor, context, replicas, shard, across;
  /// Those that share out the experts of a layer, and those that hold the same ones.
  std::vector<Axis> experts, expert_replicas;
};
/// Throws std::invalid_argument as split_axes() does, if the shard does not lie along the replicas'
/// axes.
LayoutGroups layout_groups(const System& system, const Layout& layout);

/// The axes of those of the groups whose collectives can pass in several ways.
std::vector<std::vector<Axis>> axes_with_choice(const System& system, const Layout& layout);

/// Of a group's axes those along dimensions of a unit, and those across units. One that lies along
/// neither ("ranks") cannot be told apart and counts as inside.
std::pair<std::vector<Axis>, std::vector<Axis>> inside_and_across(const System& system,
                                                                  const std::vector<Axis>& axes);

/// The ranks that differ only in their pipeline stage.
Axis pipeline_axis(const Layout& layout);

/// Why the algorithm cannot run along this axis of the system, if it cannot.
std::optional<std::string> obstacle(Algorithm algorithm, const Axis& axis, const System& system);

}  // namespace trnsim
