#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "plan/scenario.h"
#include "result/result.h"

namespace trnsim {

struct Sampling {
  size_t samples = 200;
  uint64_t seed = 1;
};

/// Draws every number that has a range, estimates each of the scenario's jobs with each draw by
/// estimated_step(), and writes what comes out into the runs. A range counts as 90 % of a
/// distribution that is normal on each side of the value (of logarithms, if the range lies above
/// 0), cut off at its ends. A number that several systems read from one file has one draw for all
/// of them. A chip's `model_error` is drawn too, as a factor of the step. What is estimated is
/// scaled by what the simulation of the stated numbers gave over their estimate.
///
/// `jobs` are those of the scenario with everything chosen that it leaves open (algorithms,
/// layouts, units), `runs` their results. The same seed gives the same figures, whatever the number
/// of cores. Runs that do not fit in memory get none.
void add_uncertainty(const std::filesystem::path& scenario, const std::vector<Override>& overrides,
                     const std::vector<Job>& jobs, const Sampling& sampling,
                     std::vector<RunResult>& runs);

}  // namespace trnsim
