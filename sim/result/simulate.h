#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/executor.h"
#include "result/result.h"

namespace trnsim {

/// More sinks for a simulation, made once its graph is known.
using MakeSinks =
    std::function<std::vector<std::unique_ptr<Sink>>(const Graph& graph, const Network& network)>;

/// Simulates one job in this process, in which no other may have been simulated with SimGrid. A job
/// that does not fit in memory is not simulated: its result says so.
RunResult simulate(const Job& job, const MakeSinks& make_sinks = {});

/// Simulates each job in a process of its own, as many at once as there are cores, and returns the
/// results in the order of the jobs. `make_sinks` is for the first. Throws what a simulation threw.
std::vector<RunResult> simulate_all(const std::vector<Job>& jobs, const MakeSinks& make_sinks = {});

}  // namespace trnsim
