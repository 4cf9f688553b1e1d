#include <iostream>
#include <memory>

#include "cli/questions.h"
#include "cli/verbs.h"
#include "plan/published_collective.h"
#include "plan/replay.h"

namespace trnsim {
namespace {

struct Options {
  std::vector<std::string> files;
};

// Reads a file as what its "format" says it is, and returns what that is called.
std::string check_file(const std::string& path) {
  const Document document = Document::load(path, {});
  const std::string format = JsonReader(document).at("format").as_one_of(
      {"trnsim.scenario.v1", "trnsim.system.v1", "trnsim.chip.v1", "trnsim.workload.v1",
       "trnsim.library.v1", "trnsim.software.v1", "trnsim.recipe.v1", "trnsim.replay.v1",
       "trnsim.collective_rules.v1", "trnsim.result.v1"});
  const JsonReader json(document);
  if (format == "trnsim.scenario.v1") {
    load_scenario(path, {});
    return "scenario";
  }
  if (format == "trnsim.system.v1") {
    read_system(json);
    return "system";
  }
  if (format == "trnsim.chip.v1") {
    read_chip(json);
    return "chip";
  }
  if (format == "trnsim.library.v1") {
    std::vector<Number> numbers;
    read_library(json, numbers);
    return "collective library";
  }
  if (format == "trnsim.software.v1") {
    read_software(json);
    return "software profile";
  }
  if (format == "trnsim.workload.v1") {
    read_architecture(json);
    return "workload";
  }
  if (format == "trnsim.recipe.v1") {
    read_training(json);
    return "recipe";
  }
  if (format == "trnsim.replay.v1") {
    ReplayRules::load(path);
    return "set of replay rules";
  }
  if (format == "trnsim.collective_rules.v1") {
    load_collective_rules(path);
    return "set of rules for collectives";
  }
  read_result(document);
  return "result";
}

int check(const Options& options) {
  int exit_code = 0;
  for (const std::string& path : options.files) {
    try {
      const std::string what = check_file(path);
      std::cout << path << ": a right " << what << '\n';
    } catch (const InputError& error) {
      std::cerr << "error: " << error.what() << '\n';
      exit_code = 2;
    }
  }
  return exit_code;
}

}  // namespace

void add_check(CLI::App& app, Work& work) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "check", "Say whether files are right, and if not, where, without running");
  verb->add_option("files", options->files,
                   "Scenarios, systems, chips, libraries, workloads, recipes and results")
      ->required();
  verb->footer(
      "Examples:\n"
      "  trnsim check scenarios/quickstart.json\n"
      "  trnsim check topologies/*.json topologies/chips/*.json workloads/*.json\n"
      "Exit code: 0 all are right, 2 at least one is not");
  verb->callback([options, &work] { work = [options] { return check(*options); }; });
}

}  // namespace trnsim
