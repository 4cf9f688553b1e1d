#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plan/scenario.h"
#include "result/result.h"

namespace trnsim {

/// What `run` and `compare` have in common: a scenario becomes a result.
struct Answering {
  std::filesystem::path trace;  // of the scenario's own system; empty: none
  bool progress = true;
  bool best_layout = false;  // each system with its own fastest layout that fits
};

/// Simulates all of a scenario's systems. Throws CannotRun if its own does not fit in memory.
ScenarioResult answer(const Scenario& scenario, const Answering& options);

/// The overrides of repeated `--set path=value`.
std::vector<Override> parse_overrides(const std::vector<std::string>& texts);

/// The overrides of repeated `--cfg KEY:VALUE`: settings of SimGrid for every job of a scenario.
std::vector<Override> parse_settings(const std::vector<std::string>& texts);

/// Writes the report or, with `json`, one JSON object to stdout.
void print(const ScenarioResult& result, bool json, bool assumptions);

}  // namespace trnsim
