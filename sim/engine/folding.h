#pragma once

#include <cstdint>
#include <vector>

#include "engine/orbits.h"
#include "plan/plan.h"
#include "system/network.h"

namespace trnsim {

/// Which ranks are alike, and which links: a colour for each, from 0 without gaps.
///
/// A folding is sound if ranks of one colour have the same program and speed and exchange, in each
/// pattern, messages of the same latency over links of the same colours with ranks of the same
/// colours, and if links of one colour have the same capacity and carry as many messages of each
/// such kind. Then all ranks of a colour do the same at the same time, in message-by-message
/// simulation with equal sharing of links, and one of each stands for all, exactly (docs/model.md
/// has the proof).
struct Folding {
  std::vector<uint32_t> rank;
  std::vector<uint32_t> link;
  uint32_t rank_colours = 0;
  uint32_t link_colours = 0;
};

/// Every rank and link a colour of its own: the unfolded simulation.
Folding identity(const Plan& plan, const Network& network);

/// The coarsest sound folding, by colour refinement (CannotRun if that would take hours); of orbits
/// where units are alike, so that its time does not grow with their number.
Folding refine(const Plan& plan, const Network& network);
/// The same from given orbits.
Folding refine(const Plan& plan, const Network& network, const Orbits& orbits);

/// Whether the folding is sound: one more round of refinement, started from it, splits nothing.
/// Needs no trust in whoever made it.
bool sound(const Plan& plan, const Network& network, const Folding& folding);

}  // namespace trnsim
