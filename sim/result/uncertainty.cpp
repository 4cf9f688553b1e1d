#include "result/uncertainty.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "result/estimate.h"
#include "result/worker.h"

namespace trnsim {
namespace {

using nlohmann::json;

// Standard deviations that hold 90 % of a normal distribution.
constexpr double ninety_percent = 1.6449;

std::vector<Number> numbers_of(const Job& job) {
  std::vector<Number> numbers = job.system.numbers;
  if (job.training.software)
    numbers.insert(numbers.end(), job.training.software->numbers.begin(),
                   job.training.software->numbers.end());
  // A smaller memory makes no step slower, and the error of the model is no input of it.
  std::erase_if(numbers, [](const Number& number) {
    return number.low == number.high || number.place.ends_with("hbm.capacity") ||
           number.place.ends_with("model_error");
  });
  return numbers;
}

std::string identity(const Number& number) { return number.file + ": " + number.place; }

// The value that lies `deviations` from the stated one.
double moved(const Number& number, double deviations) {
  const double part = std::min(std::abs(deviations) / ninety_percent, 1.0);
  const double end = deviations < 0 ? number.low : number.high;
  if (number.low > 0) return number.value * std::pow(end / number.value, part);
  return number.value + (end - number.value) * part;
}

Override stating(const Number& number, double value) {
  const double inside = std::clamp(value, number.low, number.high);
  const json text =
      number.unit == Unit::ratio ? json(inside) : json(format_quantity(inside, number.unit, 17));
  return {number.path + ".value", text.dump()};
}

// Normally distributed, the same on every machine: std::normal_distribution need not be.
class Normal {
 public:
  explicit Normal(uint64_t seed) : random_(seed) {}
  double operator()() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * M_PI * uniform());
  }

 private:
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  std::mt19937_64 random_;
};

struct Question {
  const std::filesystem::path& scenario;
  const std::vector<Override>& overrides;
  const std::vector<Job>& jobs;
};

// The jobs of the scenario with other numbers, and else as they were settled.
std::vector<Job> with(const Question& question, const std::vector<Override>& numbers) {
  std::vector<Override> overrides = question.overrides;
  overrides.insert(overrides.end(), numbers.begin(), numbers.end());
  std::vector<Job> jobs = load_scenario(question.scenario, overrides).jobs;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const Job& settled = question.jobs.at(i);
    const std::optional<Software> software = jobs[i].training.software;
    jobs[i].system.units = settled.system.units;
    jobs[i].training = settled.training;
    jobs[i].training.software = software;
    jobs[i].layout = settled.layout;
  }
  return jobs;
}

struct Estimate {
  Seconds step = 0;
  Seconds free = 0;  // with free communication
};

// Of each task each job, in processes of their own.
std::vector<std::vector<Estimate>> estimates(const Question& question,
                                             const std::vector<std::vector<Override>>& changes) {
  constexpr size_t tasks = 16;
  std::vector<std::function<std::string()>> work;
  for (size_t task = 0; task < tasks; ++task)
    work.emplace_back([&question, &changes, task] {
      json made = json::array();
      for (size_t i = task; i < changes.size(); i += tasks)
        for (const Job& job : with(question, changes[i]))
          made.push_back({estimated_step(job), estimated_step_with_free_communication(job)});
      return made.dump();
    });
  std::vector<std::vector<Estimate>> made(changes.size());
  size_t task = 0;
  for (const std::string& text : run_in_workers(work)) {
    const json steps = json::parse(text);
    size_t next = 0;
    for (size_t i = task; i < changes.size(); i += tasks)
      for (size_t job = 0; job < question.jobs.size(); ++job, ++next)
        // What does not fit is infinite, which JSON has no word for.
        made[i].push_back(steps[next][0].is_null() ? Estimate{}
                                                   : Estimate{steps[next][0].get<double>(),
                                                              steps[next][1].get<double>()});
    ++task;
  }
  return made;
}

