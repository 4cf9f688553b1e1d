#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plan/collective_job.h"
#include "plan/rules.h"

namespace trnsim {

/// A published measurement of a collective. What was measured stands apart from what rules may see.
struct PublishedCollective {
  std::string id;
  std::string group;               // measurements of one sweep
  std::optional<CollectiveOp> op;  // if it is one of ours
  Rank ranks = 1;
  Bytes bytes = 0;               // nccl-tests' size
  nlohmann::json configuration;  // what the source states, but for id and measurements
  std::optional<Seconds> measured;
};

/// Reads a list of published measurements. Throws InputError.
std::vector<PublishedCollective> load_published_collectives(const std::filesystem::path& file);

/// A published measurement as a job.
struct CollectiveReplay {
  std::optional<CollectiveJob> job;
  std::string why;  // there is no job
};

/// On which system a collective is simulated and by which algorithm is said by rules of the format
/// "trnsim.collective_rules.v1".
CollectiveReplay replay(const PublishedCollective& of, const Rules& rules, Fidelity fidelity);
/// Reads a file of them. Throws InputError.
Rules load_collective_rules(const std::filesystem::path& file);

}  // namespace trnsim
