#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "system/system.h"

namespace trnsim {

using Link = uint32_t;

/// One kind of link of a network: where a report says that a link "is".
struct LinkLevel {
  std::string name;  // "sled switch, out"
  Link first = 0;    // its links are first .. first + count - 1
  Link count = 0;
  BytesPerSecond capacity = 0;  // that payload reaches
};

/// The links of a whole system and the route between any two of its chips.
///
/// Everything follows from coordinates: a chip's number is ((unit * size_n + c_n) ... * size_1 +
/// c_1) with the first dimension of the scale-up fastest. Nothing is stored for a chip or link but
/// what a fault changed, so a million chips cost nothing.
///
/// Trn3 Gen2, chip (pos 1, sled 4, rack 0) to (pos 3, sled 7, rack 1):
///   sled port out of (1,4,0) - in of (3,4,0) - plane port out of (3,4,0) - in of (3,7,0)
///   - twin link of (3,7,0) to (3,7,1)
class Network {
 public:
  explicit Network(const System& system);

  Rank chips() const { return chips_; }
  Rank chips_per_unit() const { return chips_per_unit_; }
  /// Units below one group of switches, layer by layer.
  std::vector<Rank> units_of_groups() const;
  Link links() const { return links_; }
  const std::vector<LinkLevel>& levels() const { return levels_; }
  const LinkLevel& level(Link link) const;

  /// Payload bytes/s of one direction of this link, a fault included.
  BytesPerSecond capacity(Link link) const;
  /// "unit 0 chip 17 sled switch, out"; unique.
  std::string name(Link link) const;
  /// The link of that name. Throws std::out_of_range if there is none.
  Link find(std::string_view name) const;

  /// Makes one link slower or faster by `factor` (above 0).
  void scale(Link link, double factor);
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
    Link first;
  };

  void add_level(const std::string& name, Link count, BytesPerSecond capacity);
  void hop(const Dimension& dimension, Rank from, Rank steps, std::vector<Link>& route) const;

  std::vector<Dimension> dimensions_;
  std::vector<Layer> layers_;
  std::vector<LinkLevel> levels_;
  std::map<Link, double> faults_;
  Rank chips_ = 0;
  Rank chips_per_unit_ = 0;
  Rank chips_per_nic_ = 1;
  Link first_nic_ = 0;
  Link links_ = 0;
  Seconds nic_latency_ = 0;
  Seconds hop_latency_ = 0;
};

}  // namespace trnsim
