#include "result/simgrid_zones.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <stdexcept>
#include <tuple>

namespace trnsim {

bool SimgridZones::is_inside(Point point, Point zone) const {
  while (point != 0 && point != zone) point = zone_of(point);
  return point == zone;
}

void SimgridZones::route(Point from, Point to, Links& links) const {
  links.clear();
  append(from, to, links);
}

void SimgridZones::append(Point from, Point to, Links& links) const {
  if (from == to) return;
  // The smallest zone that holds both, and where in it each of them is.
  Point begin = from;
  while (!is_inside(to, zone_of(begin))) begin = zone_of(begin);
  const Point zone = zone_of(begin);
  Point end = to;
  while (zone_of(end) != zone) end = zone_of(end);
  Point here = from;
  for (const Route* route : stated(zone, begin, end)) {
    append(here, route->gate_from, links);
    links.insert(links.end(), route->links.begin(), route->links.end());
    here = route->gate_to;
  }
  append(here, to, links);
}

std::vector<const SimgridZones::Route*> SimgridZones::stated(Point zone, Point from,
                                                             Point to) const {
  const auto fail = [&] {
    throw std::invalid_argument("zone \"" + name(zone) + "\" has no route from \"" + name(from) +
                                "\" to \"" + name(to) + '"');
  };
  const Node& of = points_[zone];
  if (of.routing == Routing::full) {
    const auto found = of.routes.find({from, to});
    if (found == of.routes.end()) fail();
    return {&found->second};
  }
  std::vector<const Route*> way;
  const Ways& ways = ways_from(from);
  for (Point here = to; here != from;) {
    const auto last = ways.find(here);
    if (last == ways.end()) fail();
    way.push_back(last->second.second);
    here = last->second.first;
  }
  std::reverse(way.begin(), way.end());
  return way;
}

// Dijkstra's algorithm; of equally short ways the one that is reached from the earlier point.
const SimgridZones::Ways& SimgridZones::ways_from(Point from) const {
  const auto [found, is_new] = ways_.try_emplace(from);
  Ways& ways = found->second;
  if (!is_new) return ways;
  const auto& routes = points_[zone_of(from)].routes;
  using Reached = std::tuple<size_t, Point, Point, const Route*>;  // links, before, point
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> queue;
  queue.emplace(0, from, from, nullptr);
  while (!queue.empty()) {
    const auto [links, before, point, over] = queue.top();
    queue.pop();
    if (!ways.try_emplace(point, before, over).second) continue;
    for (auto next = routes.lower_bound({point, 0});
         next != routes.end() && next->first.first == point; ++next)
      if (!ways.contains(next->first.second))
        queue.emplace(links + next->second.links.size(), point, next->first.second, &next->second);
  }
  return ways;
}

}  // namespace trnsim
