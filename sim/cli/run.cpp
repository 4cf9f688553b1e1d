#include <memory>

#include "base/output_file.h"
#include "cli/questions.h"
#include "cli/verbs.h"
#include "result/report.h"

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
};

int run(const Options& options) {
  std::vector<Override> overrides = parse_overrides(options.sets);
  for (Override& setting : parse_settings(options.settings))
    overrides.push_back(std::move(setting));
  const Scenario scenario = load_scenario(options.scenario, overrides);
  Answering answering;
  answering.progress = !options.quiet;
  answering.best_layout = options.best_layout;
  const std::filesystem::path folder = options.out;
  if (!folder.empty()) {
    make_folder(folder);
    answering.trace = folder / "trace.json";
  }
  const ScenarioResult result = answer(scenario, answering);
  if (!folder.empty()) {
    write_file(folder / "result.json", to_json(result).dump(2) + '\n');
    write_file(folder / "report.txt", text_report(result) + assumptions_report(result));
  }
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
                   "Folder for result.json, report.txt and trace.json (open it in Perfetto or in "
                   "chrome://tracing)")
      ->type_name("DIR");
  verb->add_flag("--json", options->json, "Print one JSON object in place of the report");
  verb->add_flag("--assumptions", options->assumptions,
                 "List the assumed numbers that the report rests on");
  verb->add_flag("--best-layout", options->best_layout,
                 "Give each system the layout of data parallelism that fits and is fastest on it");
  verb->add_flag("-q,--quiet", options->quiet, "No progress on stderr");
  verb->footer(
      "Examples:\n"
      "  trnsim run scenarios/quickstart.json\n"
      "  trnsim run scenarios/quickstart.json --set system.units=8 --set layout.data=1152 \\\n"
      "      --set training.global_batch=1152 --set compare_with=[]\n"
      "  trnsim run scenarios/quickstart.json --set layout.algorithm=direct --json\n"
      "  trnsim run scenarios/quickstart.json --out out/quickstart\n"
      "Exit code: 0 done, 1 a fault of trnsim, 2 the input is wrong, 3 cannot run: does not fit "
      "in memory, or would take hours");
  verb->callback([options, &work] { work = [options] { return run(*options); }; });
}

}  // namespace trnsim
