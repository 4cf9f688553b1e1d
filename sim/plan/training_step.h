#pragma once

#include "plan/plan.h"
#include "plan/scenario.h"

namespace trnsim {

/// One training step of the job as a Plan: microbatches of a forward and a backward pass, the
/// collectives of its kind of data parallelism (data_parallel.h), and the optimizer.
Plan training_step(const Job& job);

}  // namespace trnsim
