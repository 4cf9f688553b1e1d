#include "plan/groups.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace trnsim {

std::vector<Axis> fabric_axes(const System& system) {
  std::vector<Axis> axes;
  Rank stride = 1;
  const auto add = [&](const std::string& name, Rank size) {
    axes.push_back({name, stride, size});
    stride *= size;
  };
  if (system.graph) return {{"ranks", 1, system.chips()}};
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

namespace {

// The size of a group that lies along the axes, nearest to `wanted`.
Rank nearest_group(const std::vector<Axis>& axes, Rank wanted) {
  Rank best = 1;
  const auto distance = [&](Rank size) { return size > wanted ? size - wanted : wanted - size; };
  Rank whole = 1;
  for (const Axis& axis : axes) {
    for (Rank part = 1; part <= axis.size; ++part)
      if (axis.size % part == 0 && distance(whole * part) < distance(best)) best = whole * part;
    whole *= axis.size;
  }
  return best;
}

std::string product_of(const std::vector<Axis>& axes) {
  std::string text;
  for (const Axis& axis : axes)
    if (axis.size > 1) text += (text.empty() ? "" : " x ") + std::to_string(axis.size);
  return text;
}

}  // namespace

std::pair<std::vector<Axis>, std::vector<Axis>> split_axes(const std::vector<Axis>& axes,
                                                           Rank inner) {
  std::pair<std::vector<Axis>, std::vector<Axis>> parts;
  Rank left = inner;
  for (const Axis& axis : axes) {
    // The inner group takes whole axes, then a part of one, and nothing beyond it.
    const Rank taken = left % axis.size == 0 ? axis.size : axis.size % left == 0 ? left : 0;
    if (taken == 0)
      throw std::invalid_argument("groups of " + std::to_string(inner) +
                                  " ranks do not lie along the fabric's dimensions (" +
                                  product_of(axes) + "); the nearest that do have " +
                                  std::to_string(nearest_group(axes, inner)));
    if (taken > 1) parts.first.push_back({axis.name, axis.stride, taken});
    if (taken < axis.size)
      parts.second.push_back({axis.name, axis.stride * taken, axis.size / taken});
    left /= taken;
  }
  return parts;
}

std::vector<Axis> group_axes(const System& system, Rank stride, Rank count) {
  if (system.graph) return {{"ranks", stride, count}};
  const std::vector<Axis> layers = fabric_axes(system);
  std::vector<Axis> units(layers.begin(),
                          layers.begin() + static_cast<std::ptrdiff_t>(system.scale_up.size()));
  units.push_back({system.scale_out.name, system.chips_per_unit(), system.units});
  for (const std::vector<Axis>* axes : std::array{&layers, &std::as_const(units)}) {
    try {
      const auto [skipped, rest] = split_axes(*axes, stride);
      return split_axes(rest, count).first;
    } catch (const std::invalid_argument&) {
      // does not lie along these
    }
  }
  return {{"ranks", stride, count}};
}

LayoutGroups layout_groups(const System& system, const Layout& layout) {
  const auto axes_of = [&](Split split) {
    return group_axes(system, static_cast<Rank>(layout.stride(split)),
                      static_cast<Rank>(layout.degree(split)));
  };
  LayoutGroups made;
  made.tensor = axes_of(Split::tensor);
  made.context = axes_of(Split::context);
  if (layout.splits_experts()) {
    const uint64_t apart = layout.expert_stride();
    made.experts = group_axes(system, static_cast<Rank>(apart), static_cast<Rank>(layout.expert));
    made.expert_replicas = group_axes(system, static_cast<Rank>(apart * layout.expert),
                                      static_cast<Rank>(layout.expert_replicas()));
  }
  const bool data_first = layout.stride(Split::data) < layout.stride(Split::context);
  const Split inner = data_first ? Split::data : Split::context;
  const Split outer = data_first ? Split::context : Split::data;
  const uint64_t stride = layout.stride(inner);
  if (layout.degree(inner) * stride == layout.stride(outer)) {
    made.replicas =
        group_axes(system, static_cast<Rank>(stride), static_cast<Rank>(layout.replicas()));
  } else {
    made.replicas = axes_of(inner);
    const std::vector<Axis> more = axes_of(outer);
    made.replicas.insert(made.replicas.end(), more.begin(), more.end());
  }
  if (layout.zero_stage == 0 || layout.shard == layout.replicas())
    made.shard = made.replicas;
  else
    std::tie(made.shard, made.across) = split_axes(made.replicas, static_cast<Rank>(layout.shard));
  return made;
}

std::vector<std::vector<Axis>> axes_with_choice(const System& system, const Layout& layout) {
  const LayoutGroups groups = layout_groups(system, layout);
  std::vector<std::vector<Axis>> all{groups.shard, groups.across, groups.tensor};
  if (layout.context_method == ContextMethod::all_gather) all.push_back(groups.context);
  if (layout.splits_experts()) all.push_back(groups.expert_replicas);
  return all;
}

std::pair<std::vector<Axis>, std::vector<Axis>> inside_and_across(const System& system,
                                                                  const std::vector<Axis>& axes) {
  std::pair<std::vector<Axis>, std::vector<Axis>> parts;
  for (const Axis& axis : axes) {
    const bool inside =
        axis.name == "ranks" ||
        std::any_of(system.scale_up.begin(), system.scale_up.end(),
                    [&](const FabricDimension& of) { return of.name == axis.name; });
    (inside ? parts.first : parts.second).push_back(axis);
  }
  return parts;
}

Axis pipeline_axis(const Layout& layout) {
  return {"pipeline", static_cast<Rank>(layout.stride(Split::pipeline)),
          static_cast<Rank>(layout.pipeline)};
}

std::optional<std::string> obstacle(Algorithm algorithm, const Axis& axis, const System& system) {
  const auto dimension =
      std::find_if(system.scale_up.begin(), system.scale_up.end(),
                   [&](const FabricDimension& of) { return of.name == axis.name; });
  const bool inside = dimension != system.scale_up.end();
  if (algorithm == Algorithm::nvls &&
      (!inside || dimension->kind != FabricDimension::Kind::switched))
    return "needs the switches of a scale-up domain";
  if (algorithm == Algorithm::sharp && (inside || axis.name == "ranks"))
    return "needs the switches of the scale-out network";
  return obstacle(algorithm, axis);
}

}  // namespace trnsim
