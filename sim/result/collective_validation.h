#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plan/published_collective.h"
#include "result/validation.h"

namespace trnsim {

/// A published time of a collective beside the simulated one.
struct ValidatedCollective {
  PublishedCollective of;
  Seconds predicted = 0;
  std::string algorithm;

  /// Relative and signed: above 0 if the simulated time is too long.
  double error() const { return predicted / *of.measured - 1; }
};

struct CollectiveValidation {
  std::vector<ValidatedCollective> rows;
  std::vector<SkippedRun> skipped;
};

/// Simulates every collective, each with what its library chooses where that is known, else with
/// the fastest algorithms. Each becomes a row or is skipped, in the order of the list.
CollectiveValidation validate(const std::vector<PublishedCollective>& list, const Rules& rules,
                              Fidelity fidelity);

nlohmann::json to_json(const CollectiveValidation& validation);
std::string text_report(const CollectiveValidation& validation);

}  // namespace trnsim
