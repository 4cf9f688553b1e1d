#include "result/comparison.h"

#include <limits>
#include <tuple>
#include <utility>

#include "plan/comparison.h"
#include "plan/groups.h"
#include "plan/library_group.h"
#include "result/simulate.h"
#include "workload/memory.h"
#include "workload/stages.h"

namespace trnsim {
namespace {

constexpr Seconds infinite = std::numeric_limits<double>::infinity();

bool fits(const Job& job) {
  return total(memory_parts(job.model, job.training, job.layout)) <=
         static_cast<Bytes>(job.system.chip.hbm_capacity.value);
}

// The candidate with the shortest step, the first of equals.
class Shortest {
 public:
  explicit Shortest(Job first) : best_(std::move(first)) {}

  void consider(const Job& candidate) {
    const Seconds step = analytic_step(candidate);
    if (step >= step_) return;
    step_ = step;
    best_ = candidate;
  }
  Job best() && { return std::move(best_); }

 private:
  Job best_;
  Seconds step_ = infinite;
};

BytesPerSecond scale_up_port(const System& system) {
  BytesPerSecond sum = 0;
  for (const FabricDimension& dimension : system.scale_up) sum += dimension.port();
  return sum;
}

BytesPerSecond scale_out_port(const System& system) {
  const ScaleOut& out = system.scale_out;
  return out.bandwidth * out.efficiency / out.chips_per_nic;
}

using Change = void (*)(System& system, const System& other);

void take_flops(System& system, const System& other) {
  system.chip.peak = other.chip.peak;
  system.chip.gemm_efficiency = other.chip.gemm_efficiency;
  system.chip.gemm_efficiency_fp8 = other.chip.gemm_efficiency_fp8;
  system.chip.gemm_efficiency_fp4 = other.chip.gemm_efficiency_fp4;
  system.chip.tiles = other.chip.tiles;
  system.chip.fill = other.chip.fill;
  system.chip.speed_spread = other.chip.speed_spread;
  system.chip.attention_efficiency = other.chip.attention_efficiency;
  system.chip.attention = other.chip.attention;
  system.chip.op_overhead = other.chip.op_overhead;
}

void take_hbm(System& system, const System& other) {
  system.chip.hbm_bandwidth = other.chip.hbm_bandwidth;
  system.chip.hbm_efficiency = other.chip.hbm_efficiency;
  system.chip.reduction_rate = other.chip.reduction_rate;
}

// The fabrics differ in shape, so each dimension becomes faster by the ratio of all ports of a
// chip.
void take_scale_up(System& system, const System& other) {
  const double ratio = scale_up_port(other) / scale_up_port(system);
  for (FabricDimension& dimension : system.scale_up) dimension.bandwidth.value *= ratio;
}

void take_scale_out(System& system, const System& other) {
  system.scale_out.bandwidth.value *= scale_out_port(other) / scale_out_port(system);
}

void take_latency(System& system, const System& other) {
  const Number& first = other.scale_up.front().latency;
  for (FabricDimension& dimension : system.scale_up) dimension.latency = first;
  system.scale_out.latency = other.scale_out.latency;
  system.scale_out.hop_latency = other.scale_out.hop_latency;
}

void take_overlap(System& system, const System& other) {
  system.chip.collective_tax = other.chip.collective_tax;
}

}  // namespace

Seconds analytic_step(const Job& job) {
  if (!fits(job)) return infinite;
  Job analytic = job;
  analytic.engine.fidelity = Fidelity::analytic;
  analytic.engine.fold = true;
  return simulate(analytic).step_time;
}

namespace {

// What "best" has the choice of: a library of which it is known how it streams stands for what
// people get; else the fastest of what is possible.
std::vector<Algorithms> algorithms_to_try(const Job& job) {
  Algorithms library;
  library.library.emplace();
  bool can_run = job.layout.pieces == 1 && job.layout.ordered;
  for (const std::vector<Axis>& axes : axes_with_choice(job.system, job.layout))
    can_run = can_run && !obstacle(*library.library, job.system, axes);
  if (can_run && !job.system.library.ways.empty()) return {library};
  std::vector<Algorithms> all{{Algorithm::ring}, {Algorithm::direct}};
  if (can_run) all.push_back(library);
  return all;
}

}  // namespace

Job best_algorithm(const Job& job) {
  Shortest shortest(job);
  for (const Algorithms& algorithms : algorithms_to_try(job)) {
    Job candidate = job;
    candidate.layout.algorithms = algorithms;
    shortest.consider(candidate);
  }
  return std::move(shortest).best();
}

Job best_layout(const Job& job) {
  Shortest shortest(job);
  Job candidate = job;
  const uint64_t most = job.training.global_batch / job.layout.data;
  const uint64_t all = job.layout.replicas();
  std::vector<uint64_t> shards{all};
  if (job.system.units > 1 && job.layout.model_ranks() == 1)
    shards.push_back(job.system.chips_per_unit());
  const bool has_pipeline = job.layout.pipeline > 1;
  for (int stage = 0; stage <= 3; ++stage) {
    if (stage == 2 && has_pipeline) continue;
    candidate.layout.zero_stage = stage;
    candidate.layout.sync_every_microbatch = stage >= 2 && !has_pipeline;
    candidate.layout.reshard_after_forward = true;
    for (const uint64_t shard : shards) {
      candidate.layout.shard = stage == 0 ? 1 : shard;
      if (shard != all && stage == 0) continue;
      for (uint64_t batch = 1; batch <= most && batch <= 32; batch *= 2) {
        if (most % batch != 0) break;
        candidate.training.micro_batch = batch;
        for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
          candidate.training.recompute = recompute;
          for (const Algorithms& algorithms : algorithms_to_try(job)) {
            candidate.layout.algorithms = algorithms;
            if (!misfit(candidate.model, candidate.training, candidate.layout) && fits(candidate))
              shortest.consider(candidate);
          }
        }
      }
    }
  }
  return std::move(shortest).best();
}

