#include <algorithm>
#include <charconv>
#include <cmath>
#include <pugixml.hpp>
#include <stdexcept>
#include <unordered_map>

#include "base/error.h"
#include "result/imported_fabric.h"
#include "result/simgrid_zones.h"

namespace trnsim {
namespace {

using Json = nlohmann::ordered_json;
using Point = SimgridZones::Point;
using Routing = SimgridZones::Routing;

constexpr int deepest = 64;
constexpr uint64_t most_routes = 250'000;    // about 500 hosts
constexpr uint64_t most_listed = 1'000'000;  // links of all routes
constexpr BytesPerSecond unlimited = 1e18;   // bytes/s, the most that a system file takes

using Suffixes = std::vector<std::pair<std::string, double>>;

// SimGrid's multiples of a unit: "kBps" 1000, "KiBps" 1024, ...
Suffixes multiples(const std::string& unit, double factor) {
  Suffixes made{{unit, factor}};
  double decimal = factor;
  double binary = factor;
  for (const char* prefix : {"k", "M", "G", "T", "P", "E"}) {
    decimal *= 1000;
    binary *= 1024;
    made.emplace_back(prefix + unit, decimal);
    made.emplace_back((*prefix == 'k' ? "K" : prefix) + std::string("i") + unit, binary);
  }
  return made;
}

struct Link {
  std::string name;
  BytesPerSecond bandwidth = 0;
  Seconds latency = 0;
  bool is_free = false;  // neither limits nor delays anything
  bool used = false;
};

// The links of a route element in its direction and in the other one.
struct BothWays {
  SimgridZones::Links there, back;
};

class SimgridReader {
 public:
  SimgridReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  ImportedFabric read() {
    pugi::xml_document document;
    const pugi::xml_parse_result result = document.load_buffer(text_.data(), text_.size());
    if (!result) fail(result.offset, result.description());
    const pugi::xml_node platform = document.child("platform");
    if (!platform) fail(0, "has no <platform>; this is no SimGrid platform");
    const std::string version = platform.attribute("version").value();
    if (version != "4" && version != "4.1")
      fail(platform, "version \"" + version + "\" must be \"4\" or \"4.1\"");
    for (const pugi::xml_node& child : platform.children()) {
      const std::string tag = child.name();
      if (child.type() != pugi::node_element) continue;
      if (tag == "config")
        for (const pugi::xml_node& prop : child.children("prop"))
          leave_out("setting " + text_of(prop, "id") + " = " + text_of(prop, "value"));
      else if (is_zone(tag))
        read_zone(child, 0, 0);
      else
        refuse(child);
    }
    for (const auto& [zone, node] : zones_) read_routes(zone, node);
    return made();
  }

 private:
  [[noreturn]] void fail(std::ptrdiff_t offset, const std::string& rule) const {
    const auto end = text_.begin() + std::clamp<std::ptrdiff_t>(
                                         offset, 0, static_cast<std::ptrdiff_t>(text_.size()));
    const auto line = 1 + std::count(text_.begin(), end, '\n');
    throw InputError(file_ + ": line " + std::to_string(line) + ": " + rule);
  }
  [[noreturn]] void fail(const pugi::xml_node& at, const std::string& rule) const {
    fail(at.offset_debug(), rule);
  }
  [[noreturn]] void refuse(const pugi::xml_node& at) const {
    fail(at, '<' + std::string(at.name()) +
                 "> is not read; write hosts, routers, links and routes in zones of routing Full, "
                 "Floyd or Dijkstra");
  }

  void leave_out(const std::string& what) { ++left_out_[what]; }

  static bool is_zone(const std::string& tag) { return tag == "zone" || tag == "AS"; }
  static bool is_route(const std::string& tag) {
    return tag == "route" || tag == "zoneRoute" || tag == "ASroute";
  }

  std::string text_of(const pugi::xml_node& node, const char* attribute) const {
    const pugi::xml_attribute found = node.attribute(attribute);
    if (!found || *found.value() == 0)
      fail(node, '<' + std::string(node.name()) + "> needs \"" + attribute + '"');
    return found.value();
  }

