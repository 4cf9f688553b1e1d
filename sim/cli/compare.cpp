#include <memory>
#include <optional>

#include "base/output_file.h"
#include "cli/questions.h"
#include "cli/verbs.h"
#include "plan/comparison.h"

namespace trnsim {
namespace {

struct Options {
  std::vector<std::string> inputs;
  std::vector<std::string> sets;
  std::vector<std::string> settings;
  std::string at;
  std::string out;
  bool json = false;
  bool quiet = false;
  bool assumptions = false;
  bool best_layout = false;
};

ScenarioResult read_stated(const Document& document, const Options& options) {
  if (!options.sets.empty() || !options.at.empty() || options.best_layout)
    throw InputError(
        document.place("") +
        ": is a result, which --set, --at and --best-layout cannot change; name its scenario");
  return read_result(document);
}

// A result file is shown as it is, a scenario is simulated: its "format" tells which it is.
ScenarioResult result_of(const std::string& path, const Options& options,
                         const UnnamedFile* timeline) {
  const Document document = Document::load(path, {});
  const auto format = document.root().find("format");
  if (format != document.root().end() && *format == "trnsim.result.v1")
    return read_stated(document, options);
  std::vector<Override> overrides = parse_overrides(options.sets);
  for (Override& setting : parse_settings(options.settings))
    overrides.push_back(std::move(setting));
  if (!options.at.empty()) overrides.push_back({"compare_at", options.at});
  return answer(load_scenario(path, overrides),
                {{}, !options.quiet, options.best_layout, timeline});
}

int compare(const Options& options) {
  const std::filesystem::path folder = options.out;
  if (!folder.empty()) make_folder(folder);
  std::vector<std::pair<size_t, std::string>> timelines;  // of the scenarios that are simulated
  const auto result_at = [&](size_t input, size_t run) {
    std::optional<UnnamedFile> timeline;
    if (!folder.empty()) timeline.emplace();
    ScenarioResult result =
        result_of(options.inputs[input], options, timeline ? &*timeline : nullptr);
    if (timeline)
      if (std::string text = timeline->read(); !text.empty())
        timelines.emplace_back(run, std::move(text));
    return result;
  };
  ScenarioResult all = result_at(0, 0);
  for (size_t i = 1; i < options.inputs.size(); ++i) {
    const ScenarioResult next = result_at(i, all.runs.size());
    all.name += " | " + next.name;
    if (next.title != all.title) all.title += "\n" + next.title;
    // Only systems of one scenario are explained against one another.
    all.comparisons.push_back({next.runs.front().system, 0, {}});
    all.comparisons.insert(all.comparisons.end(), next.comparisons.begin(), next.comparisons.end());
    all.runs.insert(all.runs.end(), next.runs.begin(), next.runs.end());
  }
  if (!folder.empty()) write_files(folder, all, timelines);
  print(all, options.json, options.assumptions);
  return 0;
}

}  // namespace

void add_compare(CLI::App& app, Work& work) {
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("compare", "Show the runs of several scenarios or results side by side");
  verb->add_option("inputs", options->inputs,
                   "Scenario files, which are simulated, and result.json files of earlier runs")
      ->required();
  verb->add_option(
      "--at", options->at,
      "What compared systems have in common: " + one_of(comparison_bases()) + "; units round down");
  verb->add_flag("--best-layout", options->best_layout,
                 "Give each system the layout of data parallelism that fits and is fastest on it");
  verb->add_option("--set", options->sets, "Change one value of each scenario: path=value")
      ->type_name("PATH=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_option("--cfg", options->settings,
                   "A setting of SimGrid, as its own programs take it: network/optim:Full")
      ->type_name("KEY:VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_option("--out", options->out,
                   "Folder for result.json, report.txt and report.html (open it in a browser)")
      ->type_name("DIR");
  verb->add_flag("--json", options->json, "Print one JSON object in place of the report");
  verb->add_flag("--assumptions", options->assumptions,
                 "List the assumed numbers that the report rests on");
  verb->add_flag("-q,--quiet", options->quiet, "No progress on stderr");
  verb->footer(
      "Examples:\n"
      "  trnsim compare scenarios/quickstart.json --at cost\n"
      "  trnsim compare scenarios/quickstart.json --at time --best-layout\n"
      "  trnsim compare out/ring/result.json out/direct/result.json --out out/both\n"
      "Exit code: 0 done, 1 a fault of trnsim, 2 the input is wrong, 3 cannot run: does not fit "
      "in memory, or would take hours");
  verb->callback([options, &work] { work = [options] { return compare(*options); }; });
}

}  // namespace trnsim
