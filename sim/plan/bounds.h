#pragma once

#include "plan/plan.h"
#include "plan/scenario.h"

namespace trnsim {

/// The least seconds in which a collective can run on this system whatever its algorithm: the bytes
/// that each chip must pass through all of its ports, and each unit through all of its NICs, at
/// least, over what these carry. Reductions inside the network would need less and are not
/// modelled.
Seconds collective_bound(const Collective& collective, const System& system);

/// The least seconds for a step: the model's FLOPs at the chip's full peak.
Seconds compute_bound(const Job& job);

}  // namespace trnsim
