// Feeds arbitrary bytes to everything that reads what a user wrote. It must accept them or throw
// InputError, in bounded time and memory; libFuzzer reports all else. Nothing is simulated.
//
//   fuzz_readers TARGET [OPTION of libFuzzer ...] [FOLDER of inputs ... | FILE to try ...]

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>

#include "inputs.h"
#include "plan/pair_sizes.h"
#include "plan/published_collective.h"
#include "plan/replay.h"
#include "plan/scenario.h"
#include "result/imported_fabric.h"
#include "result/report.h"
#include "result/result.h"

namespace trnsim::fuzz {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Target = std::function<void(std::string_view)>;

// A document read from memory, which may include what a file in `folder` may.
Target document(const fs::path& folder, const std::function<void(const Document&)>& read) {
  return [=](std::string_view text) {
    if (stays_inside(parsed(text), folder)) read(Document::parse(text, "input", folder, {}));
  };
}

// For what is always read from a file.
void with_file(std::string_view text, const std::function<void(const fs::path&)>& read) {
  if (!stays_inside(parsed(text), innermost)) return;
  static const fs::path file = innermost / (std::to_string(getpid()) + ".json");
  std::ofstream(file, std::ios::binary) << text;
  const struct Removed {
    ~Removed() { fs::remove(file); }
  } removed;
  read(file);
}

void scenario(std::string_view text) {
  with_file(text, [](const fs::path& file) {
    for (const Job& job : load_scenario(file, {}).jobs) network_of(job);
  });
}

// Published runs by the repository's own rules, as far as the scenario.
void runs(std::string_view text) {
  static const ReplayRules rules = ReplayRules::load(TRNSIM_SOURCE_DIR "/validation/training.json");
  with_file(text, [](const fs::path& file) {
    for (const PublishedRun& run : load_published_runs(file)) try {
        rules.scenario(run);
      } catch (const InputError&) {
        // Why this run is skipped; the others go on.
      }
  });
}

void rules(std::string_view text) {
  with_file(text, [](const fs::path& file) { ReplayRules::load(file); });
}

// Published collectives in the same way.
void collectives(std::string_view text) {
  static const Rules rules =
      load_collective_rules(TRNSIM_SOURCE_DIR "/validation/collectives.json");
  with_file(text, [](const fs::path& file) {
    for (const PublishedCollective& of : load_published_collectives(file))
      replay(of, rules, Fidelity::analytic);
  });
}

void collective_rules(std::string_view text) {
  with_file(text, [](const fs::path& file) { load_collective_rules(file); });
}

// Each line is a --set for the quickstart.
void overrides(std::string_view text) {
  std::vector<Override> changes;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    changes.push_back(parse_override(line));
    const std::string& value = changes.back().value;
    const json read = parsed(value);
    if (!stays_inside(read.is_discarded() ? json(value) : read, "")) return;
  }
  for (const Job& job : load_scenario(TRNSIM_SOURCE_DIR "/scenarios/quickstart.json", changes).jobs)
    network_of(job);
}

void quantities(std::string_view text) {
  for (const Unit unit : {Unit::bytes, Unit::bytes_per_second, Unit::seconds,
                          Unit::flops_per_second, Unit::watts, Unit::usd_per_hour, Unit::ratio}) {
    try {
      format_quantity(parse_quantity(text, unit), unit);
    } catch (const std::invalid_argument&) {
      // What JsonReader makes an InputError with a place.
    }
  }
}

// What `compare` does with a result.
void result(const Document& document) {
  const ScenarioResult result = read_result(document);
  to_json(result).dump();
  text_report(result);
  assumptions_report(result);
}

// An import, as far as the system that it becomes.
Target import(ImportedFabric (*read)(std::string_view, const std::string&)) {
  return [read](std::string_view text) {
    const std::string made = system_json(read(text, "input"), std::nullopt).dump();
    read_system(JsonReader(Document::parse(made, "input", innermost, {})));
  };
}

const std::map<std::string, Target> targets = {
    {"astra", import(import_astra)},
    {"chip",
     document(inputs / "topologies/chips", [](const Document& it) { read_chip(JsonReader(it)); })},
    {"collective_rules", collective_rules},
    {"collectives", collectives},
    {"document", document(innermost, [](const Document& it) { it.root().dump(); })},
    {"library", document(inputs / "topologies/libraries",
                         [](const Document& it) {
                           std::vector<Number> numbers;
                           read_library(JsonReader(it), numbers);
                         })},
    {"overrides", overrides},
    {"pair_sizes", document(inputs / "tests/bad_inputs/sizes_not_square",
                            [](const Document& it) { read_pair_sizes(JsonReader(it)); })},
    {"quantities", quantities},
    {"recipe", document(inputs / "workloads/recipes",
                        [](const Document& it) { read_training(JsonReader(it)); })},
    {"result", document(innermost, result)},
    {"rules", rules},
    {"runs", runs},
    {"scenario", scenario},
    {"simai", import(import_simai)},
    {"simgrid", import(import_simgrid)},
    {"software", document(inputs / "topologies/software",
                          [](const Document& it) { read_software(JsonReader(it)); })},
    {"system",
     document(inputs / "topologies", [](const Document& it) { read_system(JsonReader(it)); })},
    {"workload",
     document(inputs / "workloads", [](const Document& it) { read_architecture(JsonReader(it)); })},
};

Target target;

// A result to begin with; the repository keeps none.
std::string any_result() {
  RunResult run;
  run.step_time = run.peak_flops = 1;
  run.chips = 1;
  run.memory_parts.resize(1);
  run.collectives.resize(1);
  run.links.resize(1);
  run.assumptions.resize(1);
  ScenarioResult result;
  result.runs = {run, run};
  return to_json(result).dump();
}

}  // namespace

json parsed(std::string_view text) {
  constexpr int deepest = 64;
  return json::parse(
      text, [](int depth, json::parse_event_t, json&) { return depth <= deepest; }, false);
}

bool stays_inside(const json& value, const fs::path& folder) {
  if (value.is_structured())
    return std::all_of(value.begin(), value.end(),
                       [&](const json& member) { return stays_inside(member, folder); });
  if (!value.is_string()) return true;
  fs::path file = (folder / value.get<std::string>()).lexically_normal();
  if (!folder.empty()) file = file.lexically_relative(inputs);
  return file.is_relative() && !file.string().starts_with("..");
}

}  // namespace trnsim::fuzz

// The first argument is the target. --list prints all of them, --result a result.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace trnsim::fuzz;
  const std::string name = *argc > 1 ? (*argv)[1] : "";
  const auto found = targets.find(name);
  if (found == targets.end()) {
    if (name == "--result") {
      std::cout << any_result() << '\n';
    } else {
      if (name != "--list") std::cerr << "no target \"" << name << "\"; there are:\n";
      for (const auto& [known, run] : targets) std::cout << known << '\n';
    }
    std::exit(name == "--list" || name == "--result" ? 0 : 2);
  }
  target = found->second;
  std::swap((*argv)[0], (*argv)[1]);
  ++*argv;
  --*argc;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    trnsim::fuzz::target({reinterpret_cast<const char*>(data), size});
  } catch (const trnsim::InputError&) {
  }
  return 0;
}
