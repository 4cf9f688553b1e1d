#include "system/network.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace trnsim {
namespace {

// Ends the name of a cable, before its number.
const std::string cable_name = ", ToR ";

// Whole numbers in a text, as far as any is no larger than a link's.
std::vector<uint64_t> numbers_in(std::string_view text) {
  constexpr uint64_t most = UINT32_MAX;
  std::vector<uint64_t> numbers;
  bool inside = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && !inside) numbers.push_back(0);
    if (digit)
      numbers.back() = std::min(most, numbers.back() * 10 + static_cast<uint64_t>(c - '0'));
    inside = digit;
  }
  return numbers;
}

}  // namespace

Network::Network(const System& system)
    : graph_(system.graph),
      chips_(system.chips()),
      chips_per_unit_(system.chips_per_unit()),
      chips_per_nic_(system.scale_out.chips_per_nic),
      rails_(system.scale_out.rails),
      rails_meet_in_unit_(system.scale_out.rails_meet_in_unit),
      nic_latency_(system.scale_out.latency),
      hop_latency_(system.scale_out.hop_latency) {
  if (graph_)
    for (const LinkLevel& level : graph_->levels()) add_level(level);
  Rank stride = 1;
  for (const FabricDimension& dimension : system.scale_up) {
    add_dimension(dimension, stride);
    stride *= dimension.size;
  }
  if (system.units > 1) add_layers(system);  // else there is nothing to reach beyond the unit
}

void Network::add_dimension(const FabricDimension& dimension, Rank stride) {
  const Seconds hop = dimension.latency;
  Dimension made{dimension.kind, dimension.size, stride, hop, links_, 2};
  LinkLevel level{dimension.name, 0, chips_, dimension.port(), hop, 1, chips_per_unit_, 1};
  const auto add = [&](const char* direction, Seconds latency) {
    level.name = dimension.name + direction;
    level.latency = latency;
    add_level(level);
  };
  switch (dimension.kind) {
    case FabricDimension::Kind::switched:
      // Of the two links that make one hop the first has its latency.
      add(", out", hop);
      add(", in", 0);
      break;
    case FabricDimension::Kind::ring:
      add(", up", hop);
      add(", down", hop);
      break;
    case FabricDimension::Kind::mesh:
      made.links_per_chip = dimension.size - 1;
      level.count *= made.links_per_chip;
      level.of_group *= made.links_per_chip;
      add("", hop);
      break;
  }
  dimensions_.push_back(made);
}

void Network::add_layers(const System& system) {
  const ScaleOut& out = system.scale_out;
  const BytesPerSecond nic = out.bandwidth.value * out.efficiency.value;
  const Rank nics = system.nics_per_unit();
  LinkLevel level{"", 0, nics * system.units, nic, nic_latency_, 1, nics, out.tors_per_nic};
  const auto add_two = [&](const std::string& outward, const std::string& inward) {
    const Link first = links_;
    const Seconds latency = level.latency;
    level.name = outward;
    add_level(level);
    level.name = inward;
    level.latency = 0;
    add_level(level);
    level.latency = latency;
    return first;
  };
  first_nic_ = add_two(out.name + " NIC, out", out.name + " NIC, in");
  BytesPerSecond below = nic * nics;  // of one unit
  level.latency = hop_latency_;
  for (size_t i = 0; i < out.layers.size(); ++i) {
    const ClosLayer& layer = out.layers[i];
    const Link groups = (system.units + layer.units - 1) / layer.units;
    const Rank rails = i < out.rail_layers ? out.rails : 1;
    if (groups == 1 && rails == 1) break;  // this layer already joins everything
    below /= layer.oversubscription;
    level.count = groups * rails;
    level.capacity = below * layer.units / rails;
    level.units = std::min(layer.units, system.units);
    level.of_group = rails;
    const Link up = add_two(layer.name + ", up", layer.name + ", down");
    layers_.push_back({layer.units, rails, up, up + level.count});
    level.cables = 1;
  }
}

void Network::add_level(const LinkLevel& level) {
  levels_.push_back(level);
  levels_.back().first = links_;
  links_ += level.count;
}

std::vector<Rank> Network::units_of_groups() const {
  std::vector<Rank> units;
  for (const Layer& layer : layers_) units.push_back(level(layer.up).units);
  return units;
}

const LinkLevel& Network::level(Link link) const {
  const auto after =
      std::upper_bound(levels_.begin(), levels_.end(), link,
                       [](Link wanted, const LinkLevel& level) { return wanted < level.first; });
  return *std::prev(after);
}

BytesPerSecond Network::capacity(Link link) const {
  const BytesPerSecond healthy = level(link).capacity;
  const auto fault = faults_.find(link);
  if (fault == faults_.end()) return healthy;
  const std::vector<double>& cables = fault->second;
  return healthy * std::accumulate(cables.begin(), cables.end(), 0.0) /
         static_cast<double>(cables.size());
}

BytesPerSecond Network::all_nics() const {
  if (chips_ == chips_per_unit_) return 0;
  const LinkLevel& nics = level(first_nic_);
  return nics.count * nics.capacity;
}

void Network::scale(const Cable& cable, double factor) {
  std::vector<double>& cables =
      faults_.try_emplace(cable.link, level(cable.link).cables, 1.0).first->second;
  if (cable.number)
    cables.at(*cable.number) = factor;
  else
    cables.assign(cables.size(), factor);
}

