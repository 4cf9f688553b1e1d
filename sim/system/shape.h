#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "system/system.h"

namespace trnsim {

// What follows from the shape of a system alone: ports, distances and cuts. All of it is computed
// from sizes and counts, so a million chips cost no more than eight.

/// Ports of one chip along a dimension: its links to switches, to both neighbours in a ring, or to
/// all others of a mesh. None along a dimension of size 1.
int ports_of_chip(const FabricDimension& dimension);

/// Payload bytes/s of one NIC, one direction.
BytesPerSecond nic_payload(const ScaleOut& out);

/// The rails that have switches of their own in scale_out.layers[layer]; 1 above the last layer.
Rank rails_of(const System& system, size_t layer);

/// The layers of switches that the units need: those of more than one group, or of several rails.
/// What is above them joins everything.
std::vector<ClosLayer> layers_in_use(const System& system);

/// Groups of a layer, the last of which may be filled in part.
Rank groups_of(const System& system, const ClosLayer& layer);

/// Bytes/s of the uplinks of one group of layers_in_use()[layer], all rails together, one
/// direction.
struct Uplinks {
  BytesPerSecond nominal = 0;
  BytesPerSecond payload = 0;
};
Uplinks uplinks(const System& system, size_t layer);

/// How far the chips of a kind of pairs are apart, along the routes of Network. Pairs are ordered
/// and of two different chips, each as frequent as any other.
///
/// Inside a unit a hop goes from chip to chip, however many switches are between them. Between
/// units, and in a graph, a hop is a link: NIC, uplinks, downlinks, NIC.
struct Distances {
  std::string where;   // "inside a unit", "below one leaf", "over the top"
  uint64_t pairs = 0;  // of the whole system
  Rank worst_hops = 0;
  double mean_hops = 0;
  Seconds worst_latency = 0;
  Seconds mean_latency = 0;
};

/// Coordinates of a random pair differ independently of each other, so means add up over the
/// dimensions: (n - 1) / n hops in a switch or mesh of n and floor(n^2 / 4) / n in a ring (Dally
/// and Towles, Principles and Practices of Interconnection Networks, section 5.2.2) if a chip
/// itself counts as an other, which the factor N / (N - 1) takes out. No pairs in a unit of one. In
/// a graph all pairs are looked at.
Distances inside_unit(const System& system);

/// The pairs of two units, by where their routes turn round: below one group of a layer, the lowest
/// first, or at the top; those that change rails inside a unit, after these. Kinds without pairs
/// are left out.
std::vector<Distances> between_units(const System& system);

/// All pairs of several kinds as one.
Distances together(const std::vector<Distances>& kinds, const std::string& where);

/// A cut that halves the chips, or as nearly as an odd size or number of units allows; and what
/// passes it from one side to the other.
struct Cut {
  std::string name;            // of the dimension or layer that is cut
  Rank chips = 0;              // on the smaller side
  BytesPerSecond nominal = 0;  // one direction
  BytesPerSecond payload = 0;
};

/// For each dimension of size n > 1 the cut between its lower floor(n/2) coordinates and the rest.
/// Across it each line of chips along the dimension has floor(n/2) ports of a switch, 2 links of a
/// ring, floor(n/2) ceil(n/2) links of a mesh.
std::vector<Cut> cuts_of_unit(const System& system);

/// What half of the units (rounded down) can send to the others through their NICs and through
/// their part of the uplinks of each layer of several groups. None if there is one unit.
std::vector<Cut> cuts_between_units(const System& system);

/// The cut that least payload passes. `cuts` must not be empty.
const Cut& narrowest(const std::vector<Cut>& cuts);

}  // namespace trnsim
