#include "fixtures.h"

#include <nlohmann/json.hpp>

#include "engine/analytic_medium.h"
#include "engine/simgrid_medium.h"
#include "engine/whole_class.h"
#include "plan/groups.h"
#include "plan/training_step.h"
#include "result/worker.h"

namespace trnsim::test {
namespace {

class Ends final : public Sink {
 public:
  explicit Ends(const Graph& graph) : graph_(graph) {}
  void begun(const Span&) override {}
  void ended(const Span& span) override { ends[{span.rank_class, span.position}] = span.end; }
  void delivered(uint32_t, Bytes, uint64_t) override { ++messages; }

  std::map<std::pair<uint32_t, Position>, Seconds> ends;
  uint64_t messages = 0;

 private:
  const Graph& graph_;
};

nlohmann::json play_here(const Plan& plan, const Network& network, const PlayOptions& options) {
  const Folding folding = options.fold ? refine(plan, network) : identity(plan, network);
  const Graph graph = make_graph(plan, network, folding);
  const auto medium = options.fidelity == Fidelity::analytic ? make_analytic_medium(graph)
                                                             : make_simgrid_medium(graph);
  Ends sink(graph);
  nlohmann::json result;
  try {
    result["step"] = execute(graph, *medium, options.fidelity, {options.tax}, {&sink});
  } catch (const std::exception& error) {
    result["error"] = error.what();
  }
  result["classes"] = graph.ranks.size();
  result["messages"] = sink.messages;
  result["colour"] = folding.rank;
  for (const auto& [step, end] : sink.ends)
    result["ends"].push_back({step.first, step.second, end});
  return result;
}

// Where all ranks are in step, and phases follow one another, this is message by message too.
Seconds play_analytic(const Graph& graph) {
  return execute(graph, *make_analytic_medium(graph), Fidelity::analytic, {}, {});
}

}  // namespace

std::optional<StepBounds> bounds_of_fault(const Job& job) {
  const Fault& fault = job.faults.front();
  Job without = job;
  without.faults.clear();
  const Plan healthy = training_step(without);
  const Network network(job.system);
  const Folding folding = refine(healthy, network);
  const auto slow = fault.link ? std::optional(network.find(*fault.link).link) : std::nullopt;
  if (folding.rank_colours != 1 || !shares_most_in_step(healthy, network, slow))
    return std::nullopt;
  Graph all = make_graph(healthy, network, folding);
  if (slow)
    slow_all_links(all, folding, *slow, fault.factor);
  else
    slow_all_chips(all, fault.factor);
  StepBounds bounds;
  bounds.most = play_analytic(all);
  leave_alone(all, network, folding);
  bounds.least = play_analytic(all);
  return bounds;
}

Number exactly(double value) {
  Number number;
  number.value = number.low = number.high = value;
  number.source = "a test";
  return number;
}

FabricDimension dimension(const std::string& name, FabricDimension::Kind kind, Rank size,
                          BytesPerSecond bandwidth, Seconds latency) {
  FabricDimension made;
  made.name = name;
  made.kind = kind;
  made.size = size;
  made.bandwidth = exactly(bandwidth);
  made.efficiency = exactly(1);
  made.latency = exactly(latency);
  return made;
}

System one_switch(Rank chips, BytesPerSecond port, Seconds latency) {
  System system;
  system.name = "one switch";
  system.chip.name = "chip";
  system.chip.peak["bf16"] = exactly(1e15);
  system.chip.hbm_capacity = exactly(1e15);
  system.chip.hbm_bandwidth = exactly(1e12);
  system.chip.gemm_efficiency = system.chip.gemm_efficiency_fp8 = exactly(1);
  system.chip.attention_efficiency = exactly(1);
  system.chip.hbm_efficiency = exactly(1);
  system.chip.op_overhead = exactly(0);
  system.chip.collective_tax = exactly(0);
  system.chip.reduction_rate = exactly(1e18);
  system.chip.reduction_chunk = exactly(0);
  system.scale_up = {dimension("switch", FabricDimension::Kind::switched, chips, port, latency)};
  system.scale_out.name = "network";
  system.scale_out.bandwidth = exactly(port / 8);
  system.scale_out.efficiency = exactly(1);
  system.scale_out.latency = exactly(10 * latency);
  system.scale_out.hop_latency = exactly(latency);
  system.prices["capacity_block"] = exactly(1);
  system.power = {exactly(1000), exactly(100), exactly(1)};
  return system;
}

Job small_job(const System& system) {
  Job job;
  job.system = system;
  job.model = {"small", 3, 64, 4, 2, 16, 96, true, 100, false};
  job.training.sequence_length = 32;
  job.training.global_batch = system.chips();
  job.layout.data = system.chips();
  job.layout.reduce_bucket = job.layout.gather_bucket = {20000, 0, 0};
  job.purchase = "capacity_block";
  return job;
}

Plan collective_plan(const System& system, CollectiveOp op, Algorithm algorithm, Bytes bytes,
                     const Reduction& reduction) {
  Plan plan;
  plan.ranks = system.chips();
  plan.streams = {"compute", "collectives"};
  plan.names = {"start", to_string(op)};
  const Group group = make_group(plan, op, "all", fabric_axes(system), {algorithm});
  plan.collectives.push_back(collective_info(plan, op, "buffer", group, bytes));
  const auto write = [op, group, bytes, reduction](size_t, Unrolled& program) {
    Step start;
    start.work = Compute{0};
    const Position ready = program.add(start);
    CollectiveSteps steps;
    steps.stream = 1;
    steps.label.kind = Label::Kind::collective;
    steps.label.name = 1;
    steps.label.collective = 0;
    steps.reduction = reduction;
    add_collective(program, group, op, bytes, steps, {ready});
  };
  plan.programs.push_back({1, write});
  return plan;
}

Played play(const Plan& plan, const Network& network, const PlayOptions& options) {
  const std::string text =
      run_in_workers({[&] { return play_here(plan, network, options).dump(); }}).front();
  const nlohmann::json json = nlohmann::json::parse(text);
  Played played;
  played.step = json.value("step", 0.0);
  played.error = json.value("error", "");
  played.classes = json["classes"];
  played.messages = json["messages"];
  std::map<uint32_t, std::vector<std::pair<Position, Seconds>>> by_class;
  if (json.contains("ends"))
    for (const auto& end : json["ends"]) by_class[end[0]].emplace_back(end[1], end[2]);
  for (Rank rank = 0; rank < plan.ranks; ++rank)
    for (const auto& [position, end] : by_class[json["colour"][rank]])
      played.ends[{rank, position}] = end;
  return played;
}

}  // namespace trnsim::test
