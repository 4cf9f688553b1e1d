// The bounds of a step with one fault beside the truth, the run in which every rank is by itself.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <iostream>

#include "fixtures.h"
#include "plan/training_step.h"

namespace trnsim::test {
namespace {

struct Case {
  std::string fault;
  std::string json;  // as of a scenario's `faults`
};

std::vector<Case> cases(Rank units) {
  std::vector<Case> made{
      {"chip at 0.7", R"({"chip": 17, "compute": 0.7})"},
      {"NeuronLink at 0.75", R"({"link": "unit 0 chip 17 sled switch, out", "bandwidth": 0.75})"}};
  if (units > 1)
    made.push_back({"NIC at 0.5", R"({"link": "unit 0 NIC 5 EFA NIC, out", "bandwidth": 0.5})"});
  return made;
}

// A step of some layers of Llama 3.1 8B, sharded in each UltraServer.
Job job_of(const std::string& scenario, Rank units, unsigned layers, const std::string& faults) {
  const std::string chips = std::to_string(144 * units);
  const std::vector<std::pair<std::string, std::string>> values{
      {"workload.file", TRNSIM_SOURCE_DIR "/workloads/llama-3.1-8b.json"},
      {"system.units", std::to_string(units)},
      {"layout.data", chips},
      {"training.global_batch", chips},
      {"faults", '[' + faults + ']'}};
  std::vector<Override> overrides;
  for (const auto& [path, value] : values) overrides.push_back(parse_override(path + '=' + value));
  Job job =
      load_scenario(TRNSIM_SOURCE_DIR "/scenarios/" + scenario + ".json", overrides).jobs.front();
  job.model.layers = layers;
  return job;
}

struct Options {
  std::vector<Rank> units{1, 4, 7, 14};
  std::vector<std::string> scenarios{"million-chips", "million-chips-rings"};
  unsigned layers = 2;
  bool fold = false;
};

Seconds healthy_step(const std::string& scenario, Rank units, unsigned layers) {
  const Job job = job_of(scenario, units, layers, "");
  return play(training_step(job), network_of(job)).step;
}

// False if the truth is outside the bounds.
bool print_row(const std::string& scenario, Rank units, const Case& of, const Options& options) {
  const Job job = job_of(scenario, units, options.layers, of.json);
  const Seconds healthy = healthy_step(scenario, units, options.layers);
  const StepBounds bounds = bounds_of_fault(job).value();
  const auto start = std::chrono::steady_clock::now();
  const Played truth = play(training_step(job), network_of(job), {.fold = options.fold});
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  const auto longer = [&](Seconds time) { return 100 * (time / healthy - 1); };
  std::printf(
      "| %u | %u | %s | %s | %.4f ms | %.4f %% | %.4f %% | %.4f %% | %.4f %% | %llu | %.1f s |\n",
      job.system.chips(), truth.classes, scenario == "million-chips" ? "direct, rings" : "rings",
      of.fault.c_str(), healthy * 1e3, longer(bounds.least), longer(truth.step),
      longer(bounds.most), 100 * (bounds.most - bounds.least) / truth.step,
      static_cast<unsigned long long>(truth.messages), wall.count());
  std::fflush(stdout);
  constexpr double digits = 1e-9;
  return bounds.least <= truth.step * (1 + digits) && truth.step <= bounds.most * (1 + digits);
}

int run(int count, char** arguments) {
  Options options;
  CLI::App app("Bounds of one fault beside the unfolded truth; exit code 1 if it is outside");
  app.add_option("--units", options.units, "UltraServers, several times")->capture_default_str();
  app.add_option("--scenario", options.scenarios, "Of scenarios/, several times")
      ->capture_default_str();
  app.add_option("--layers", options.layers, "Of the model")->capture_default_str();
  app.add_flag("--folded", options.fold,
               "Tell ranks apart only as far as needed, which is exact and faster");
  CLI11_PARSE(app, count, arguments);
  std::puts(
      "| chips | classes | algorithms | fault | healthy step | at least | truth | at most | apart "
      "| "
      "messages | wall |\n|---|---|---|---|---|---|---|---|---|---|---|");
  std::fflush(stdout);  // cases fork
  bool inside = true;
  for (const Rank units : options.units)
    for (const std::string& scenario : options.scenarios)
      for (const Case& of : cases(units)) inside &= print_row(scenario, units, of, options);
  return inside ? 0 : 1;
}

}  // namespace
}  // namespace trnsim::test

int main(int count, char** arguments) {
  try {
    return trnsim::test::run(count, arguments);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
