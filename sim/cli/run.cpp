#include <memory>
#include <optional>

#include "base/output_file.h"
#include "cli/questions.h"
#include "cli/verbs.h"

namespace trnsim {
namespace {

struct Options {
  std::string scenario;
  std::vector<std::string> sets;
  std::vector<std::string> settings;
  std::string out;
  bool json = false;
  bool quiet = false;
  bool assumptions = false;
  bool best_layout = false;
  bool uncertainty = false;
  Sampling sampling;
};

int run(const Options& options) {
  std::vector<Override> overrides = parse_overrides(options.sets);
  for (Override& setting : parse_settings(options.settings))
    overrides.push_back(std::move(setting));
  const Scenario scenario = load_scenario(options.scenario, overrides);
  Answering answering;
  answering.progress = !options.quiet;
  answering.best_layout = options.best_layout;
  if (options.uncertainty) answering.sampling = options.sampling;
  answering.overrides = overrides;
  const std::filesystem::path folder = options.out;
  std::optional<UnnamedFile> timeline;
  if (!folder.empty()) {
    make_folder(folder);
    answering.trace = folder / "trace.json";
    answering.timeline = &timeline.emplace();
  }
  const ScenarioResult result = answer(scenario, answering);
  if (!folder.empty()) write_files(folder, result, {{0, timeline->read()}});
  print(result, options.json, options.assumptions);
  return 0;
}

}  // namespace

void add_run(CLI::App& app, Work& work) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("run", "Simulate a scenario and print its report");
  verb->add_option("scenario", options->scenario, "Scenario file")->required();
  verb->add_option("--set", options->sets,
                   "Change one value of the scenario or of a file that it names: path=value, with "
                   "the paths that errors print; the value is JSON or a bare string")
      ->type_name("PATH=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_option("--cfg", options->settings,
                   "A setting of SimGrid, as its own programs take it: network/optim:Full")
      ->type_name("KEY:VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_option("--out", options->out,
                   "Folder for result.json, report.txt, report.html (open it in a browser) and "
                   "trace.json (open it in Perfetto or in chrome://tracing)")
      ->type_name("DIR");
  verb->add_flag("--json", options->json, "Print one JSON object in place of the report");
  verb->add_flag("--assumptions", options->assumptions,
                 "List the assumed numbers that the report rests on");
  verb->add_flag("--best-layout", options->best_layout,
                 "Give each system the layout of data parallelism that fits and is fastest on it");
  CLI::Option* uncertainty = verb->add_flag(
      "--uncertainty", options->uncertainty,
      "Draw all numbers that have a range, and print P10, P50 and P90 of step time, exposed "
      "communication and cost, and which number moves the step most");
  verb->add_option("--samples", options->sampling.samples, "Draws (200)")
      ->check(CLI::Range(10, 1'000'000))
      ->needs(uncertainty);
  verb->add_option("--seed", options->sampling.seed, "Of the draws (1)")
      ->check(CLI::Range(0, 1'000'000'000))
      ->needs(uncertainty);
  verb->add_flag("-q,--quiet", options->quiet, "No progress on stderr");
  verb->footer(
      "Examples:\n"
      "  trnsim run scenarios/quickstart.json\n"
      "  trnsim run scenarios/quickstart.json --set system.units=8 --set layout.data=1152 \\\n"
      "      --set training.global_batch=1152 --set compare_with=[]\n"
      "  trnsim run scenarios/quickstart.json --set layout.algorithm=direct --json\n"
      "  trnsim run scenarios/quickstart.json --out out/quickstart\n"
      "  trnsim run scenarios/quickstart.json --uncertainty --samples 1000\n"
      "Exit code: 0 done, 1 a fault of trnsim, 2 the input is wrong, 3 cannot run: does not fit "
      "in memory, or would take hours");
  verb->callback([options, &work] { work = [options] { return run(*options); }; });
}

}  // namespace trnsim