Job matched_in_time(const Job& own, const Job& job) {
  const Seconds wanted = analytic_step(own);
  Shortest shortest(job);
  const uint64_t most = job.training.global_batch / job.training.micro_batch;
  for (Rank units = 1; units * job.system.chips_per_unit() <= most; ++units) {
    Job candidate = job;
    if (!set_units(candidate, units)) continue;
    if (candidate.layout.best_algorithm) candidate = best_algorithm(candidate);
    if (analytic_step(candidate) <= wanted) return candidate;
    shortest.consider(candidate);
  }
  return std::move(shortest).best();
}

Comparison explain(const Job& own, const Job& other, const std::string& basis) {
  Comparison comparison;
  comparison.system = other.system.name;
  const Seconds before = analytic_step(own);
  const Seconds after = analytic_step(other);
  comparison.ratio_reached =
      basis == "time" ? after / before : amount(other, basis) / amount(own, basis);
  if (before == infinite || after == infinite) {
    if (basis == "time") comparison.ratio_reached = 0;
    return comparison;
  }
  Seconds left = after - before;
  // A graph has no dimensions and layers to exchange.
  const bool fabrics_compare = !own.system.graph && !other.system.graph;
  for (const auto& [property, take, of_fabric] :
       {std::tuple<const char*, Change, bool>{"FLOP/s", take_flops, false},
        {"HBM", take_hbm, false},
        {"scale-up", take_scale_up, true},
        {"scale-out", take_scale_out, true},
        {"latency", take_latency, true},
        {"overlap", take_overlap, false}}) {
    if (of_fabric && !fabrics_compare) continue;
    Job changed = own;
    take(changed.system, other.system);
    const Seconds step = analytic_step(changed);
    comparison.reasons.push_back({property, step, step - before});
    left -= step - before;
  }
  comparison.reasons.push_back({"all together and the rest", after, left});
  return comparison;
}

}  // namespace trnsim
