#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "system/link.h"
#include "system/system.h"

namespace trnsim {

/// The links of a whole system and the route between any two of its chips.
///
/// Where a system has no graph, everything follows from coordinates: a chip's number is ((unit *
/// size_n + c_n) ... * size_1 + c_1) with the first dimension of the scale-up fastest. Nothing is
/// stored for a chip or link but what a fault changed, so a million chips cost nothing.
///
/// Trn3 Gen2, chip (pos 1, sled 4, rack 0) to (pos 3, sled 7, rack 1):
///   sled port out of (1,4,0) - in of (3,4,0) - plane port out of (3,4,0) - in of (3,7,0)
///   - twin link of (3,7,0) to (3,7,1)
///
/// DGX H100, rails, GPU 2 of unit 0 to GPU 5 of unit 1 below the same leaf switches:
///   NIC out of GPU 2 - up from leaf switch 2 - down to leaf switch 5 - NIC into GPU 5
///   or, where rails meet in the unit: NVSwitch port out of GPU 2 - in of GPU 5 of unit 0
///   - NIC out of that - NIC into GPU 5 of unit 1
///
/// Where it has one, the links and routes are those of its table.
class Network {
 public:
  explicit Network(const System& system);

  Rank chips() const { return chips_; }
  Rank chips_per_unit() const { return chips_per_unit_; }
  /// Units below one group of switches, layer by layer; all of them where they are fewer.
  std::vector<Rank> units_of_groups() const;
  Link links() const { return links_; }
  const std::vector<LinkLevel>& levels() const { return levels_; }
  const LinkLevel& level(Link link) const;

  /// Payload bytes/s of one direction of this link, a fault included.
  BytesPerSecond capacity(Link link) const;
  /// "unit 0 chip 17 sled switch, out", or "a7 to leaf 2, port" in a graph; unique.
  std::string name(Link link) const;
  /// The link of that name, or the cable: "unit 0 NIC 3 EFA NIC, out, ToR 1". Throws
  /// std::out_of_range if there is none.
  Cable find(std::string_view name) const;

  /// Makes one link slower or faster by `factor` (above 0). Of a link of several cables one takes
  /// its part of the capacity: traffic is spread over them as they can carry it.
  void scale(const Cable& cable, double factor);
  /// Bytes/s that all NICs together can send (0 in a single unit).
  BytesPerSecond all_nics() const;
  bool has_faults() const { return !faults_.empty(); }

  /// Writes the links that a message from one chip to another crosses, in order (none if they are
  /// the same chip), and returns its latency without queueing.
  Seconds route(Rank from, Rank to, std::vector<Link>& route) const;

 private:
  struct Dimension {
    FabricDimension::Kind kind;
    Rank size;
    Rank stride;
    Seconds latency;
    Link first;
    Link links_per_chip;
  };
  struct Layer {
    Rank units;
    Rank rails;  // groups of switches that the units have each of
    Link up;
    Link down;
  };

  void add_level(const LinkLevel& level);
  void add_dimension(const FabricDimension& dimension, Rank stride);
  void add_layers(const System& system);
  void hop(const Dimension& dimension, Rank from, Rank steps, std::vector<Link>& route) const;
  Link find_whole(std::string_view name) const;
  Link nics() const { return chips_ / chips_per_nic_; }
  Rank rail(Rank chip) const { return chip % chips_per_unit_ / chips_per_nic_ % rails_; }
  Link uplink(const Layer& layer, Rank chip) const;
  Seconds route_inside(Rank from, Rank to, std::vector<Link>& route) const;
  Seconds route_between(Rank from, Rank to, std::vector<Link>& route) const;

  std::shared_ptr<const RouteTable> graph_;
  std::vector<Dimension> dimensions_;
  std::vector<Layer> layers_;
  std::vector<LinkLevel> levels_;
  std::map<Link, std::vector<double>> faults_;  // factors of a link's cables
  Rank chips_ = 0;
  Rank chips_per_unit_ = 0;
  Rank chips_per_nic_ = 1;
  Rank rails_ = 1;
  bool rails_meet_in_unit_ = false;
  Link first_nic_ = 0;
  Link links_ = 0;
  Seconds nic_latency_ = 0;
  Seconds hop_latency_ = 0;
};

}  // namespace trnsim
