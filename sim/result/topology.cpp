#include "result/topology.h"

#include <algorithm>

#include "result/table.h"
#include "system/shape.h"

namespace trnsim {
namespace {

using Row = std::vector<std::string>;

std::string rate(BytesPerSecond value) { return format_quantity(value, Unit::bytes_per_second, 4); }

std::string time(Seconds value) { return format_quantity(value, Unit::seconds, 4); }

std::string hops(double value) { return format_number(value, 4); }

std::string plural(Rank count, const std::string& one) {
  return grouped(count) + ' ' + one + (count == 1 ? "" : "s");
}

std::string head(const System& system) {
  const Chip& chip = system.chip;
  std::string text = system.name + ": " + plural(system.units, "unit") + " of " +
                     grouped(system.chips_per_unit()) + ' ' + chip.name;
  if (system.units > 1) text += ", " + grouped(system.chips()) + " chips";
  text += "\na chip: ";
  for (const auto& [precision, peak] : chip.peak)
    text += precision + ' ' + format_quantity(peak, Unit::flops_per_second, 4) + ", ";
  text += format_quantity(chip.hbm_capacity, Unit::bytes, 4) + " of memory at " +
          rate(chip.hbm_bandwidth) + '\n';
  const auto assumed = std::count_if(system.numbers.begin(), system.numbers.end(),
                                     [](const Number& number) { return number.assumed(); });
  return text + "rests on " + std::to_string(assumed) + " assumed numbers of " +
         std::to_string(system.numbers.size()) + "; rates are of one direction\n";
}

std::string dimensions_table(const System& system) {
  std::vector<Row> rows{{"inside a unit, " + system.scale_up_name, "kind", "size", "ports a chip",
                         "a port", "payload", "a chip", "payload", "a hop"}};
  double nominal = 0;
  double payload = 0;
  int ports = 0;
  for (const FabricDimension& dimension : system.scale_up) {
    const int of_chip = ports_of_chip(dimension);
    const BytesPerSecond port_payload = dimension.bandwidth * dimension.efficiency;
    ports += of_chip;
    nominal += of_chip * dimension.bandwidth;
    payload += of_chip * port_payload;
    rows.push_back({"  " + dimension.name, name_of(dimension.kind), std::to_string(dimension.size),
                    std::to_string(of_chip), rate(dimension.bandwidth), rate(port_payload),
                    rate(of_chip * dimension.bandwidth), rate(of_chip * port_payload),
                    time(dimension.latency)});
  }
  if (system.scale_up.size() > 1)
    rows.push_back({"  together", "", grouped(system.chips_per_unit()), std::to_string(ports), "",
                    "", rate(nominal), rate(payload)});
  return aligned(rows);
}

std::string scale_out_table(const System& system) {
  const ScaleOut& out = system.scale_out;
  const Rank nics = system.nics_per_unit();
  std::string text = "between units, " + out.name + ": " + plural(nics, "NIC") +
                     " a unit, each of " + rate(out.bandwidth) + ", payload " +
                     rate(nic_payload(out)) + ", for " + plural(out.chips_per_nic, "chip") + "; " +
                     time(out.latency) + " below one switch, " + time(out.hop_latency) +
                     " more for each layer above\n";
  if (out.tors_per_nic > 1)
    text += "  a NIC's ports go to " + std::to_string(out.tors_per_nic) +
            " switches, over which its traffic is spread\n";
  if (out.rails > 1)
    text += "  NIC i of a unit is on rail i mod " + std::to_string(out.rails) + "; between rails " +
            (out.rails_meet_in_unit ? "a message first goes inside its unit"
                                    : "the layer above joins") +
            '\n';
  const std::vector<ClosLayer> layers = layers_in_use(system);
  const bool rails = out.rails > 1;
  std::vector<Row> rows{
      {"  layer", "units a group", "groups", "oversubscription", "uplinks of a group", "payload"}};
  const auto add = [&](Row row, Rank of_rails) {
    if (rails) row.insert(row.begin() + 3, std::to_string(of_rails));
    rows.push_back(std::move(row));
  };
  if (rails) rows.front().insert(rows.front().begin() + 3, "rails");
  for (size_t i = 0; i < layers.size(); ++i) {
    const Uplinks group = uplinks(system, i);
    add({"  " + layers[i].name, grouped(layers[i].units), grouped(groups_of(system, layers[i])),
         format_number(layers[i].oversubscription, 4) + " : 1", rate(group.nominal),
         rate(group.payload)},
        rails_of(system, i));
  }
  add({"  top", grouped(system.units), "1", "", "", ""}, 1);
  return text + aligned(rows);
}

std::string graph_table(const RouteTable& routes) {
  const GraphFabric& graph = routes.graph();
  BytesPerSecond narrowest_port = routes.widest_port();
  for (Rank chip = 0; chip < routes.chips(); ++chip)
    narrowest_port = std::min(narrowest_port, routes.port(chip));
  std::string text =
      "graph, " + graph.name + ": " + plural(routes.chips(), "chip") + ", " +
      grouped(static_cast<double>(graph.switches.size())) + " switches; a chip sends " +
      (narrowest_port == routes.widest_port() ? "" : rate(narrowest_port) + " to ") +
      rate(routes.widest_port()) + "; " +
      (graph.routes.empty()
           ? "no route is listed"
           : grouped(static_cast<double>(graph.routes.size())) + " routes are listed") +
      (graph.chips_forward ? "" : "; chips do not forward") + '\n';
  std::vector<Row> rows{{"  level", "links", "a link", "payload", "a hop"}};
  for (const LinkLevel& level : routes.levels()) {
    const GraphFabric::Edge& one = routes.edge(level.first);
    rows.push_back({"  " + level.name, grouped(level.count),
                    rate(one.count * graph.levels[one.level].bandwidth), rate(level.capacity),
                    time(level.latency)});
  }
  return text + aligned(rows);
}

std::string links_table(const Network& network) {
  std::vector<Row> rows{{"links by level, payload", "links", "each", "together"}};
  for (const LinkLevel& level : network.levels())
    rows.push_back({"  " + level.name, grouped(level.count), rate(level.capacity),
                    rate(level.count * level.capacity)});
  return aligned(rows);
}

std::string distances_table(const System& system) {
  std::vector<Distances> kinds{inside_unit(system)};
  const std::vector<Distances> between = between_units(system);
  kinds.insert(kinds.end(), between.begin(), between.end());
  if (between.size() > 1) kinds.push_back(together(between, "between units"));
  std::vector<Row> rows{{"distances", "pairs", "hops, worst", "mean", "latency, worst", "mean"}};
  for (const Distances& kind : kinds)
    rows.push_back({"  " + kind.where, grouped(static_cast<double>(kind.pairs)),
                    std::to_string(kind.worst_hops), hops(kind.mean_hops), time(kind.worst_latency),
                    time(kind.mean_latency)});
  return aligned(rows);
}

void add_cuts(std::vector<Row>& rows, const std::string& of, const std::vector<Cut>& cuts) {
  for (const Cut& cut : cuts)
    rows.push_back({"  " + of + ", " + cut.name, grouped(cut.chips), rate(cut.nominal),
                    rate(cut.payload), rate(cut.payload / cut.chips),
                    &cut == &narrowest(cuts) ? "narrowest of the " + of : ""});
}

std::string cuts_table(const System& system) {
  std::vector<Row> rows{{"bisection", "chips a side", "nominal", "payload", "a chip", ""}};
  add_cuts(rows, "unit", cuts_of_unit(system));
  add_cuts(rows, "cluster", cuts_between_units(system));
  return rows.size() == 1 ? "" : '\n' + aligned(rows);
}

struct Path {
  std::vector<Link> links;
  Seconds latency = 0;
  Link fullest = 0;  // the first of those with the least capacity
};

Path path_between(const Network& network, const ChipPair& pair) {
  Path path;
  path.latency = network.route(pair.from, pair.to, path.links);
  path.fullest = *std::min_element(path.links.begin(), path.links.end(), [&](Link one, Link other) {
    return network.capacity(one) < network.capacity(other);
  });
  return path;
}

std::string route_table(const Network& network, const ChipPair& pair) {
  const Path path = path_between(network, pair);
  std::vector<Row> rows{
      {"route from chip " + std::to_string(pair.from) + " to chip " + std::to_string(pair.to),
       "payload", ""}};
  for (const Link link : path.links)
    rows.push_back({"  " + network.name(link), rate(network.capacity(link)),
                    link == path.fullest ? "bottleneck" : ""});
  rows.push_back({"  in all " + plural(static_cast<Rank>(path.links.size()), "link") + ", " +
                      time(path.latency),
                  rate(network.capacity(path.fullest)), ""});
  return '\n' + aligned(rows);
}

}  // namespace

std::string topology_report(const System& system, const Network& network,
                            const std::optional<ChipPair>& pair) {
  std::string text = head(system) + '\n';
  text += (system.graph ? graph_table(*system.graph) : dimensions_table(system)) + '\n';
  if (system.units > 1) text += scale_out_table(system) + '\n';
  text += links_table(network) + '\n' + distances_table(system) + cuts_table(system);
  if (pair) text += route_table(network, *pair);
  return text;
}

namespace {

using Json = nlohmann::ordered_json;

Json dimensions_json(const System& system) {
  Json all = Json::array();
  for (const FabricDimension& dimension : system.scale_up)
    all.push_back({{"name", dimension.name},
                   {"kind", name_of(dimension.kind)},
                   {"size", dimension.size},
                   {"ports_per_chip", ports_of_chip(dimension)},
                   {"port_bytes_per_s", dimension.bandwidth.value},
                   {"port_payload_bytes_per_s", dimension.bandwidth * dimension.efficiency},
                   {"hop_latency_s", dimension.latency.value}});
  return all;
}

Json scale_out_json(const System& system) {
  const ScaleOut& out = system.scale_out;
  Json layers = Json::array();
  const std::vector<ClosLayer> used = layers_in_use(system);
  for (size_t i = 0; i < used.size(); ++i) {
    const Uplinks group = uplinks(system, i);
    layers.push_back({{"name", used[i].name},
                      {"units_per_group", used[i].units},
                      {"groups", groups_of(system, used[i])},
                      {"rails", rails_of(system, i)},
                      {"oversubscription", used[i].oversubscription.value},
                      {"uplinks_bytes_per_s", group.nominal},
                      {"uplinks_payload_bytes_per_s", group.payload}});
  }
  return {{"name", out.name},
          {"chips_per_nic", out.chips_per_nic},
          {"tors_per_nic", out.tors_per_nic},
          {"rails", out.rails},
          {"between_rails", out.rails_meet_in_unit ? "unit" : "switches"},
          {"nic_bytes_per_s", out.bandwidth.value},
          {"nic_payload_bytes_per_s", nic_payload(out)},
          {"latency_s", out.latency.value},
          {"hop_latency_s", out.hop_latency.value},
          {"layers", layers}};
}

Json graph_json(const RouteTable& routes) {
  const GraphFabric& graph = routes.graph();
  Json ports = Json::array();
  for (Rank chip = 0; chip < routes.chips(); ++chip) ports.push_back(routes.port(chip));
  return {{"name", graph.name},
          {"chips", graph.chips},
          {"switches", graph.switches},
          {"chips_forward", graph.chips_forward},
          {"listed_routes", graph.routes.size()},
          {"port_payload_bytes_per_s", ports}};
}

Json distances_json(const Distances& distances) {
  return {{"where", distances.where},
          {"pairs", distances.pairs},
          {"worst_hops", distances.worst_hops},
          {"mean_hops", distances.mean_hops},
          {"worst_latency_s", distances.worst_latency},
          {"mean_latency_s", distances.mean_latency}};
}

Json cuts_json(const std::vector<Cut>& cuts) {
  Json all = Json::array();
  for (const Cut& cut : cuts)
    all.push_back({{"name", cut.name},
                   {"chips_per_side", cut.chips},
                   {"bytes_per_s", cut.nominal},
                   {"payload_bytes_per_s", cut.payload},
                   {"narrowest", &cut == &narrowest(cuts)}});
  return all;
}

Json route_json(const Network& network, const ChipPair& pair) {
  const Path path = path_between(network, pair);
  Json links = Json::array();
  for (const Link link : path.links)
    links.push_back(
        {{"name", network.name(link)}, {"payload_bytes_per_s", network.capacity(link)}});
  return {{"from", pair.from},
          {"to", pair.to},
          {"links", links},
          {"latency_s", path.latency},
          {"bottleneck", network.name(path.fullest)},
          {"payload_bytes_per_s", network.capacity(path.fullest)}};
}

}  // namespace

Json topology_json(const System& system, const Network& network,
                   const std::optional<ChipPair>& pair) {
  const std::vector<Distances> between = between_units(system);
  Json by_place = Json::array();
  for (const Distances& kind : between) by_place.push_back(distances_json(kind));
  Json links = Json::array();
  for (const LinkLevel& level : network.levels())
    links.push_back(
        {{"level", level.name}, {"links", level.count}, {"payload_bytes_per_s", level.capacity}});
  Json json{{"format", "trnsim.topology.v1"},
            {"system", system.name},
            {"chip", system.chip.name},
            {"units", system.units},
            {"chips_per_unit", system.chips_per_unit()},
            {"chips", system.chips()}};
  if (system.graph) {
    json["graph"] = graph_json(*system.graph);
  } else {
    json["scale_up"] = {{"name", system.scale_up_name}, {"dimensions", dimensions_json(system)}};
    json["scale_out"] = scale_out_json(system);
  }
  json["links"] = links;
  json["distances"] = {{"inside_a_unit", distances_json(inside_unit(system))},
                       {"between_units", distances_json(together(between, "between units"))},
                       {"between_units_by_place", by_place}};
  if (!system.graph)
    json["bisection"] = {{"unit", cuts_json(cuts_of_unit(system))},
                         {"cluster", cuts_json(cuts_between_units(system))}};
  if (pair) json["route"] = route_json(network, *pair);
  return json;
}

}  // namespace trnsim
