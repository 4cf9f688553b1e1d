#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "system/network.h"

namespace trnsim {

/// Two different chips whose route is shown.
struct ChipPair {
  Rank from = 0;
  Rank to = 0;
};

/// What a system file was understood to say and what follows from it, as text: chips, dimensions,
/// NICs and layers, links by level, distances, cuts, and the route between `pair` if one is given.
/// Rates are of one direction.
std::string topology_report(const System& system, const Network& network,
                            const std::optional<ChipPair>& pair);

/// The same as a "trnsim.topology.v1" object, in SI units, which the keys name.
nlohmann::ordered_json topology_json(const System& system, const Network& network,
                                     const std::optional<ChipPair>& pair);

}  // namespace trnsim
