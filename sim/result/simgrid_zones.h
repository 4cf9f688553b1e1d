#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace trnsim {

/// Hosts, routers and zones of a SimGrid platform, and the routes that its zones state. A point is
/// a host, a router or a zone; point 0 is the zone that holds all.
class SimgridZones {
 public:
  using Point = uint32_t;
  using Links = std::vector<uint32_t>;  // as the caller numbers them

  enum class Routing {
    full,      // a route for each pair
    shortest,  // Floyd, Dijkstra: over the stated routes, the way of fewest links
  };

  /// One stated route between two points of a zone. Where an end is a zone, the point in it where
  /// the route begins or ends; else the end itself.
  struct Route {
    Links links;
    Point gate_from = 0;
    Point gate_to = 0;
  };

  explicit SimgridZones(Routing root) { points_.push_back({"platform", 0, true, root, {}}); }

  Point add(const std::string& name, Point zone) {
    points_.push_back({name, zone, false, Routing::full, {}});
    return static_cast<Point>(points_.size() - 1);
  }
  Point add_zone(const std::string& name, Point zone, Routing routing) {
    points_.push_back({name, zone, true, routing, {}});
    return static_cast<Point>(points_.size() - 1);
  }
  /// States a route of the zone that both are in. False if it has one already.
  bool add_route(Point from, Point to, Route route) {
    auto& routes = points_[zone_of(from)].routes;
    return routes.emplace(std::pair{from, to}, std::move(route)).second;
  }

  Point zone_of(Point point) const { return points_[point].zone; }
  const std::string& name(Point point) const { return points_[point].name; }
  bool is_zone(Point point) const { return points_[point].is_zone; }
  bool is_inside(Point point, Point zone) const;

  /// Writes the links from one host or router to another. Throws std::invalid_argument, which says
  /// where none leads, if there is no route.
  void route(Point from, Point to, Links& links) const;

 private:
  struct Node {
    std::string name;
    Point zone;
    bool is_zone;
    Routing routing;
    std::map<std::pair<Point, Point>, Route> routes;
  };
  // The stated routes on the way from one point of a zone to another, in order.
  std::vector<const Route*> stated(Point zone, Point from, Point to) const;
  void append(Point from, Point to, Links& links) const;

  std::vector<Node> points_;
  using Ways = std::map<Point, std::pair<Point, const Route*>>;
  const Ways& ways_from(Point from) const;
  // Of zones with shortest ways: the last stated route on the way to each point, by where it
  // begins.
  mutable std::map<Point, Ways> ways_;
};

}  // namespace trnsim
