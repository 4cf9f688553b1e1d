#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace trnsim {

/// A training run that somebody published: what was trained on what, and how long a step took.
struct PublishedRun {
  std::string id;
  std::string source;
  std::string accelerator;
  uint64_t accelerators = 1;
  nlohmann::json configuration;  // what the source states of the run, by its key; nothing measured
  std::optional<Seconds> measured;  // the step; from tokens/s or samples/s if no time is stated

  bool states(const char* key) const { return configuration.contains(key); }
};

/// Reads a list of runs, the keys of which docs/accuracy.md defines. Throws InputError.
std::vector<PublishedRun> load_published_runs(const std::filesystem::path& file);

}  // namespace trnsim