  std::string one_of_attribute(const pugi::xml_node& node, const char* attribute,
                               const std::vector<std::string>& allowed) const {
    const std::string value =
        node.attribute(attribute) ? text_of(node, attribute) : allowed.front();
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
      fail(node, attribute + std::string(" \"") + value + "\" must be " + one_of(allowed));
    return value;
  }

  double quantity(const pugi::xml_node& node, const char* attribute, const Suffixes& units) const {
    const std::string text = text_of(node, attribute);
    const auto bad = [&](const std::string& rule) {
      fail(node, attribute + std::string(" \"") + text + "\" " + rule);
    };
    size_t end = 0;
    double value = 0;
    const char* begin = text.data();
    const auto [last, error] = std::from_chars(begin, begin + text.size(), value);
    if (error != std::errc())
      bad("must be a number with a unit, such as \"1" + units[0].first + '"');
    end = static_cast<size_t>(last - begin);
    const std::string unit = text.substr(end);
    for (const auto& [name, factor] : units)
      if (name == unit) {
        if (!std::isfinite(value * factor) || value < 0) bad("must be finite and at least 0");
        return value * factor;
      }
    bad("has no unit that SimGrid knows; write for example \"1" + units[0].first + '"');
    return 0;
  }

  Point add_point(const pugi::xml_node& node, Point zone, const std::string& id) {
    const Point point =
        is_zone(node.name()) ? map_.add_zone(id, zone, routing(node)) : map_.add(id, zone);
    if (!points_.emplace(id, point).second) fail(node, "id \"" + id + "\" is there twice");
    return point;
  }

  Routing routing(const pugi::xml_node& zone) const {
    static const std::vector<std::string> known{"Full", "Floyd", "Dijkstra", "DijkstraCache"};
    const std::string name = text_of(zone, "routing");
    if (std::find(known.begin(), known.end(), name) == known.end())
      fail(zone, "routing \"" + name + "\" is not read; \"Full\", \"Floyd\" and \"Dijkstra\" are" +
                     did_you_mean(name, known));
    return name == "Full" ? Routing::full : Routing::shortest;
  }

  void read_zone(const pugi::xml_node& node, Point parent, int depth) {
    if (depth == deepest)
      fail(node, "more than " + std::to_string(deepest) + " zones in each other");
    const Point zone = add_point(node, parent, text_of(node, "id"));
    if (std::string(node.attribute("routing").value()) != "Full")
      leave_out(
          "how SimGrid chooses among equally short ways (routing Floyd, Dijkstra): the way "
          "over points that come first is taken");
    zones_.emplace_back(zone, node);
    for (const pugi::xml_node& child : node.children()) {
      const std::string tag = child.name();
      if (child.type() != pugi::node_element || is_route(tag)) continue;
      if (is_zone(tag))
        read_zone(child, zone, depth + 1);
      else if (tag == "host")
        read_host(child, zone);
      else if (tag == "router")
        add_point(child, zone, text_of(child, "id"));
      else if (tag == "link")
        read_link(child);
      else if (tag == "prop")
        leave_out("properties of zones");
      else
        refuse(child);
    }
  }

  void read_host(const pugi::xml_node& node, Point zone) {
    static const Suffixes units = multiples("f", 1);
    hosts_.push_back(add_point(node, zone, text_of(node, "id")));
    const std::string speed = text_of(node, "speed");
    if (speed.find(',') != std::string::npos) {
      leave_out("speeds of hosts in several states");
      speeds_.push_back(0);
    } else {
      speeds_.push_back(quantity(node, "speed", units));
    }
    for (const pugi::xml_attribute& attribute : node.attributes())
      if (std::string(attribute.name()) != "id" && std::string(attribute.name()) != "speed")
        leave_out("\"" + std::string(attribute.name()) + "\" of hosts");
    if (node.first_child()) leave_out("what is inside of hosts (properties, disks)");
  }

