#pragma once

#include "plan/part_times.h"
#include "plan/plan.h"
#include "plan/scenario.h"

namespace trnsim {

/// One training step of the job as a Plan: microbatches of a forward and a backward pass, the
/// collectives of its kind of data parallelism (data_parallel.h), and the optimizer. If the times
/// of the model's parts are given, a part is one operation in each pass that takes so long, with
/// its collectives of activations.
Plan training_step(const Job& job, const std::vector<PartTimes>& times = {});

}  // namespace trnsim
