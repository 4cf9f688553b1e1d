#include "system/shape.h"

#include <algorithm>

namespace trnsim {
namespace {

using Kind = FabricDimension::Kind;

// Ordered pairs of two different things out of `count`.
uint64_t pairs_of(uint64_t count) { return count * (count - (count > 0 ? 1 : 0)); }

// Ordered pairs of different units below one group of a layer.
uint64_t pairs_in_groups(uint64_t units, uint64_t of_group) {
  return units / of_group * pairs_of(of_group) + pairs_of(units % of_group);
}

Rank farthest(const FabricDimension& dimension) {
  if (dimension.size == 1) return 0;
  return dimension.kind == Kind::ring ? dimension.size / 2 : 1;
}

// Mean hops from a chip to all along the dimension, itself included.
double mean_to_all(const FabricDimension& dimension) {
  const uint64_t size = dimension.size;
  const uint64_t sum = dimension.kind == Kind::ring ? size * size / 4 : size - 1;
  return static_cast<double>(sum) / static_cast<double>(size);
}

// Links that lead from the lower half of the coordinates of a line of chips to the upper one.
uint64_t links_across(const FabricDimension& dimension) {
  const uint64_t lower = dimension.size / 2;
  switch (dimension.kind) {
    case Kind::switched:
      return lower;
    case Kind::ring:
      return 2;
    case Kind::mesh:
      return lower * (dimension.size - lower);
  }
  return 0;
}

// The distance of two chips of a unit.
Distances between(const System& system, Rank from, Rank to) {
  Distances found;
  Rank stride = 1;
  for (const FabricDimension& dimension : system.scale_up) {
    const Rank up =
        (to / stride + dimension.size - from / stride % dimension.size) % dimension.size;
    const bool ring = dimension.kind == Kind::ring;
    const Rank hops = ring ? std::min(up, dimension.size - up) : std::min<Rank>(up, 1);
    found.worst_hops += hops;
    found.worst_latency += hops * dimension.latency;
    stride *= dimension.size;
  }
  return found;
}

// From each chip of a unit to those on other rails: what a message that changes rails in the unit
// takes more.
Distances to_other_rails(const System& system) {
  const ScaleOut& out = system.scale_out;
  const auto rail = [&](Rank chip) { return chip / out.chips_per_nic % out.rails; };
  std::vector<Distances> pairs;
  Distances all;
  const Rank chips = system.chips_per_unit();
  for (Rank from = 0; from < chips; ++from)
    for (Rank to = 0; to < chips; ++to) {
      if (rail(from) == rail(to)) continue;
      const Distances pair = between(system, from, to);
      ++all.pairs;
      all.worst_hops = std::max(all.worst_hops, pair.worst_hops);
      all.worst_latency = std::max(all.worst_latency, pair.worst_latency);
      all.mean_hops += pair.worst_hops;
      all.mean_latency += pair.worst_latency;
    }
  all.mean_hops /= static_cast<double>(all.pairs);
  all.mean_latency /= static_cast<double>(all.pairs);
  return all;
}

}  // namespace

int ports_of_chip(const FabricDimension& dimension) {
  if (dimension.size == 1) return 0;
  switch (dimension.kind) {
    case Kind::switched:
      return dimension.links;
    case Kind::ring:
      return 2 * dimension.links;
    case Kind::mesh:
      return static_cast<int>(dimension.size - 1) * dimension.links;
  }
  return 0;
}

BytesPerSecond nic_payload(const ScaleOut& out) {
  return out.bandwidth.value * out.efficiency.value;
}

Rank groups_of(const System& system, const ClosLayer& layer) {
  return (system.units + layer.units - 1) / layer.units;
}

Rank rails_of(const System& system, size_t layer) {
  return layer < system.scale_out.rail_layers ? system.scale_out.rails : 1;
}

std::vector<ClosLayer> layers_in_use(const System& system) {
  std::vector<ClosLayer> used;
  for (const ClosLayer& layer : system.scale_out.layers) {
    if (groups_of(system, layer) == 1 && rails_of(system, used.size()) == 1) break;
    used.push_back(layer);
  }
  return used;
}

Uplinks uplinks(const System& system, size_t layer) {
  const std::vector<ClosLayer>& layers = system.scale_out.layers;
  double nics = static_cast<double>(system.nics_per_unit()) * layers[layer].units;
  for (size_t i = 0; i <= layer; ++i) nics /= layers[i].oversubscription;
  return {nics * system.scale_out.bandwidth, nics * nic_payload(system.scale_out)};
}

namespace {

Distances inside_graph(const RouteTable& graph) {
  Distances all{"between chips", 0, 0, 0, 0, 0};
  std::vector<Link> route;
  for (Rank from = 0; from < graph.chips(); ++from)
    for (Rank to = 0; to < graph.chips(); ++to) {
      if (from == to) continue;
      const Seconds latency = graph.route(from, to, route);
      ++all.pairs;
      all.worst_hops = std::max(all.worst_hops, static_cast<Rank>(route.size()));
      all.worst_latency = std::max(all.worst_latency, latency);
      all.mean_hops += static_cast<double>(route.size());
      all.mean_latency += latency;
    }
  all.mean_hops /= std::max(1.0, static_cast<double>(all.pairs));
  all.mean_latency /= std::max(1.0, static_cast<double>(all.pairs));
  return all;
}

}  // namespace

Distances inside_unit(const System& system) {
  if (system.graph) return inside_graph(*system.graph);
  const uint64_t chips = system.chips_per_unit();
  Distances found{"inside a unit", system.units * pairs_of(chips), 0, 0, 0, 0};
  if (chips == 1) return found;
  const double others = static_cast<double>(chips) / static_cast<double>(chips - 1);
  for (const FabricDimension& dimension : system.scale_up) {
    const double mean = mean_to_all(dimension) * others;
    found.worst_hops += farthest(dimension);
    found.mean_hops += mean;
    found.worst_latency += farthest(dimension) * dimension.latency;
    found.mean_latency += mean * dimension.latency;
  }
  return found;
}

std::vector<Distances> between_units(const System& system) {
  const ScaleOut& out = system.scale_out;
  const uint64_t units = system.units;
  const uint64_t pairs_of_chips =
      static_cast<uint64_t>(system.chips_per_unit()) * system.chips_per_unit();
  const uint64_t on_one_rail = pairs_of_chips / out.rails;
  const std::vector<ClosLayer> layers = layers_in_use(system);
  std::vector<Distances> found;
  uint64_t nearer = 0;
  for (size_t height = 0; height <= layers.size(); ++height) {
    const bool top = height == layers.size();
    const bool one_rail = rails_of(system, height) > 1 || out.rails_meet_in_unit;
    const uint64_t within = (top ? pairs_of(units) : pairs_in_groups(units, layers[height].units)) *
                            (one_rail ? on_one_rail : pairs_of_chips);
    const Rank hops = 2 + 2 * static_cast<Rank>(height);
    const Seconds latency = out.latency + static_cast<double>(height) * out.hop_latency;
    const std::string rail = rails_of(system, height) > 1 ? "'s rail" : "";
    if (within > nearer)
      found.push_back({top ? "over the top" : "below one " + layers[height].name + rail,
                       within - nearer, hops, static_cast<double>(hops), latency, latency});
    nearer = within;
  }
  if (!out.rails_meet_in_unit) return found;
  const Distances inside = to_other_rails(system);
  for (size_t i = 0, kinds = found.size(); i < kinds; ++i) {
    Distances other = found[i];
    other.where += ", rail changed";
    other.pairs *= out.rails - 1;
    other.worst_hops += inside.worst_hops;
    other.mean_hops += inside.mean_hops;
    other.worst_latency += inside.worst_latency;
    other.mean_latency += inside.mean_latency;
    found.push_back(std::move(other));
  }
  return found;
}

Distances together(const std::vector<Distances>& kinds, const std::string& where) {
  Distances all{where, 0, 0, 0, 0, 0};
  for (const Distances& kind : kinds) all.pairs += kind.pairs;
  for (const Distances& kind : kinds) {
    if (kind.pairs == 0) continue;
    const double part = static_cast<double>(kind.pairs) / static_cast<double>(all.pairs);
    all.worst_hops = std::max(all.worst_hops, kind.worst_hops);
    all.worst_latency = std::max(all.worst_latency, kind.worst_latency);
    all.mean_hops += part * kind.mean_hops;
    all.mean_latency += part * kind.mean_latency;
  }
  return all;
}

std::vector<Cut> cuts_of_unit(const System& system) {
  std::vector<Cut> cuts;
  for (const FabricDimension& dimension : system.scale_up) {
    if (dimension.size == 1) continue;
    const Rank lines = system.chips_per_unit() / dimension.size;
    const double links = static_cast<double>(lines) * static_cast<double>(links_across(dimension));
    cuts.push_back({dimension.name, lines * (dimension.size / 2),
                    links * dimension.links * dimension.bandwidth, links * dimension.port()});
  }
  return cuts;
}

std::vector<Cut> cuts_between_units(const System& system) {
  if (system.units == 1) return {};
  const Rank half = system.units / 2;
  const Rank chips = half * system.chips_per_unit();
  const double nics = static_cast<double>(half) * system.nics_per_unit();
  std::vector<Cut> cuts{{system.scale_out.name + " NIC", chips, nics * system.scale_out.bandwidth,
                         nics * nic_payload(system.scale_out)}};
  const std::vector<ClosLayer> layers = layers_in_use(system);
  for (size_t i = 0; i < layers.size(); ++i) {
    if (groups_of(system, layers[i]) == 1) continue;  // units meet below it, each on its rail
    const Uplinks group = uplinks(system, i);
    const double groups = static_cast<double>(half) / layers[i].units;
    cuts.push_back({layers[i].name, chips, groups * group.nominal, groups * group.payload});
  }
  return cuts;
}

const Cut& narrowest(const std::vector<Cut>& cuts) {
  return *std::min_element(cuts.begin(), cuts.end(), [](const Cut& one, const Cut& other) {
    return one.payload < other.payload;
  });
}

}  // namespace trnsim