  void read_link(const pugi::xml_node& node) {
    static const Suffixes rates = [] {
      Suffixes made = multiples("Bps", 1);
      for (const auto& bits : multiples("bps", 0.125)) made.push_back(bits);
      return made;
    }();
    static const Suffixes times{{"s", 1},      {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9},
                                {"ps", 1e-12}, {"m", 60},    {"h", 3600}};
    Link link;
    link.name = text_of(node, "id");
    link.bandwidth = quantity(node, "bandwidth", rates);
    if (node.attribute("latency")) link.latency = quantity(node, "latency", times);
    const std::string sharing =
        one_of_attribute(node, "sharing_policy", {"SHARED", "SPLITDUPLEX", "FATPIPE"});
    if (sharing == "FATPIPE") {
      if (link.bandwidth < unlimited)
        leave_out("the most that one flow gets of a link of policy FATPIPE");
      link.bandwidth = unlimited;
      link.is_free = link.latency == 0;
    }
    for (const pugi::xml_attribute& attribute : node.attributes()) {
      const std::string name = attribute.name();
      if (name != "id" && name != "bandwidth" && name != "latency" && name != "sharing_policy")
        leave_out("\"" + name + "\" of links");
    }
    if (node.first_child()) leave_out("properties of links");
    const std::string id = link.name;
    const bool split = sharing == "SPLITDUPLEX";
    for (const char* direction : {"_UP", "_DOWN"}) {
      if (split) link.name = id + direction;
      if (!link_of_.emplace(link.name, static_cast<uint32_t>(links_.size())).second)
        fail(node, "link \"" + link.name + "\" is there twice");
      links_.push_back(link);
      if (!split) break;
    }
  }

  // A route's end or gate, in the zone or, for a gate, anywhere inside it.
  Point point(const pugi::xml_node& node, const char* attribute, Point zone, bool gate) const {
    const std::string id = text_of(node, attribute);
    const auto found = points_.find(id);
    if (found == points_.end())
      fail(node, attribute + std::string(" \"") + id + "\" is no host, router or zone");
    const bool right = gate ? map_.is_inside(found->second, zone) && !map_.is_zone(found->second)
                            : map_.zone_of(found->second) == zone;
    if (!right)
      fail(node, attribute + std::string(" \"") + id + "\" must be " +
                     (gate ? "a host or router inside \"" : "directly in zone \"") +
                     map_.name(zone) + '"');
    return found->second;
  }

  BothWays links(const pugi::xml_node& route) const {
    BothWays made;
    for (const pugi::xml_node& node : route.children()) {
      if (node.type() != pugi::node_element) continue;
      if (std::string(node.name()) != "link_ctn") refuse(node);
      const std::string id = text_of(node, "id");
      const std::string direction = one_of_attribute(node, "direction", {"NONE", "UP", "DOWN"});
      const auto find = [&](const std::string& name) {
        const auto found = link_of_.find(name);
        if (found != link_of_.end()) return found->second;
        fail(node, '"' + name + "\" is no link" +
                       (link_of_.contains(id + "_UP") ? "; it is split, so say direction UP or DOWN"
                                                      : ""));
      };
      const bool whole = direction == "NONE";
      made.there.push_back(find(whole ? id : id + '_' + direction));
      made.back.push_back(find(whole ? id : id + (direction == "UP" ? "_DOWN" : "_UP")));
    }
    std::reverse(made.back.begin(), made.back.end());
    return made;
  }

