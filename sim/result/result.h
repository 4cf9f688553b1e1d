#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plan/scenario.h"
#include "workload/memory.h"

namespace trnsim {

/// Where a step's time goes on the compute stream, in seconds; means over the ranks.
struct Breakdown {
  Seconds compute = 0;                // forward, backward and recomputation
  Seconds exposed_communication = 0;  // waits that a message ended
  Seconds bubble = 0;                 // waits for another stage's compute
  Seconds optimizer = 0;
  Seconds other = 0;  // idle at the end, while other ranks still work

  Seconds sum() const { return compute + exposed_communication + bubble + optimizer + other; }
};

/// All instances of one kind of collective in a step.
struct CollectiveResult {
  std::string op, what, group, algorithm;
  Rank ranks = 1;
  Bytes bytes = 0;          // of the whole buffer
  Bytes sent_per_rank = 0;  // on the wire, by one instance
  uint64_t count = 0;       // instances of one rank
  Seconds time = 0;         // mean of one, other collectives and waits for peers beside it included
  Seconds bound = 0;        // least possible
  BytesPerSecond algorithm_bandwidth = 0;
  BytesPerSecond bus_bandwidth = 0;
  Seconds exposed = 0;  // of all instances: while the chip does not compute
  Seconds hidden = 0;   // while it does
};

/// Communication along one axis of the fabric, over the step, mean over the ranks.
struct LevelResult {
  std::string name;
  Seconds exposed = 0;
  Seconds hidden = 0;
};

/// All links of one kind.
struct LinkResult {
  std::string level;
  Link count = 0;
  BytesPerSecond capacity = 0;  // of one, for payload
  Bytes busiest_bytes = 0;      // carried by the busiest of them
  double utilisation = 0;       // of the busiest, mean over the step
};

struct EngineResult {
  std::string fidelity;
  bool folded = false;
  std::string method;  // how ranks were put together, and whether that is exact
  Rank ranks = 0;
  uint32_t classes = 0;
  uint64_t messages = 0;              // simulated
  uint64_t represented_messages = 0;  // that they stand for
  double wall_s = 0;
  Bytes peak_rss_bytes = 0;
  Seconds step_at_least = 0;     // the step time, or, where that is an upper bound, the lower one
  SimgridSettings simgrid = {};  // settings that were passed on to it
};

struct Assumption {
  std::string what, value, source;
};

struct PriceResult {
  std::string purchase;
  double usd_per_hour = 0;
  double low = 0, high = 0;  // USD an hour
};

/// Of samples in order: a tenth lies below p10, half below p50, a tenth above p90.
struct Quantiles {
  double p10 = 0;
  double p50 = 0;
  double p90 = 0;
};

/// What one number does to the step time while all others stay as stated.
struct Influence {
  std::string what;  // "chip.compute.gemm_efficiency"
  std::string value, low, high;
  Seconds step_at_low = 0;
  Seconds step_at_high = 0;

  Seconds swing() const {
    return step_at_high > step_at_low ? step_at_high - step_at_low : step_at_low - step_at_high;
  }
};

/// How sure the figures of one run are.
struct Uncertainty {
  uint64_t samples = 0;
  uint64_t seed = 0;
  double model_error = 0;           // standard deviation of the logarithm of a step, beside numbers
  Quantiles step_time;              // seconds
  Quantiles exposed_communication;  // seconds: what communication adds to the step
  Quantiles usd_per_million_tokens;
  std::vector<Influence> influences;  // of numbers that change the step, the largest swing first
};

/// What one simulation says. Times are absent where the job does not fit.
struct RunResult {
  std::string system;
  std::string layout;  // "ZeRO-3 over 576, ring, micro batch 1, selective recomputation"
  Rank chips = 0;
  uint64_t tokens_per_step = 0;
  uint64_t stages = 1;         // of the pipeline
  uint64_t fullest_stage = 0;  // whose chips hold most: the parts are theirs
  std::vector<MemoryPart> memory_parts;
  Bytes memory_capacity = 0;
  bool fits = true;
  Bytes peak_bytes = 0;  // the largest sum at any moment of the simulated step
  Seconds step_time = 0;
  Breakdown breakdown;
  Seconds communication = 0;  // some collective is in progress
  Seconds overlapped = 0;     // of these, while the chip computes
  Seconds compute_bound = 0;
  double model_flops_per_chip = 0;     // of a step
  double hardware_flops_per_chip = 0;  // with recomputation
  double peak_flops = 0;
  double watts = 0;
  PriceResult price;
  std::vector<CollectiveResult> collectives;
  std::vector<LinkResult> links;
  std::vector<LevelResult> levels;
  Seconds free_communication = 0;  // the step, if all communication took no time
  EngineResult engine;
  std::vector<Assumption> assumptions;
  std::optional<Uncertainty> uncertainty;  // if it was asked for

  double tokens_per_s() const { return static_cast<double>(tokens_per_step) / step_time; }
  double mfu() const { return model_flops_per_chip / step_time / peak_flops; }
  double hfu() const { return hardware_flops_per_chip / step_time / peak_flops; }
  double communication_overhead() const { return breakdown.exposed_communication / step_time; }
  double usd_per_million_tokens(double usd_per_hour) const {
    return usd_per_hour / 3600 / tokens_per_s() * 1e6;
  }
  double kwh_per_million_tokens() const { return watts / 1000 / 3600 / tokens_per_s() * 1e6; }
};

/// How much of the difference between two systems one property makes: the own system's step with
/// this property of the other, in analytic fidelity.
struct Reason {
  std::string property;
  Seconds step_time = 0;
  Seconds change = 0;  // against the own system
};

/// Why a compared system's step takes as long as it does.
struct Comparison {
  std::string system;
  double ratio_reached = 0;  // of what the systems are to have in common; 0: not compared
  std::vector<Reason> reasons;
};

/// The answer to a scenario.
struct ScenarioResult {
  std::string name;
  std::string title;  // what all of its runs have in common
  std::string version;
  std::string compare_at;
  std::vector<RunResult> runs;
  std::vector<Comparison> comparisons;  // of the second run and those after it, with the first
};

/// The "trnsim.result.v1" object of docs/results.md, and back.
nlohmann::ordered_json to_json(const ScenarioResult& result);
/// Throws InputError if the document is no such object.
ScenarioResult read_result(const Document& document);

nlohmann::ordered_json to_json(const RunResult& run);
RunResult read_run(JsonReader json);

}  // namespace trnsim