Quantiles quantiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double part) {
    return values[static_cast<size_t>(std::lround(part * static_cast<double>(values.size() - 1)))];
  };
  return {at(0.1), at(0.5), at(0.9)};
}

struct Draws {
  std::vector<std::vector<Override>> changes;         // of each sample
  std::vector<std::map<std::string, double>> normal;  // of each sample: deviations by number
};

Draws draw(const std::vector<Job>& jobs, const Sampling& sampling) {
  std::map<std::string, std::vector<Number>> numbers;  // in an order that no address decides
  for (const Job& job : jobs) {
    for (const Number& number : numbers_of(job)) numbers[identity(number)].push_back(number);
    numbers[identity(job.system.chip.model_error)];
  }
  Draws draws;
  Normal normal(sampling.seed);
  for (size_t i = 0; i < sampling.samples; ++i) {
    draws.changes.emplace_back();
    draws.normal.emplace_back();
    for (const auto& [name, places] : numbers) {
      const double deviations = draws.normal.back()[name] = normal();
      for (const Number& number : places)
        draws.changes.back().push_back(stating(number, moved(number, deviations)));
    }
  }
  return draws;
}

// The step with each number alone at either end of its range, times `scale`.
std::vector<Influence> influences(const Question& question, size_t job, double scale) {
  const std::vector<Number> numbers = numbers_of(question.jobs[job]);
  std::vector<std::vector<Override>> changes;
  for (const Number& number : numbers)
    for (const double end : {number.low, number.high}) changes.push_back({stating(number, end)});
  const auto steps = estimates(question, changes);
  std::vector<Influence> made;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const Number& of = numbers[i];
    made.push_back({of.place, format_quantity(of.value, of.unit), format_quantity(of.low, of.unit),
                    format_quantity(of.high, of.unit), scale * steps[2 * i][job].step,
                    scale * steps[2 * i + 1][job].step});
  }
  std::erase_if(made, [](const Influence& of) { return of.swing() <= 1e-9 * of.step_at_low; });
  std::stable_sort(made.begin(), made.end(),
                   [](const Influence& a, const Influence& b) { return a.swing() > b.swing(); });
  return made;
}

}  // namespace

void add_uncertainty(const std::filesystem::path& scenario, const std::vector<Override>& overrides,
                     const std::vector<Job>& jobs, const Sampling& sampling,
                     std::vector<RunResult>& runs) {
  const Question question{scenario, overrides, jobs};
  const Draws draws = draw(jobs, sampling);
  const auto steps = estimates(question, draws.changes);
  const std::vector<Estimate> stated = estimates(question, {{}}).front();
  for (size_t job = 0; job < jobs.size(); ++job) {
    if (!runs[job].fits) continue;
    const Number& error = jobs[job].system.chip.model_error;
    const Number& price = jobs[job].system.prices.at(jobs[job].purchase);
    const double scale = runs[job].step_time / stated[job].step;
    const Seconds added = stated[job].step - stated[job].free;
    const double of_exposed = added > 0 ? runs[job].breakdown.exposed_communication / added : 0;
    std::vector<double> step;
    std::vector<double> exposed;
    std::vector<double> cost;
    for (size_t i = 0; i < steps.size(); ++i) {
      const std::map<std::string, double>& normal = draws.normal[i];
      const double factor = std::exp(error.value * normal.at(identity(error)));
      step.push_back(scale * factor * steps[i][job].step);
      exposed.push_back(of_exposed * factor * (steps[i][job].step - steps[i][job].free));
      const auto deviations = normal.find(identity(price));
      const double usd =
          deviations == normal.end() ? price.value : moved(price, deviations->second);
      cost.push_back(usd * runs[job].chips / 3600 * step.back() /
                     static_cast<double>(runs[job].tokens_per_step) * 1e6);
    }
    runs[job].uncertainty = {sampling.samples,
                             sampling.seed,
                             error.value,
                             quantiles(step),
                             quantiles(exposed),
                             quantiles(cost),
                             influences(question, job, scale)};
  }
}

}  // namespace trnsim
