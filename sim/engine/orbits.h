#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.h"
#include "system/network.h"

namespace trnsim {

/// Ranks and links that symmetries of plan and network carry into each other. Orbits are a sound
/// folding, though not always the coarsest: what one member does, all do (docs/model.md).
///
/// The symmetries are those that move whole units and leave each chip its place in its unit. They
/// are there if nothing is special about a unit (no fault, no program or pattern of its own), all
/// groups of switches are full, and every axis of a pattern stays inside a unit or moves one digit
/// of the unit's number in a mixed radix whose places are also where groups of switches end.
class Orbits {
 public:
  /// Each rank and link by itself: nothing is claimed.
  static Orbits each(const Plan& plan, const Network& network);
  /// What moving units makes of them; nothing if that is no symmetry here.
  static std::optional<Orbits> of_units(const Plan& plan, const Network& network);

  /// The representatives of the orbits of ranks are the ranks below this.
  uint32_t ranks() const { return ranks_; }
  uint32_t links() const { return links_; }
  uint32_t of_rank(Rank rank) const { return rank % ranks_; }
  uint32_t of_link(Link link) const;
  /// A link of the orbit.
  Link representative(uint32_t link_orbit) const;
  /// How many of all messages cross one link of the orbit, for each crossing that the messages of
  /// the representatives have with the orbit.
  uint64_t weight(uint32_t link_orbit) const;

 private:
  struct Level {
    Link first = 0;  // in the network
    Link count = 0;  // in the network
    uint32_t first_orbit = 0;
    uint32_t orbits = 1;  // link i of the level is in orbit first_orbit + i % orbits
    uint64_t weight = 1;
  };
  const Level& level_of(uint32_t link_orbit) const;

  uint32_t ranks_ = 0;
  uint32_t links_ = 0;
  std::vector<Level> levels_;
};

}  // namespace trnsim
