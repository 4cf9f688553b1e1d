#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plan/replay.h"

namespace trnsim {

/// A published step beside the simulated one.
struct ValidatedRun {
  PublishedRun run;
  Seconds measured = 0;
  Seconds predicted = 0;
  std::vector<std::string> assumed;  // what the run does not state, and what was taken

  /// Relative and signed: above 0 if the simulated step is too long.
  double error() const { return predicted / measured - 1; }
};

struct SkippedRun {
  std::string id;
  std::string why;
};

/// Errors of some runs. Absolute ones are relative to the measurement.
struct ErrorSummary {
  size_t runs = 0;
  double mean_absolute = 0;
  double median_absolute = 0;
  double ninetieth_absolute = 0;  // nine of ten are at most this
  double bias = 0;                // mean of signed errors
};

/// The same job, chip by chip, at two sizes of the cluster. An efficiency is the throughput of a
/// chip in the larger one over that in the smaller one.
struct WeakScaling {
  std::string smaller, larger;  // ids
  uint64_t smaller_chips = 0, larger_chips = 0;
  double measured = 0;
  double predicted = 0;
};

struct Validation {
  std::vector<ValidatedRun> runs;
  std::vector<SkippedRun> skipped;
};

/// Replays every run with the simulator's own plan and engine. Each becomes a validated or a
/// skipped one, in the order of the list.
Validation validate(const std::vector<PublishedRun>& runs, const ReplayRules& rules,
                    Fidelity fidelity);

/// Of signed relative errors.
ErrorSummary summary_of(const std::vector<double>& errors);
ErrorSummary summary(const std::vector<ValidatedRun>& runs);
nlohmann::json to_json(const ErrorSummary& errors);
/// A line of a table of errors, and its heads.
std::vector<std::string> error_cells(const std::string& name, const ErrorSummary& errors);
std::vector<std::string> error_heads();
/// "12.5 %"
std::string error_percent(double part);
/// Why what is skipped is skipped, reason by reason.
std::string list_of_skipped(const std::vector<SkippedRun>& skipped);
/// Every pair of runs that differ in the number of chips and what follows from it alone: each size
/// against the smallest.
std::vector<WeakScaling> weak_scaling(const std::vector<ValidatedRun>& runs);

nlohmann::json to_json(const Validation& validation);
std::string text_report(const Validation& validation);

}  // namespace trnsim
