#pragma once

#include "plan/scenario.h"
#include "result/result.h"

namespace trnsim {

/// The step time of a job in analytic fidelity, in this process. Infinite if it does not fit in
/// memory.
Seconds analytic_step(const Job& job);

/// The job with the algorithm of its collectives that makes its step shortest.
Job best_algorithm(const Job& job);

/// The job with the layout of data parallelism that fits in memory and makes its step shortest:
/// ZeRO stage, sharding over all ranks or inside a unit, algorithm, micro batch, recomputation. The
/// job itself if nothing fits. Of equals the one nearest to DDP.
Job best_layout(const Job& job);

/// The job with the fewest units over which its step takes no longer than `own`'s and its batch
/// divides; if there are none, with those over which it is shortest.
Job matched_in_time(const Job& own, const Job& job);

/// What the own system's step would take with one property of the other system at a time: FLOP/s,
/// HBM, scale-up, scale-out, latency, overlap. The last entry is what is left, which the shape of
/// the fabric, the number of chips and the layout make together.
Comparison explain(const Job& own, const Job& other, const std::string& basis);

}  // namespace trnsim