  void read_routes(Point zone, const pugi::xml_node& node) {
    for (const pugi::xml_node& route : node.children()) {
      if (!is_route(route.name())) continue;
      const Point from = point(route, "src", zone, false);
      const Point to = point(route, "dst", zone, false);
      if (from == to) continue;  // a host's way to itself
      const auto gate = [&](const char* attribute, Point end) {
        return map_.is_zone(end) ? point(route, attribute, end, true) : end;
      };
      const Point gate_from = gate("gw_src", from);
      const Point gate_to = gate("gw_dst", to);
      BothWays both = links(route);
      const auto symmetrical = one_of_attribute(route, "symmetrical", {"YES", "NO", "yes", "no"});
      const auto twice = [&] { fail(route, "is the second route of its ends"); };
      if (!map_.add_route(from, to, {std::move(both.there), gate_from, gate_to})) twice();
      if ((symmetrical == "YES" || symmetrical == "yes") &&
          !map_.add_route(to, from, {std::move(both.back), gate_to, gate_from}))
        twice();
    }
  }

  ImportedFabric made() {
    if (hosts_.empty()) fail(0, "has no host");
    if (hosts_.size() * (hosts_.size() - 1) > most_routes)
      throw InputError(file_ + ": " + std::to_string(hosts_.size()) + " hosts have more than " +
                       std::to_string(most_routes) + " routes, too many to list");
    Json chips = Json::array();
    for (const Point host : hosts_) chips.push_back(map_.name(host));
    const Json routes = all_routes();
    ImportedLevels levels("imported from " + file_);
    Json links = Json::array();
    for (const Link& link : links_)
      if (link.used)
        links.push_back(
            {{"level", levels.name(link.bandwidth, link.latency)}, {"name", link.name}});
      else
        leave_out(link.is_free ? "links that neither limit nor delay" : "links on no route");
    ImportedFabric made;
    made.name = file_name();
    made.fabric["graph"] = {{"name", "SimGrid platform"},
                            {"chips", chips},
                            {"levels", levels.json()},
                            {"links", links},
                            {"routes", routes}};
    if (speeds_.front() >= 1e9 && std::count(speeds_.begin(), speeds_.end(), speeds_.front()) ==
                                      static_cast<std::ptrdiff_t>(speeds_.size()))
      made.flops = speeds_.front();
    else
      leave_out("speeds of hosts");
    leave_out("factors of SimGrid's network models: links are taken as they are written");
    for (const auto& [what, times] : left_out_)
      made.left_out.push_back(what + (times > 1 ? " (" + std::to_string(times) + " times)" : ""));
    return made;
  }

  std::string file_name() const {
    const size_t slash = file_.rfind('/');
    return slash == std::string::npos ? file_ : file_.substr(slash + 1);
  }

  Json all_routes() {
    Json routes = Json::array();
    SimgridZones::Links way;
    uint64_t listed = 0;
    for (const Point from : hosts_)
      for (const Point to : hosts_) {
        if (from == to) continue;
        try {
          map_.route(from, to, way);
        } catch (const std::invalid_argument& error) {
          throw InputError(file_ + ": " + error.what());
        }
        Json names = Json::array();
        for (const uint32_t index : way) {
          if (links_[index].is_free) continue;
          links_[index].used = true;
          names.push_back(links_[index].name);
        }
        if (names.empty())
          throw InputError(file_ + ": no link that limits or delays is between \"" +
                           map_.name(from) + "\" and \"" + map_.name(to) + '"');
        listed += way.size();
        if (listed > most_listed)
          throw InputError(file_ + ": its routes have more than " + std::to_string(most_listed) +
                           " links in all, too many to list");
        routes.push_back({{"from", map_.name(from)}, {"to", map_.name(to)}, {"links", names}});
      }
    return routes;
  }

  std::string_view text_;
  std::string file_;
  SimgridZones map_{Routing::full};
  std::unordered_map<std::string, Point> points_;      // for look-up alone
  std::unordered_map<std::string, uint32_t> link_of_;  // for look-up alone
  std::vector<std::pair<Point, pugi::xml_node>> zones_;
  std::vector<Point> hosts_;
  std::vector<double> speeds_;
  std::vector<Link> links_;
  std::map<std::string, int> left_out_;
};

}  // namespace

ImportedFabric import_simgrid(std::string_view text, const std::string& file) {
  require_utf8(text, file);
  return SimgridReader(text, file).read();
}

}  // namespace trnsim
