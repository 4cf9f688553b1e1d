#pragma once

#include <vector>

#include "plan/plan.h"
#include "plan/scenario.h"

namespace trnsim {

/// How long a chip takes for a part of the model in one pass, with the collectives of activations
/// that stand in its way, and nothing else on chip or links.
struct PartTimes {
  Seconds forward = 0;
  Seconds backward = 0;
  Seconds again = 0;  // forward once more, where it is recomputed
};

/// Each entry of model_operations() forward, again and backward, one after another, on every rank
/// at once: the label of their steps has 3 * entry (+ 1, + 2) as its layer. Playing it gives
/// PartTimes.
Plan parts_alone(const Job& job);

}  // namespace trnsim
