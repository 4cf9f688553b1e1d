#include "system/network.h"

#include <algorithm>
#include <stdexcept>

namespace trnsim {
namespace {

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
    : chips_(system.chips()),
      chips_per_unit_(system.chips_per_unit()),
      chips_per_nic_(system.scale_out.chips_per_nic),
      nic_latency_(system.scale_out.latency),
      hop_latency_(system.scale_out.hop_latency) {
  Rank stride = 1;
  for (const FabricDimension& dimension : system.scale_up) {
    Dimension made{dimension.kind, dimension.size, stride, dimension.latency, links_, 2};
    switch (dimension.kind) {
      case FabricDimension::Kind::switched:
        add_level(dimension.name + ", out", chips_, dimension.port());
        add_level(dimension.name + ", in", chips_, dimension.port());
        break;
      case FabricDimension::Kind::ring:
        add_level(dimension.name + ", up", chips_, dimension.port());
        add_level(dimension.name + ", down", chips_, dimension.port());
        break;
      case FabricDimension::Kind::mesh:
        made.links_per_chip = dimension.size - 1;
        add_level(dimension.name, chips_ * made.links_per_chip, dimension.port());
        break;
    }
    dimensions_.push_back(made);
    stride *= dimension.size;
  }
  if (system.units == 1) return;  // nothing to reach beyond the unit

  const ScaleOut& out = system.scale_out;
  const Link nics = chips_ / chips_per_nic_;
  const BytesPerSecond nic = out.bandwidth.value * out.efficiency.value;
  first_nic_ = links_;
  add_level(out.name + " NIC, out", nics, nic);
  add_level(out.name + " NIC, in", nics, nic);
  const Rank nics_per_unit = chips_per_unit_ / chips_per_nic_;
  BytesPerSecond below = nic * nics_per_unit;  // of one unit
  for (const ClosLayer& layer : out.layers) {
    const Link groups = (system.units + layer.units - 1) / layer.units;
    if (groups == 1) break;  // this layer already joins everything
    below /= layer.oversubscription;
    layers_.push_back({layer.units, links_});
    add_level(layer.name + ", up", groups, below * layer.units);
    add_level(layer.name + ", down", groups, below * layer.units);
  }
}

void Network::add_level(const std::string& name, Link count, BytesPerSecond capacity) {
  levels_.push_back({name, links_, count, capacity});
  links_ += count;
}

std::vector<Rank> Network::units_of_groups() const {
  std::vector<Rank> units;
  for (const Layer& layer : layers_) units.push_back(layer.units);
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
  return fault == faults_.end() ? healthy : healthy * fault->second;
}

BytesPerSecond Network::all_nics() const {
  if (chips_ == chips_per_unit_) return 0;
  const LinkLevel& nics = level(first_nic_);
  return nics.count * nics.capacity;
}

void Network::scale(Link link, double factor) { faults_[link] = factor; }

std::string Network::name(Link link) const {
  const LinkLevel& at = level(link);
  const Link index = link - at.first;
  if (!layers_.empty() && link >= layers_.front().first)
    return "group " + std::to_string(index) + ' ' + at.name;
  if (at.count == chips_)
    return "unit " + std::to_string(index / chips_per_unit_) + " chip " +
           std::to_string(index % chips_per_unit_) + ' ' + at.name;
  if (at.count < chips_) {
    const Link nics = chips_per_unit_ / chips_per_nic_;
    return "unit " + std::to_string(index / nics) + " NIC " + std::to_string(index % nics) + ' ' +
           at.name;
  }
  const Link ports = at.count / chips_;
  const Link chip = index / ports;
  return "unit " + std::to_string(chip / chips_per_unit_) + " chip " +
         std::to_string(chip % chips_per_unit_) + ' ' + at.name + " +" +
         std::to_string(index % ports + 1);
}

Link Network::find(std::string_view name) const {
  // The level is the end of a name, but for the number of a mesh's port; the numbers before it say
  // which of the level's links it could be.
  for (const LinkLevel& at : levels_) {
    const bool ports = at.count > chips_;
    const size_t port = ports ? name.rfind(" +") : std::string_view::npos;
    if (ports && port == std::string_view::npos) continue;
    const std::string_view owner = name.substr(0, port);
    if (!owner.ends_with(at.name)) continue;
    const std::vector<uint64_t> of = numbers_in(owner.substr(0, owner.size() - at.name.size()));
    if (of.empty()) continue;
    uint64_t index = of[0];
    if (of.size() > 1)
      index =
          of[0] * (at.count < chips_ ? chips_per_unit_ / chips_per_nic_ : chips_per_unit_) + of[1];
    if (ports) {
      const std::vector<uint64_t> number = numbers_in(name.substr(port));
      if (number.empty()) continue;
      index = index * (at.count / chips_) + number[0] - 1;
    }
    if (index < at.count && this->name(at.first + static_cast<Link>(index)) == name)
      return at.first + static_cast<Link>(index);
  }
  throw std::out_of_range("no link has this name");
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
  route.clear();
  const Rank unit = from / chips_per_unit_;
  const Rank other = to / chips_per_unit_;
  Seconds latency = 0;
  if (unit != other) {
    const Link nics = chips_ / chips_per_nic_;
    latency = nic_latency_;
    route.push_back(first_nic_ + from / chips_per_nic_);
    size_t height = 0;
    while (height < layers_.size() && unit / layers_[height].units != other / layers_[height].units)
      ++height;
    for (size_t i = 0; i < height; ++i) {
      route.push_back(layers_[i].first + unit / layers_[i].units);
      latency += hop_latency_;
    }
    for (size_t i = height; i-- > 0;) {
      const Rank units_in_all = chips_ / chips_per_unit_;
      const Link groups = (units_in_all + layers_[i].units - 1) / layers_[i].units;
      route.push_back(layers_[i].first + groups + other / layers_[i].units);
    }
    route.push_back(first_nic_ + nics + to / chips_per_nic_);
    return latency;
  }
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
