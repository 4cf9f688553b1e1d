#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "plan/simgrid_settings.h"
#include "system/network.h"
#include "system/system.h"
#include "workload/architecture.h"
#include "workload/recipe.h"

namespace trnsim {

enum class Fidelity { message, phase, analytic };

std::string to_string(Fidelity fidelity);

/// How a job is simulated.
struct EngineOptions {
  Fidelity fidelity = Fidelity::message;
  bool fold = true;
  SimgridSettings simgrid = {};
};

/// Something that is not as it should be: a chip whose compute, or a link whose bandwidth, is a
/// factor of the healthy one.
struct Fault {
  std::optional<Rank> chip;
  std::optional<std::string> link;
  double factor = 1;
};

/// One simulation: one workload on one system.
struct Job {
  System system;
  Architecture model;
  Training training;
  Layout layout;
  EngineOptions engine;
  std::vector<Fault> faults;
  std::string purchase;  // which of the system's prices

  uint64_t microbatches() const {
    return training.global_batch / (training.micro_batch * layout.data);
  }
};

/// A question: a job, and the systems that it is compared with.
struct Scenario {
  std::string name;
  std::string path;
  std::string compare_at = "chips";
  std::vector<Job> jobs;  // the first is the scenario's own system
};

/// Reads a scenario file with everything that it names, and applies the overrides. Throws
/// InputError for anything that is wrong with it.
Scenario load_scenario(const std::filesystem::path& path, const std::vector<Override>& overrides);
/// The same of a document that has been read already; `path` is what errors call it.
Scenario read_scenario(const Document& document, const std::string& path);

/// The network of a job with its link faults applied.
Network network_of(const Job& job);

}  // namespace trnsim
