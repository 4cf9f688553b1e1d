#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/published_run.h"
#include "plan/rules.h"
#include "plan/scenario.h"

namespace trnsim {

/// How what a published run says of itself becomes a scenario: which system it ran on, and what its
/// words mean. Rules see the configuration of a run, never its name or what was measured.
class ReplayRules {
 public:
  /// Reads a "trnsim.replay.v1" file. Throws InputError.
  static ReplayRules load(const std::filesystem::path& file);

  /// The scenario of a run, without its micro batch or recomputation where the run does not state
  /// them. Throws InputError that says why if there is none.
  nlohmann::json scenario(const PublishedRun& run) const;
  /// The folder that the names of systems are relative to.
  const std::filesystem::path& folder() const { return rules_.folder(); }

 private:
  explicit ReplayRules(Rules rules) : rules_(std::move(rules)) {}
  Rules rules_;
};

/// A published run as a job.
struct Replay {
  std::optional<Job> job;
  std::string scenario;              // what the job was read from; runs that share it share the job
  std::vector<std::string> assumed;  // what the run does not state, and what was taken
  std::string why;                   // there is no job
};

/// Makes the job of a run. Where a run does not state them, recomputation is the least that fits in
/// memory and the micro batch the largest.
Replay replay(const PublishedRun& run, const ReplayRules& rules, Fidelity fidelity);

}  // namespace trnsim
