#include "result/validation.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "result/estimate.h"
#include "result/simulate.h"

namespace trnsim {
namespace {

// The step of each job; analytic ones at the grain of a layer.
std::vector<Seconds> step_times(const std::vector<Job>& jobs, Fidelity fidelity) {
  std::vector<Seconds> steps;
  steps.reserve(jobs.size());
  if (fidelity == Fidelity::analytic)
    for (const Job& job : jobs) steps.push_back(estimated_step(job));
  else
    for (const RunResult& run : simulate_all(jobs)) steps.push_back(run.step_time);
  return steps;
}

// The value that `part` of the sorted values are at most (nearest rank).
double quantile(const std::vector<double>& sorted, double part) {
  const auto rank = static_cast<size_t>(std::ceil(part * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(rank, 1) - 1];
}

// What a run states, without what follows from its number of chips.
std::string configuration_of_a_chip(const PublishedRun& run) {
  nlohmann::json configuration = run.configuration;
  for (const char* key : {"n_accel", "n_nodes", "dp", "gbs", "locator", "notes"})
    configuration.erase(key);
  // The batch of a chip counts, however it was stated.
  if (run.states("gbs"))
    configuration["sequences of a chip"] =
        run.configuration["gbs"].get<double>() / static_cast<double>(run.accelerators);
  return configuration.dump();
}

}  // namespace

Validation validate(const std::vector<PublishedRun>& runs, const ReplayRules& rules,
                    Fidelity fidelity) {
  Validation made;
  std::vector<Job> jobs;                 // each once, however many runs were made of it
  std::map<std::string, size_t> job_of;  // by scenario
  std::vector<size_t> jobs_of_runs;
  for (const PublishedRun& run : runs) {
    Replay replayed = replay(run, rules, fidelity);
    if (replayed.job && !run.measured) replayed.why = "states no step time and no throughput";
    if (!replayed.why.empty()) {
      made.skipped.push_back({run.id, replayed.why});
      continue;
    }
    const auto [known, is_new] = job_of.try_emplace(replayed.scenario, jobs.size());
    if (is_new) jobs.push_back(std::move(*replayed.job));
    jobs_of_runs.push_back(known->second);
    made.runs.push_back({run, *run.measured, 0, std::move(replayed.assumed)});
  }
  const std::vector<Seconds> steps = step_times(jobs, fidelity);
  for (size_t i = 0; i < made.runs.size(); ++i) made.runs[i].predicted = steps[jobs_of_runs[i]];
  return made;
}

ErrorSummary summary(const std::vector<ValidatedRun>& runs) {
  std::vector<double> errors;
  errors.reserve(runs.size());
  for (const ValidatedRun& run : runs) errors.push_back(run.error());
  return summary_of(errors);
}

ErrorSummary summary_of(const std::vector<double>& errors) {
  ErrorSummary made{.runs = errors.size()};
  if (errors.empty()) return made;
  std::vector<double> absolute;
  for (const double error : errors) {
    absolute.push_back(std::abs(error));
    made.mean_absolute += absolute.back() / static_cast<double>(errors.size());
    made.bias += error / static_cast<double>(errors.size());
  }
  std::sort(absolute.begin(), absolute.end());
  made.median_absolute = quantile(absolute, 0.5);
  made.ninetieth_absolute = quantile(absolute, 0.9);
  return made;
}

std::vector<WeakScaling> weak_scaling(const std::vector<ValidatedRun>& runs) {
  std::map<std::string, std::vector<const ValidatedRun*>> alike;
  for (const ValidatedRun& run : runs) alike[configuration_of_a_chip(run.run)].push_back(&run);
  std::vector<WeakScaling> pairs;
  for (auto& [configuration, sizes] : alike) {
    std::stable_sort(sizes.begin(), sizes.end(), [](const auto* a, const auto* b) {
      return a->run.accelerators < b->run.accelerators;
    });
    const ValidatedRun& first = *sizes.front();
    for (const ValidatedRun* run : sizes)
      if (run->run.accelerators > first.run.accelerators)
        pairs.push_back({first.run.id, run->run.id, first.run.accelerators, run->run.accelerators,
                         first.measured / run->measured, first.predicted / run->predicted});
  }
  return pairs;
}

}  // namespace trnsim
