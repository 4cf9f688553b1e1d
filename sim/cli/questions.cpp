#include "cli/questions.h"

#include <fstream>
#include <iostream>

#include "base/output_file.h"
#include "cli/verbs.h"
#include "result/chrome_trace.h"
#include "result/comparison.h"
#include "result/progress.h"
#include "result/report.h"
#include "result/simulate.h"

namespace trnsim {

std::vector<Override> parse_overrides(const std::vector<std::string>& texts) {
  std::vector<Override> overrides;
  for (const std::string& text : texts) overrides.push_back(parse_override(text));
  return overrides;
}

std::vector<Override> parse_settings(const std::vector<std::string>& texts) {
  std::vector<Override> overrides;
  for (const std::string& text : texts) {
    const auto [key, value] = split_setting(text);
    if (const auto why = obstacle(key, value)) throw InputError("--cfg: " + key + ' ' + *why);
    overrides.push_back({"engine.simgrid." + key, nlohmann::json(value).dump()});
  }
  return overrides;
}

namespace {

// The scenario's jobs with everything chosen that it leaves open.
std::vector<Job> settled_jobs(const Scenario& scenario, const Answering& options) {
  std::vector<Job> jobs = scenario.jobs;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (i > 0 && scenario.compare_at == "time") jobs[i] = matched_in_time(jobs.front(), jobs[i]);
    if (options.best_layout)
      jobs[i] = best_layout(jobs[i]);
    else if (jobs[i].layout.best_algorithm)
      jobs[i] = best_algorithm(jobs[i]);
  }
  return jobs;
}

// A word of a shell's command line that is this argument.
std::string shell_word(const std::string& argument) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!argument.empty() && argument.find_first_not_of(plain) == std::string::npos) return argument;
  std::string word = "'";
  for (const char letter : argument) word += letter == '\'' ? "'\\''" : std::string(1, letter);
  return word + "'";
}

// The command line of this process, as it can be typed again.
std::string command_line() {
  std::string line;
  std::ifstream file("/proc/self/cmdline");
  for (std::string argument; std::getline(file, argument, '\0');)
    line += (line.empty() ? "" : " ") + shell_word(argument);
  return line;
}

}  // namespace

ScenarioResult answer(const Scenario& scenario, const Answering& options) {
  const auto make_sinks = [&](const Graph& graph, const Network& network) {
    std::vector<std::unique_ptr<Sink>> sinks;
    if (options.progress) sinks.push_back(std::make_unique<Progress>(graph));
    if (!options.trace.empty()) sinks.push_back(make_chrome_trace(options.trace, graph));
    if (options.timeline != nullptr)
      sinks.push_back(make_timeline(graph, network, *options.timeline));
    return sinks;
  };
  const std::vector<Job> jobs = settled_jobs(scenario, options);
  ScenarioResult result;
  result.name = scenario.name;
  result.title = title_of(jobs.front());
  result.version = version();
  result.compare_at = scenario.compare_at;
  result.runs = simulate_all(jobs, make_sinks);
  const RunResult& own = result.runs.front();
  if (!own.fits) {
    std::string table = memory_table(own);
    table.pop_back();  // the end of its last line
    throw CannotRun(scenario.path + ": the job does not fit in the memory of a chip of " +
                    own.system + ":\n" + table);
  }
  if (options.sampling && options.progress)
    std::cerr << "drawing " << options.sampling->samples << " times\n";
  if (options.sampling)
    add_uncertainty(scenario.path, options.overrides, jobs, *options.sampling, result.runs);
  for (size_t i = 1; i < jobs.size(); ++i)
    result.comparisons.push_back(explain(jobs.front(), jobs[i], scenario.compare_at));
  return result;
}

void write_files(const std::filesystem::path& folder, const ScenarioResult& result,
                 const std::vector<std::pair<size_t, std::string>>& timelines) {
  write_file(folder / "result.json", to_json(result).dump(2) + '\n');
  write_file(folder / "report.txt", text_report(result) + assumptions_report(result));
  write_file(folder / "report.html", report_page(result, {command_line(), timelines}));
}

void print(const ScenarioResult& result, bool json, bool assumptions) {
  if (json) {
    std::cout << to_json(result).dump(2) << '\n';
  } else {
    std::cout << text_report(result);
    if (assumptions) std::cout << assumptions_report(result);
  }
  std::cout.flush();
  if (!std::cout) throw InputError("standard output: cannot be written");
}

}  // namespace trnsim
