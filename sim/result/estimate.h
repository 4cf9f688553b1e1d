#pragma once

#include "plan/scenario.h"

namespace trnsim {

/// The step time of a job in analytic fidelity at the grain of a layer: a layer is one operation in
/// each pass, and the ranks of a stage are in step (engine/in_step.h). For where many jobs are
/// tried: where groups are alike and nothing is beside a collective of activations it is what
/// analytic fidelity gives. Faults are not looked at. Infinite if the job does not fit in memory.
Seconds estimated_step(const Job& job);

/// The same if communication took no time.
Seconds estimated_step_with_free_communication(const Job& job);

}  // namespace trnsim
