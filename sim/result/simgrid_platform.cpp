#include "result/simgrid_platform.h"

#include <map>

#include "result/table.h"
#include "system/shape.h"

namespace trnsim {
namespace {

constexpr uint64_t most_routes = 500'000;
// SimGrid forbids a route without links, which units below one switch would have.
constexpr const char* lowest_switch = "lowest switch";

std::string escaped(const std::string& text) {
  static const std::map<char, std::string> entities{
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
  std::string made;
  for (const char c : text) {
    const auto entity = entities.find(c);
    made += entity == entities.end() ? std::string(1, c) : entity->second;
  }
  return made;
}

// With all digits, as SimGrid reads it back.
std::string exact(double value) { return format_number(value, 17); }

bool units_are_zones(const System& system) { return !system.graph && system.scale_out.rails == 1; }

class Writer {
 public:
  Writer(std::ostream& out, const System& system, const Network& network)
      : out_(out),
        system_(system),
        network_(network),
        chips_(system.chips_per_unit()),
        levels_of_units_(network.levels().size() - 2 * layers_in_use(system).size()) {}

  void platform() {
    out_ << "<?xml version='1.0'?>\n"
            "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            "<platform version=\"4.1\">\n"
            "  <config>\n"  // SimGrid's defaults model TCP; these leave pure fair sharing
            "    <prop id=\"network/model\" value=\"CM02\"/>\n"
            "    <prop id=\"network/crosstraffic\" value=\"0\"/>\n"
            "    <prop id=\"network/TCP-gamma\" value=\"0\"/>\n"
            "  </config>\n"
            "  <zone id=\"cluster\" routing=\"Full\">\n";
    if (units_are_zones(system_))
      write_zones();
    else
      write_flat();
    out_ << "  </zone>\n</platform>\n";
  }

 private:
  static std::string unit_name(Rank unit) { return "unit " + std::to_string(unit); }
  std::string chip_name(Rank chip) const {
    if (system_.graph) return escaped(system_.graph->graph().chips[chip]);
    return unit_name(chip / chips_) + " chip " + std::to_string(chip % chips_);
  }

  // The links `from`, ..., `from` + `count` - 1 of a level.
  void write_links(size_t level, Link from, Link count) {
    const std::string latency = exact(network_.levels()[level].latency);
    const Link first = network_.levels()[level].first + from;
    for (Link link = first; link < first + count; ++link)
      out_ << "    <link id=\"" << escaped(network_.name(link)) << "\" bandwidth=\""
           << exact(network_.capacity(link)) << "Bps\" latency=\"" << latency << "s\"/>\n";
  }

  void write_hosts(Rank from, Rank to) {
    const std::string speed = exact(system_.chip.peak.begin()->second);
    for (Rank chip = from; chip < to; ++chip)
      out_ << "    <host id=\"" << chip_name(chip) << "\" speed=\"" << speed << "f\"/>\n";
  }

  // Routes of two units that differ by chip cannot be those of two zones.
  void write_flat() {
    write_hosts(0, system_.chips());
    for (size_t level = 0; level < network_.levels().size(); ++level)
      write_links(level, 0, network_.levels()[level].count);
    write_routes_among(0, system_.chips());
  }

  void write_zones() {
    for (Rank unit = 0; unit < system_.units; ++unit) write_unit(unit);
    if (system_.units > 1)
      out_ << "    <link id=\"" << lowest_switch
           << "\" bandwidth=\"1e18Bps\" latency=\"0s\" sharing_policy=\"FATPIPE\"/>\n";
    for (size_t level = levels_of_units_; level < network_.levels().size(); ++level)
      write_links(level, 0, network_.levels()[level].count);
    write_routes_between_units();
  }

  void write_unit(Rank unit) {
    out_ << "  <zone id=\"" << unit_name(unit) << "\" routing=\"Full\">\n";
    write_hosts(unit * chips_, (unit + 1) * chips_);
    out_ << "    <router id=\"" << unit_name(unit) << " gate\"/>\n";
    for (size_t level = 0; level < levels_of_units_; ++level) {
      const Link of_unit = network_.levels()[level].count / system_.units;
      write_links(level, unit * of_unit, of_unit);
    }
    write_routes_of_unit(unit);
    out_ << "  </zone>\n";
  }

  void write_routes_among(Rank first, Rank end) {
    std::vector<Link> links;
    for (Rank from = first; from < end; ++from)
      for (Rank to = first; to < end; ++to) {
        if (from == to) continue;
        network_.route(from, to, links);
        open_route("route", chip_name(from), chip_name(to), "");
        close_route("route", links);
      }
  }

  void write_routes_of_unit(Rank unit) {
    write_routes_among(unit * chips_, (unit + 1) * chips_);
    if (system_.units == 1) return;
    std::vector<Link> links;
    // The NICs are what a route to any other unit begins with, and one from there ends with.
    const Rank elsewhere = unit == 0 ? chips_ : 0;
    const std::string gate = unit_name(unit) + " gate";
    for (Rank chip = unit * chips_; chip < (unit + 1) * chips_; ++chip) {
      network_.route(chip, elsewhere, links);
      open_route("route", chip_name(chip), gate, "");
      close_route("route", {links.front()});
      network_.route(elsewhere, chip, links);
      open_route("route", gate, chip_name(chip), "");
      close_route("route", {links.back()});
    }
  }

  void write_routes_between_units() {
    std::vector<Link> links;
    for (Rank from = 0; from < system_.units; ++from)
      for (Rank to = 0; to < system_.units; ++to) {
        if (from == to) continue;
        network_.route(from * chips_, to * chips_, links);
        open_route(
            "zoneRoute", unit_name(from), unit_name(to),
            " gw_src=\"" + unit_name(from) + " gate\" gw_dst=\"" + unit_name(to) + " gate\"");
        close_route("zoneRoute", {links.begin() + 1, links.end() - 1});
      }
  }

  void open_route(const char* tag, const std::string& from, const std::string& to,
                  const std::string& gates) {
    out_ << "    <" << tag << " src=\"" << from << "\" dst=\"" << to << '"' << gates
         << " symmetrical=\"NO\">";
  }
  void close_route(const char* tag, const std::vector<Link>& links) {
    if (links.empty()) out_ << "<link_ctn id=\"" << lowest_switch << "\"/>";
    for (const Link link : links)
      out_ << "<link_ctn id=\"" << escaped(network_.name(link)) << "\"/>";
    out_ << "</" << tag << ">\n";
  }

  std::ostream& out_;
  const System& system_;
  const Network& network_;
  Rank chips_;
  size_t levels_of_units_;  // the layers are what comes after
};

}  // namespace

void require_platform_size(const System& system) {
  const uint64_t chips = system.chips_per_unit();
  const uint64_t units = system.units;
  const uint64_t all = units * chips;
  const uint64_t routes =
      units_are_zones(system) ? units * chips * (chips + 1) + units * (units - 1) : all * (all - 1);
  if (routes > most_routes)
    throw InputError("--platform: " + grouped(static_cast<double>(routes)) +
                     " routes would be needed, more than the " +
                     grouped(static_cast<double>(most_routes)) +
                     " that are written at most; take fewer units or smaller dimensions");
}

void write_simgrid_platform(std::ostream& out, const System& system, const Network& network) {
  Writer(out, system, network).platform();
}

}  // namespace trnsim
