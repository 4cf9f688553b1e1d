#include "result/simulate.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "engine/analytic_medium.h"
#include "engine/simgrid_medium.h"
#include "plan/bounds.h"
#include "plan/cost.h"
#include "plan/training_step.h"
#include "result/metrics.h"
#include "result/prepare.h"
#include "result/report.h"
#include "result/worker.h"

namespace trnsim {
namespace {

void add_assumptions(const Job& job, RunResult& run) {
  std::vector<Number> numbers = job.system.numbers;
  if (job.training.software)
    numbers.insert(numbers.end(), job.training.software->numbers.begin(),
                   job.training.software->numbers.end());
  for (const Number& number : numbers) {
    if (!number.assumed()) continue;
    const std::string value = format_quantity(number.value, number.unit) + " (" +
                              format_quantity(number.low, number.unit) + " to " +
                              format_quantity(number.high, number.unit) + ')';
    run.assumptions.push_back({number.place, value, number.source});
  }
}

// What is known of a run without simulating it.
RunResult describe(const Job& job) {
  RunResult run;
  run.system = job.system.name;
  run.layout = layout_text(job);
  run.chips = job.system.chips();
  run.tokens_per_step = job.training.tokens_per_step();
  run.stages = job.layout.pipeline;
  run.fullest_stage = fullest_stage(job.model, job.training, job.layout);
  run.memory_parts = memory_parts(job.model, job.training, job.layout, run.fullest_stage);
  run.memory_capacity = static_cast<Bytes>(job.system.chip.hbm_capacity.value);
  run.fits = total(run.memory_parts) <= run.memory_capacity;
  run.compute_bound = compute_bound(job);
  run.peak_flops = job.system.chip.peak.at(job.training.peak());
  run.model_flops_per_chip = job.model.model_flops_per_token(job.training.sequence_length) *
                             static_cast<double>(run.tokens_per_step) / run.chips;
  run.hardware_flops_per_chip =
      run.model_flops_per_chip +
      recomputed_flops(job.model, job.training, job.layout) *
          static_cast<double>(job.microbatches()) /
          static_cast<double>(job.layout.tensor * job.layout.context * job.layout.pipeline);
  const Power& power = job.system.power;
  run.watts = run.chips * (power.chip + power.host) * power.pue;
  const Number& price = job.system.prices.at(job.purchase);
  run.price = {job.purchase, run.chips * price.value, run.chips * price.low,
               run.chips * price.high};
  run.engine.fidelity = to_string(job.engine.fidelity);
  run.engine.folded = job.engine.fold;
  run.engine.ranks = run.chips;
  add_assumptions(job, run);
  return run;
}

// Of one program: the sum of its compute, untaxed.
Seconds compute_seconds(const Program& program, size_t streams) {
  Unrolled steps(program, streams);
  Seconds sum = 0;
  while (steps.unroll()) {
    for (Position at = steps.begin(); at < steps.end(); ++at)
      if (steps.block_of(at) + 1 == steps.blocks())
        if (const auto* compute = std::get_if<Compute>(&steps.step(at).work))
          sum += compute->seconds;
    steps.forget_before(steps.end());
  }
  return sum;
}

// The step if communication took no time: the compute of the slowest rank, untaxed; of stages that
// wait for each other, what is played with messages and sums of no duration.
Seconds free_communication_step(const Plan& plan, Graph graph) {
  if (plan.programs.size() == 1) {
    double slowest = 1;
    for (const auto& [rank, speed] : plan.speed) slowest = std::min(slowest, speed);
    return compute_seconds(plan.programs.front(), plan.streams.size()) / slowest;
  }
  return execute_with_free_communication(std::move(graph), {});
}

// Parameters, gradients and optimizer states, by stage: what is there before the step begins.
std::vector<Bytes> resident_bytes(const Job& job) {
  std::vector<Bytes> of_stages;
  for (uint64_t stage = 0; stage < job.layout.pipeline; ++stage) {
    Bytes& sum = of_stages.emplace_back();
    for (const MemoryPart& part : memory_parts(job.model, job.training, job.layout, stage))
      if (part.name == "parameters" || part.name == "gradients" || part.name == "optimizer states")
        sum += part.bytes;
  }
  return of_stages;
}

}  // namespace

RunResult simulate(const Job& job, const MakeSinks& make_sinks) {
  const auto start = std::chrono::steady_clock::now();
  RunResult run = describe(job);
  if (!run.fits) return run;
  const Network network = network_of(job);
  const Plan plan = training_step(job);
  const Prepared prepared = prepare(job, plan, network);
  run.free_communication = free_communication_step(plan, prepared.graph);
  const double tax = job.system.chip.collective_tax;
  const std::unique_ptr<Medium> medium =
      job.engine.fidelity == Fidelity::analytic
          ? make_analytic_medium(prepared.graph)
          : make_simgrid_medium(prepared.graph, job.engine.simgrid);
  Metrics metrics(prepared.graph, resident_bytes(job));
  std::vector<Sink*> sinks{&metrics};
  std::vector<std::unique_ptr<Sink>> more;
  if (make_sinks) more = make_sinks(prepared.graph, network);
  for (const auto& sink : more) sinks.push_back(sink.get());
  const Seconds step = execute(prepared.graph, *medium, job.engine.fidelity, {tax}, sinks);
  metrics.write(step, network, job.system, run);
  run.engine.method = method_of(prepared, step);
  run.engine.simgrid = job.engine.simgrid;
  run.engine.step_at_least = prepared.at_least.value_or(step);
  run.engine.classes = static_cast<uint32_t>(prepared.graph.ranks.size());
  run.engine.wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  run.engine.peak_rss_bytes = static_cast<Bytes>(usage.ru_maxrss) * 1024;
  return run;
}

std::vector<RunResult> simulate_all(const std::vector<Job>& jobs, const MakeSinks& make_sinks) {
  std::vector<std::function<std::string()>> tasks;
  for (const Job& job : jobs) {
    const bool first = tasks.empty();
    tasks.emplace_back([&job, &make_sinks, first] {
      return to_json(simulate(job, first ? make_sinks : MakeSinks{})).dump();
    });
  }
  std::vector<RunResult> results;
  for (const std::string& text : run_in_workers(tasks)) {
    const Document document = Document::parse(text, "result of a worker", "", {});
    results.push_back(read_run(JsonReader(document)));
  }
  return results;
}

}  // namespace trnsim
