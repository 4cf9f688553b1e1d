// What is true of every run: sums, bounds, conservation of bytes.

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "fixtures.h"
#include "plan/bounds.h"
#include "plan/training_step.h"
#include "result/simulate.h"

namespace trnsim::test {
namespace {

Job quickstart(const std::vector<Override>& overrides) {
  std::vector<Override> all{{"compare_with", "[]"}};
  all.insert(all.end(), overrides.begin(), overrides.end());
  return load_scenario(std::string(TRNSIM_SOURCE_DIR) + "/scenarios/quickstart.json", all)
      .jobs.front();
}

struct Variant {
  const char* name;
  std::vector<Override> overrides;
};

// Of Llama 3.1 8B on one UltraServer, four microbatches for each of the other ranks.
std::vector<Override> split_of(const std::string& key, unsigned degree,
                               const std::vector<Override>& more = {}) {
  const unsigned data = 144 / degree;
  std::vector<Override> all{
      {"workload.file", std::string(TRNSIM_SOURCE_DIR) + "/workloads/llama-3.1-8b.json"},
      {"system.units", "1"},
      {"layout." + key, std::to_string(degree)},
      {"layout.data", std::to_string(data)},
      {"training.global_batch", std::to_string(4 * data)}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<Variant> variants() {
  return {
      {"zero3_ring", {}},
      {"zero3_direct", {{"layout.algorithm", "direct"}}},
      {"zero3_two_streams", {{"layout.collective_streams", "by_kind"}}},
      {"zero3_no_overlap", {{"layout.overlap", "false"}}},
      {"zero3_no_prefetch", {{"layout.prefetch", "0"}}},
      {"zero3_two_microbatches", {{"training.global_batch", "1152"}}},
      {"zero3_full_recompute", {{"training.recompute", "full"}}},
      {"ddp",
       {{"layout.zero_stage", "0"},
        {"training.gradient_precision", "bf16"},  // fp32 gradients do not fit
        {"workload.file", std::string(TRNSIM_SOURCE_DIR) + "/workloads/llama-3.1-8b.json"}}},
      {"ddp_no_overlap",
       {{"layout.zero_stage", "0"},
        {"layout.overlap", "false"},
        {"training.gradient_precision", "bf16"},  // fp32 gradients do not fit
        {"workload.file", std::string(TRNSIM_SOURCE_DIR) + "/workloads/llama-3.1-8b.json"}}},
      {"phase", {{"engine.fidelity", "phase"}}},
      {"analytic", {{"engine.fidelity", "analytic"}}},
      {"taxed", {{"system.chip.collectives.tax", "0.2"}}},
      {"slow_chip",
       {{"faults", R"([{"chip": 17, "compute": 0.7}])"},
        {"system.units", "1"},
        {"layout.data", "144"},
        {"training.global_batch", "144"}}},
      {"slow_nic",
       {{"faults", R"([{"link": "unit 0 NIC 3 EFA NIC, out", "bandwidth": 0.5}])"},
        {"system.units", "2"},
        {"layout.data", "288"},
        {"training.global_batch", "288"},
        {"engine.fidelity", "phase"}}},
      {"tensor", split_of("tensor", 4)},
      {"sequence_parallel", split_of("tensor", 4, {{"layout.sequence_parallel", "true"}})},
      {"context_ring", split_of("context", 4)},
      {"context_ulysses", split_of("context", 4, {{"layout.context_method", "ulysses"}})},
      {"pipeline", split_of("pipeline", 4, {{"layout.zero_stage", "1"}})},
      {"all_splits", split_of("pipeline", 2,
                              {{"layout.zero_stage", "3"},
                               {"layout.tensor", "4"},
                               {"layout.context", "2"},
                               {"layout.data", "9"},
                               {"training.global_batch", "36"},
                               {"layout.schedule", "interleaved"},
                               {"layout.virtual_stages", "2"}})},
  };
}

class AlwaysTrue : public testing::TestWithParam<Variant> {
 protected:
  Job job_ = quickstart(GetParam().overrides);
  RunResult run_ = simulate_all({job_}).front();
};

TEST_P(AlwaysTrue, TheBreakdownSumsToTheStep) {
  EXPECT_NEAR(run_.breakdown.sum(), run_.step_time, 1e-9 * run_.step_time);
  for (const Seconds part : {run_.breakdown.compute, run_.breakdown.exposed_communication,
                             run_.breakdown.bubble, run_.breakdown.optimizer, run_.breakdown.other})
    EXPECT_GE(part, 0);
}

// Each wait of the compute stream is one for a collective that is in progress, and only then; but
// in a pipeline a chip may send while it waits for another stage's compute.
TEST_P(AlwaysTrue, ExposedAndHiddenCommunicationAreAllOfIt) {
  const Seconds in_bubbles =
      run_.communication - run_.overlapped - run_.breakdown.exposed_communication;
  EXPECT_GE(in_bubbles, -1e-9 * run_.step_time);
  EXPECT_LE(in_bubbles, run_.breakdown.bubble + 1e-9 * run_.step_time);
}

TEST_P(AlwaysTrue, CommunicationIsTheSumOfItsCollectivesAndOfItsLevels) {
  Seconds exposed = 0;
  Seconds hidden = 0;
  for (const CollectiveResult& of : run_.collectives) {
    exposed += of.exposed;
    hidden += of.hidden;
  }
  EXPECT_NEAR(exposed, run_.communication - run_.overlapped, 1e-9 * run_.step_time);
  EXPECT_NEAR(hidden, run_.overlapped, 1e-9 * run_.step_time);
  for (const LevelResult& level : run_.levels) {
    exposed -= level.exposed;
    hidden -= level.hidden;
  }
  EXPECT_NEAR(exposed, 0, 1e-9 * run_.step_time);
  EXPECT_NEAR(hidden, 0, 1e-9 * run_.step_time);
}

TEST_P(AlwaysTrue, FreeCommunicationIsNeverSlower) {
  EXPECT_LE(run_.free_communication, run_.step_time * (1 + 1e-12));
}

TEST_P(AlwaysTrue, NoTimeIsBelowItsBound) {
  EXPECT_GE(run_.step_time, run_.compute_bound);
  for (const CollectiveResult& of : run_.collectives) EXPECT_GE(of.time, of.bound) << of.what;
  for (const LinkResult& link : run_.links) EXPECT_LE(link.utilisation, 1 + 1e-9) << link.level;
  EXPECT_GT(run_.mfu(), 0);
  EXPECT_LE(run_.mfu(), run_.hfu());
  EXPECT_LT(run_.hfu(), 1);
}

// What a rank sends is what its collectives say; all of it enters and leaves each kind of port.
TEST_P(AlwaysTrue, BytesAreConserved) {
  if (!job_.faults.empty()) return;  // then the busiest link is not every link
  if (run_.stages > 1) return;       // stages differ in what they send
  double sent = 0;
  for (const CollectiveResult& of : run_.collectives)
    sent += static_cast<double>(of.count) * static_cast<double>(of.sent_per_rank);
  std::map<std::string, double> out;
  std::map<std::string, double> in;
  for (const LinkResult& link : run_.links) {
    const size_t comma = link.level.find(',');
    const std::string kind = link.level.substr(0, comma);
    const std::string direction = comma == std::string::npos ? "" : link.level.substr(comma + 2);
    const double bytes = static_cast<double>(link.busiest_bytes) * link.count;
    if (direction != "in" && direction != "down") out[kind] += bytes;
    if (direction != "out" && direction != "up") in[kind] += bytes;
  }
  for (const auto& [kind, bytes] : out) EXPECT_DOUBLE_EQ(bytes, in[kind]) << kind;
  // Each message takes one dimension of the unit, or the NICs.
  double first_links = 0;
  for (const auto& [kind, bytes] : out)
    if (kind != "leaf" && kind != "pod") first_links += bytes;
  EXPECT_NEAR(first_links, sent * run_.chips, 1e-12 * first_links);
}

TEST_P(AlwaysTrue, TheSameJobGivesTheSameBytes) {
  const auto bytes = [](RunResult run) {
    run.engine.wall_s = 0;
    run.engine.peak_rss_bytes = 0;
    return to_json(run).dump();
  };
  EXPECT_EQ(bytes(run_), bytes(simulate_all({job_}).front()));
}

TEST_P(AlwaysTrue, MemoryNeverExceedsWhatTheTableSays) {
  EXPECT_GT(run_.peak_bytes, 0U);
  EXPECT_LE(run_.peak_bytes, total(run_.memory_parts));
}

INSTANTIATE_TEST_SUITE_P(Variants, AlwaysTrue, testing::ValuesIn(variants()),
                         [](const auto& info) { return std::string(info.param.name); });

// ZeRO-3 gathers every parameter twice and scatters its gradient once a microbatch; DDP reduces
// each gradient once a step (Rajbhandari et al., arXiv:1910.02054, section 7): 3 and 2 times the
// bytes of a pass over all parameters, but for shards rounded up.
TEST(BytesSent, AreThePublishedFormula) {
  for (const bool zero : {true, false}) {
    Job job = quickstart(
        {{"system.units", "1"},
         {"layout.data", "144"},
         {"training.global_batch", "288"},
         {"layout.zero_stage", zero ? "3" : "0"},
         {"training.gradient_precision", "bf16"},
         {"workload.file", std::string(TRNSIM_SOURCE_DIR) + "/workloads/llama-3.1-8b.json"}});
    const RunResult run = simulate_all({job}).front();
    double sent = 0;
    for (const CollectiveResult& of : run.collectives)
      sent += static_cast<double>(of.count) * static_cast<double>(of.sent_per_rank);
    const double parameters = static_cast<double>(job.model.parameters());
    const double head = static_cast<double>(job.model.head_parameters());
    const double share = 143.0 / 144.0;
    // The head stays gathered between its passes.
    const double expected = zero ? 2 * share * (2 * (2 * parameters - head) + 2 * parameters)
                                 : 2 * share * 2 * parameters;
    EXPECT_NEAR(sent, expected, 1e-6 * expected);
  }
}

// Without communication a step is its compute: one chip, and free links.
TEST(FreeCommunication, GivesTheComputeTime) {
  Job job = small_job(one_switch(1, 1e9, 0));
  const RunResult alone = simulate_all({job}).front();
  EXPECT_DOUBLE_EQ(alone.step_time, alone.breakdown.compute + alone.breakdown.optimizer);
  EXPECT_EQ(alone.engine.messages, 0U);
  EXPECT_TRUE(alone.collectives.empty());
  Job many = small_job(one_switch(8, 1e17, 0));
  many.layout.zero_stage = 0;
  const RunResult free = simulate_all({many}).front();
  EXPECT_NEAR(free.step_time, alone.step_time, 1e-6 * alone.step_time);
  EXPECT_DOUBLE_EQ(alone.free_communication, alone.step_time);
}

TEST(Money, IsPriceAndPowerTimesTime) {
  Job job = small_job(one_switch(4, 1e9, 0));
  job.system.prices["capacity_block"] = exactly(3);
  job.system.power = {exactly(900), exactly(100), exactly(1.2)};
  const RunResult run = simulate_all({job}).front();
  const double tokens = 4 * 32;
  EXPECT_DOUBLE_EQ(run.watts, 4 * 1000 * 1.2);
  EXPECT_NEAR(run.usd_per_million_tokens(run.price.usd_per_hour),
              4 * 3 * run.step_time / 3600 / tokens * 1e6, 1e-9);
  EXPECT_NEAR(run.kwh_per_million_tokens(), 4.8 * run.step_time / 3600 / tokens * 1e6, 1e-9);
}

// The quickstart's own system, every rank and link by itself: some millions of messages.
TEST(SlowQuickstart, UnfoldedGivesTheSameStep) {
  const RunResult folded = simulate_all({quickstart({})}).front();
  const RunResult unfolded = simulate_all({quickstart({{"engine.fold", "false"}})}).front();
  EXPECT_NEAR(folded.step_time, unfolded.step_time, 1e-9 * unfolded.step_time);
  EXPECT_EQ(unfolded.engine.messages, unfolded.engine.represented_messages);
  EXPECT_EQ(folded.engine.represented_messages, unfolded.engine.messages);
  EXPECT_LT(folded.engine.messages, unfolded.engine.messages);
}

TEST(SlowChip, CostsTheSameFoldedAndUnfolded) {
  const std::vector<Override> one_unit{{"system.units", "1"},
                                       {"layout.data", "144"},
                                       {"training.global_batch", "144"},
                                       {"faults", R"([{"chip": 17, "compute": 0.7}])"}};
  std::vector<Override> by_itself = one_unit;
  by_itself.push_back({"engine.fold", "false"});
  const RunResult folded = simulate_all({quickstart(one_unit)}).front();
  const RunResult unfolded = simulate_all({quickstart(by_itself)}).front();
  EXPECT_NEAR(folded.step_time, unfolded.step_time, 1e-9 * unfolded.step_time);
  EXPECT_LT(folded.engine.messages, unfolded.engine.messages);
}

}  // namespace
}  // namespace trnsim::test