std::string Network::name(Link link) const {
  if (graph_) return graph_->edge(link).name;
  const LinkLevel& at = level(link);
  const Link index = link - at.first;
  const Link group = index / at.of_group;
  const Link place = index % at.of_group;
  if (!layers_.empty() && link >= layers_.front().up)
    return "group " + std::to_string(group) + ' ' +
           (at.of_group > 1 ? "rail " + std::to_string(place) + ' ' : "") + at.name;
  const std::string unit = "unit " + std::to_string(group);
  if (at.of_group < chips_per_unit_) return unit + " NIC " + std::to_string(place) + ' ' + at.name;
  const Link ports = at.of_group / chips_per_unit_;
  return unit + " chip " + std::to_string(place / ports) + ' ' + at.name +
         (ports > 1 ? " +" + std::to_string(place % ports + 1) : "");
}

Link Network::find_whole(std::string_view name) const {
  // The level is the end of a name, but for the number of a mesh's port; the numbers before it say
  // which of the level's links it could be.
  for (const LinkLevel& at : levels_) {
    const Link ports = std::max<Link>(1, at.of_group / chips_per_unit_);
    const size_t port = ports > 1 ? name.rfind(" +") : std::string_view::npos;
    if (ports > 1 && port == std::string_view::npos) continue;
    const std::string_view owner = name.substr(0, port);
    if (!owner.ends_with(at.name)) continue;
    const std::vector<uint64_t> of = numbers_in(owner.substr(0, owner.size() - at.name.size()));
    if (of.empty()) continue;
    uint64_t index = of[0];
    if (of.size() > 1) index = of[0] * (at.of_group / ports) + of[1];
    if (ports > 1) {
      const std::vector<uint64_t> number = numbers_in(name.substr(port));
      if (number.empty()) continue;
      index = index * ports + number[0] - 1;
    }
    if (index < at.count && this->name(at.first + static_cast<Link>(index)) == name)
      return at.first + static_cast<Link>(index);
  }
  throw std::out_of_range("no link has this name");
}

Cable Network::find(std::string_view name) const {
  if (graph_) return {graph_->find(name), std::nullopt};
  const size_t end = name.rfind(cable_name);
  if (end != std::string_view::npos) try {
      const Link link = find_whole(name.substr(0, end));
      for (Rank number = 0; number < level(link).cables && level(link).cables > 1; ++number)
        if (name.substr(end) == cable_name + std::to_string(number)) return {link, number};
    } catch (const std::out_of_range&) {
      // A level may be named like a cable.
    }
  return {find_whole(name), std::nullopt};
}

void Network::hop(const Dimension& dimension, Rank from, Rank steps,
                  std::vector<Link>& route) const {
  const Rank at = from / dimension.stride % dimension.size;
  const auto moved = [&](Rank by) {
    return from - at * dimension.stride + (at + by) % dimension.size * dimension.stride;
  };
  switch (dimension.kind) {
    case FabricDimension::Kind::switched:
      route.push_back(dimension.first + from);
      route.push_back(dimension.first + chips_ + moved(steps));
      return;
    case FabricDimension::Kind::mesh:
      route.push_back(dimension.first + from * dimension.links_per_chip + (steps - 1));
      return;
    case FabricDimension::Kind::ring:
      // The shorter way round; half-way goes up.
      if (steps <= dimension.size - steps)
        for (Rank i = 0; i < steps; ++i) route.push_back(dimension.first + moved(i));
      else
        for (Rank i = 0; i < dimension.size - steps; ++i)
          route.push_back(dimension.first + chips_ + moved(dimension.size - i));
      return;
  }
}

Seconds Network::route(Rank from, Rank to, std::vector<Link>& route) const {
  if (graph_) return graph_->route(from, to, route);
  route.clear();
  if (from / chips_per_unit_ == to / chips_per_unit_) return route_inside(from, to, route);
  const bool other_rail = rails_meet_in_unit_ && rail(from) != rail(to);
  const Rank sender = other_rail ? from - from % chips_per_unit_ + to % chips_per_unit_ : from;
  const Seconds inside = route_inside(from, sender, route);
  return inside + route_between(sender, to, route);
}

// Which of a layer's links, of one direction, leads up from the switches above this chip.
Link Network::uplink(const Layer& layer, Rank chip) const {
  return chip / chips_per_unit_ / layer.units * layer.rails + rail(chip) % layer.rails;
}

Seconds Network::route_between(Rank from, Rank to, std::vector<Link>& route) const {
  Seconds latency = nic_latency_;
  route.push_back(first_nic_ + from / chips_per_nic_);
  // Up to the lowest switches that both are below.
  size_t height = 0;
  while (height < layers_.size() && uplink(layers_[height], from) != uplink(layers_[height], to)) {
    route.push_back(layers_[height].up + uplink(layers_[height], from));
    latency += hop_latency_;
    ++height;
  }
  while (height-- > 0) route.push_back(layers_[height].down + uplink(layers_[height], to));
  route.push_back(first_nic_ + nics() + to / chips_per_nic_);
  return latency;
}

Seconds Network::route_inside(Rank from, Rank to, std::vector<Link>& route) const {
  Seconds latency = 0;
  Rank here = from;
  for (const Dimension& dimension : dimensions_) {
    const Rank at = here / dimension.stride % dimension.size;
    const Rank wanted = to / dimension.stride % dimension.size;
    if (at == wanted) continue;
    const Rank steps = (wanted + dimension.size - at) % dimension.size;
    const size_t before = route.size();
    hop(dimension, here, steps, route);
    // A ring forwards at each chip on the way; a switch or a mesh reaches any chip in one hop.
    const bool ring = dimension.kind == FabricDimension::Kind::ring;
    latency += dimension.latency * (ring ? static_cast<double>(route.size() - before) : 1.0);
    here = here + wanted * dimension.stride - at * dimension.stride;
  }
  return latency;
}

}  // namespace trnsim
