#include "engine/orbits.h"

#include <algorithm>

namespace trnsim {
namespace {

// Where digits of a unit's number begin and end, if the axes of all patterns and the groups of
// switches agree on one mixed radix; nothing else is a symmetry that is known here.
bool units_move_freely(const Plan& plan, const Network& network) {
  const Rank unit = network.chips_per_unit();
  const Rank units = network.chips() / unit;
  std::vector<Rank> places{1, units};
  std::vector<std::pair<Rank, Rank>> axes;
  for (const Rank group : network.units_of_groups()) {
    if (units % group != 0) return false;
    places.push_back(group);
  }
  for (const Pattern& pattern : plan.patterns) {
    if (pattern.first_hop || pattern.bytes) return false;
    const Axis& axis = pattern.axis;
    const uint64_t end = static_cast<uint64_t>(axis.stride) * axis.size;
    if (unit % end == 0) continue;
    if (axis.stride % unit != 0 || end > network.chips()) return false;
    axes.emplace_back(axis.stride / unit, static_cast<Rank>(end / unit));
    places.insert(places.end(), {axes.back().first, axes.back().second});
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  for (size_t i = 0; i + 1 < places.size(); ++i)
    if (places[i + 1] % places[i] != 0) return false;
  return std::all_of(axes.begin(), axes.end(), [&](const auto& axis) {
    const auto begin = std::find(places.begin(), places.end(), axis.first);
    return begin + 1 != places.end() && begin[1] == axis.second;
  });
}

}  // namespace

Orbits Orbits::each(const Plan& plan, const Network& network) {
  Orbits made;
  made.ranks_ = plan.ranks;
  made.links_ = network.links();
  made.levels_.push_back({0, network.links(), 0, std::max<Link>(1, network.links()), 1});
  return made;
}

std::optional<Orbits> Orbits::of_units(const Plan& plan, const Network& network) {
  const Rank unit = network.chips_per_unit();
  const Rank units = network.chips() / unit;
  if (units == 1 || network.has_faults() || !plan.speed.empty() || plan.program_of ||
      plan.ranks != network.chips() || !units_move_freely(plan, network))
    return std::nullopt;
  Orbits made;
  made.ranks_ = unit;
  for (const LinkLevel& level : network.levels()) {
    if (level.count == 0) continue;
    // Each unit, or each group of units, has the same links.
    made.levels_.push_back({level.first, level.count, made.links_, level.of_group, level.units});
    made.links_ += level.of_group;
  }
  return made;
}

uint32_t Orbits::of_link(Link link) const {
  const auto after =
      std::upper_bound(levels_.begin(), levels_.end(), link,
                       [](Link wanted, const Level& at) { return wanted < at.first; });
  const Level& level = *std::prev(after);
  return level.first_orbit + (link - level.first) % level.orbits;
}

const Orbits::Level& Orbits::level_of(uint32_t link_orbit) const {
  const auto after =
      std::upper_bound(levels_.begin(), levels_.end(), link_orbit,
                       [](uint32_t wanted, const Level& at) { return wanted < at.first_orbit; });
  return *std::prev(after);
}

Link Orbits::representative(uint32_t link_orbit) const {
  const Level& level = level_of(link_orbit);
  return level.first + (link_orbit - level.first_orbit);
}

uint64_t Orbits::weight(uint32_t link_orbit) const { return level_of(link_orbit).weight; }

}  // namespace trnsim
