#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plan/collective_job.h"
#include "plan/rule.h"

namespace trnsim {

/// A published measurement of a collective. What was measured stands apart from what rules may see.
struct PublishedCollective {
  std::string id;
  std::string group;               // measurements of one sweep
  std::optional<CollectiveOp> op;  // if it is one of ours
  Rank ranks = 1;
  Rank nodes = 1;
  Bytes bytes = 0;               // nccl-tests' size
  nlohmann::json configuration;  // what the source states, but for id and measurements
  std::optional<Seconds> measured;
};

/// Reads a list of published measurements. Throws InputError.
std::vector<PublishedCollective> load_published_collectives(const std::filesystem::path& file);

/// How a published measurement becomes a job: on which system, by which algorithm, and what the
/// program that measured adds.
class CollectiveRules {
 public:
  /// Reads a "trnsim.collective_rules.v1" file. Throws InputError.
  static CollectiveRules load(const std::filesystem::path& file);

  struct Replay {
    std::optional<CollectiveJob> job;
    Seconds launch = 0;  // what measuring adds to each collective
    std::string why;     // there is no job
  };
  Replay replay(const PublishedCollective& of, Fidelity fidelity) const;

 private:
  std::filesystem::path folder_;
  std::vector<Rule> refusals_;  // any that applies
  std::vector<Rule> systems_;   // the first that applies
  std::vector<Rule> settings_;  // all that apply, one laid over the other
};

}  // namespace trnsim
