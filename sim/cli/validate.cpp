#include <iostream>
#include <memory>

#include "cli/verbs.h"
#include "result/collective_validation.h"
#include "result/validation.h"

namespace trnsim {
namespace {

struct Options {
  std::string data;
  std::string rules = TRNSIM_DATA_DIR "/validation/training.json";
  std::string fidelity = "analytic";
  bool json = false;
  bool quiet = false;
};

Fidelity fidelity_of(const std::string& name) {
  for (const Fidelity fidelity : {Fidelity::message, Fidelity::phase})
    if (to_string(fidelity) == name) return fidelity;
  return Fidelity::analytic;
}

template <typename Result>
int show(const Result& validation, bool json) {
  std::cout << (json ? to_json(validation).dump(2) + '\n' : text_report(validation));
  std::cout.flush();
  if (!std::cout) throw InputError("standard output: cannot be written");
  return 0;
}

int validate_training(const Options& options) {
  const std::vector<PublishedRun> runs = load_published_runs(options.data);
  const ReplayRules rules = ReplayRules::load(options.rules);
  if (!options.quiet) std::cerr << "replaying " << runs.size() << " runs\n";
  return show(validate(runs, rules, fidelity_of(options.fidelity)), options.json);
}

int validate_collectives(const Options& options) {
  const std::vector<PublishedCollective> list = load_published_collectives(options.data);
  const Rules rules = load_collective_rules(options.rules);
  if (!options.quiet) std::cerr << "simulating " << list.size() << " collectives\n";
  return show(validate(list, rules, fidelity_of(options.fidelity)), options.json);
}

void add_options(CLI::App& verb, Options& options) {
  verb.add_option("data", options.data, "List of what was published")->required();
  verb.add_option("--rules", options.rules,
                  "How what is published becomes what is simulated; without it, the file of this "
                  "project");
  verb.add_option("--fidelity", options.fidelity, "message, phase or analytic")
      ->check(CLI::IsMember({"message", "phase", "analytic"}));
  verb.add_flag("--json", options.json, "Print one JSON object in place of the report");
  verb.add_flag("-q,--quiet", options.quiet, "No progress on stderr");
}

void add_collectives(CLI::App& verb, Work& work) {
  auto options = std::make_shared<Options>();
  options->rules = TRNSIM_DATA_DIR "/validation/collectives.json";
  options->fidelity = "phase";
  CLI::App* collectives = verb.add_subcommand(
      "collectives", "Simulate published measurements of collectives and compare the times");
  add_options(*collectives, *options);
  collectives->footer(
      "Examples:\n"
      "  trnsim validate collectives tests/validation/collectives.json\n"
      "Exit code: 0 done, 1 a fault of trnsim, 2 the input is wrong. What cannot be simulated is "
      "listed with the reason");
  collectives->callback(
      [options, &work] { work = [options] { return validate_collectives(*options); }; });
}

}  // namespace

void add_validate(CLI::App& app, Work& work) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("validate", "Show predictions beside published measurements");
  verb->require_subcommand(1);
  CLI::App* training =
      verb->add_subcommand("training", "Replay published training runs and compare the step times");
  add_options(*training, *options);
  training->footer(
      "Examples:\n"
      "  trnsim validate training tests/validation/training.json\n"
      "  trnsim validate training tests/validation/training.json --json --quiet\n"
      "Exit code: 0 done, 1 a fault of trnsim, 2 the input is wrong. Runs that cannot be replayed "
      "are listed with the reason");
  training->callback(
      [options, &work] { work = [options] { return validate_training(*options); }; });
  add_collectives(*verb, work);
}

}  // namespace trnsim
