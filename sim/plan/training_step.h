#pragma once

#include "plan/collectives.h"
#include "plan/plan.h"
#include "plan/scenario.h"

namespace trnsim {

/// The axes of the fabric, from the fastest to the slowest: the dimensions of a unit, then the
/// units below one group of each layer of switches. Where the units do not fill whole groups, the
/// layers above that are one axis.
std::vector<Axis> fabric_axes(const System& system);

/// One training step of the job as a Plan: microbatches of a forward and a backward pass, the
/// collectives of its kind of data parallelism, and the optimizer.
///
/// DDP all-reduces the gradients of the last microbatch in buckets, each as soon as its last
/// gradient is there. ZeRO-3 gathers the parameters of one transformer layer at a time, `prefetch`
/// ahead, in both passes, and reduce-scatters its gradients in every microbatch.
Plan training_step(const Job& job);

}  // namespace trnsim
