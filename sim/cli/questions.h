#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "plan/scenario.h"
#include "result/report_page.h"
#include "result/timeline.h"
#include "result/uncertainty.h"

namespace trnsim {

/// What `run` and `compare` have in common: a scenario becomes a result.
struct Answering {
  std::filesystem::path trace;  // of the scenario's own system; empty: none
  bool progress = true;
  bool best_layout = false;               // each system with its own fastest layout that fits
  const UnnamedFile* timeline = nullptr;  // takes that of the scenario's own system
  std::optional<Sampling> sampling = {};  // how sure are the figures?
  std::vector<Override> overrides = {};   // with which the scenario was read; for sampling
};

/// Simulates all of a scenario's systems. Throws CannotRun if its own does not fit in memory.
ScenarioResult answer(const Scenario& scenario, const Answering& options);

/// The overrides of repeated `--set path=value`.
std::vector<Override> parse_overrides(const std::vector<std::string>& texts);

/// The overrides of repeated `--cfg KEY:VALUE`: settings of SimGrid for every job of a scenario.
std::vector<Override> parse_settings(const std::vector<std::string>& texts);

/// Writes the report or, with `json`, one JSON object to stdout.
void print(const ScenarioResult& result, bool json, bool assumptions);

/// Writes result.json, report.txt and report.html into a folder.
void write_files(const std::filesystem::path& folder, const ScenarioResult& result,
                 const std::vector<std::pair<size_t, std::string>>& timelines);

}  // namespace trnsim
