// Published training runs, replayed. What is expected are the published measurements.

#include "result/validation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "temporary_folder.h"

namespace trnsim {
namespace {

const std::filesystem::path root = TRNSIM_SOURCE_DIR;

Validation replayed(const std::filesystem::path& runs) {
  return validate(load_published_runs(runs), ReplayRules::load(root / "validation/training.json"),
                  Fidelity::analytic);
}

const Validation& published() {
  static const Validation validation = replayed(root / "tests/validation/training.json");
  return validation;
}

template <typename Chosen>
ErrorSummary errors_of(Chosen chosen) {
  std::vector<ValidatedRun> runs;
  for (const ValidatedRun& run : published().runs)
    if (chosen(run.run)) runs.push_back(run);
  return summary(runs);
}

bool is_dense(const PublishedRun& run) { return !run.states("experts"); }

bool is_data_parallel(const PublishedRun& run) {
  for (const char* split : {"tp", "pp", "cp"})
    if (run.configuration.value(split, 1) > 1) return false;
  return is_dense(run) && run.configuration.value("task", "") != "lora";
}

// All but 3 %, and those with their reasons.
TEST(SlowPublishedRuns, AreReplayed) {
  const size_t all = published().runs.size() + published().skipped.size();
  EXPECT_EQ(all, 636);
  EXPECT_LE(published().skipped.size(), 0.03 * static_cast<double>(all));
  for (const SkippedRun& run : published().skipped) EXPECT_NE(run.why, "") << run.id;
}

// What was reached; docs/accuracy.md has it by source, and what each source's error is when it is
// left out of the fit.
TEST(SlowPublishedRuns, ArePredicted) {
  const ErrorSummary all = summary(published().runs);
  EXPECT_LT(all.mean_absolute, 0.10);
  EXPECT_LT(all.median_absolute, 0.05);
  EXPECT_LT(std::abs(all.bias), 0.02);
  EXPECT_LT(errors_of(is_dense).mean_absolute, 0.07);
  EXPECT_LT(errors_of(is_data_parallel).mean_absolute, 0.06);
}

// From 128 to 512 chips the efficiency of a chip is within 5 points of the measured one.
TEST(SlowPublishedRuns, ScaleAsMeasured) {
  size_t found = 0;
  for (const WeakScaling& pair : weak_scaling(published().runs)) {
    if (pair.smaller_chips != 128 || pair.larger_chips != 512) continue;
    ++found;
    EXPECT_LT(std::abs(pair.predicted - pair.measured), 0.05) << pair.larger;
  }
  EXPECT_GE(found, 2);
}

TEST(SlowPublishedRuns, KeepMeasurementsFromTheRules) {
  for (const ValidatedRun& run : published().runs)
    for (const char* measured : {"step_time_s", "tokens_per_s", "tokens_per_s_per_accel", "mfu",
                                 "hfu", "tflops_per_accel", "id"})
      EXPECT_FALSE(run.run.states(measured)) << run.run.id << ": " << measured;
}

// A run of MPT-1B on 8 H100, with changes.
std::string run_with(const std::string& id, const nlohmann::json& changes) {
  nlohmann::json run = {{"id", id},
                        {"source", "invented"},
                        {"framework", "llm-foundry/Composer + PyTorch FSDP"},
                        {"model", "mpt-1b"},
                        {"task", "pretrain"},
                        {"layers", 24},
                        {"hidden", 2048},
                        {"heads", 16},
                        {"kv_heads", 16},
                        {"head_dim", 128},
                        {"ffn", 8192},
                        {"gated_mlp", false},
                        {"vocab", 50368},
                        {"seq_len", 2048},
                        {"precision", "bf16 (amp)"},
                        {"gbs", 64},
                        {"mbs", 8},
                        {"dp", 8},
                        {"tp", 1},
                        {"pp", 1},
                        {"cp", 1},
                        {"zero_stage", 3},
                        {"recompute", "none"},
                        {"accelerator", "H100"},
                        {"n_accel", 8},
                        {"domain_size", 8},
                        {"fabric", "infiniband"},
                        {"step_time_s", 1.0}};
  if (changes.is_object()) run.merge_patch(changes);  // {} alone is null
  return run.dump();
}

Validation of(const std::vector<std::string>& runs) {
  const test::TemporaryFolder folder;
  std::string list;
  for (const std::string& run : runs) list += (list.empty() ? "" : ",\n") + run;
  return replayed(folder.write("runs.json", "[" + list + "]"));
}

std::string why(const nlohmann::json& changes) {
  const Validation validation = of({run_with("one", changes)});
  return validation.skipped.empty() ? "" : validation.skipped.front().why;
}

TEST(Replay, SaysWhyARunIsSkipped) {
  EXPECT_EQ(why({}), "");
  EXPECT_EQ(why({{"tp", 3}}), "one: layout.tensor: 3 does not divide attention heads (16)");
  EXPECT_EQ(
      why({{"pp", 4}}),
      "one: layout.data: 8 x tensor 1 x pipeline 4 x context 1 is not the 8 chips of DGX H100");
  EXPECT_EQ(why({{"pp", 4}, {"dp", 2}}), "");
  EXPECT_EQ(why({{"experts", 8}}), "does not state moe_ffn");
  EXPECT_EQ(why({{"heads", nullptr}}), "one: workload.architecture: the key \"heads\" is missing");
  EXPECT_EQ(why({{"hidden", nullptr}}), "does not state hidden");
  EXPECT_EQ(why({{"accelerator", "V100"}}), "no rule names a system for V100 on fabric infiniband");
  EXPECT_EQ(why({{"n_accel", 12}}), "12 accelerators are no whole domains of 8");
  EXPECT_EQ(why({{"layers", 2400}}), "does not fit in memory");
  EXPECT_EQ(why({{"step_time_s", nullptr}}), "states no step time and no throughput");
  EXPECT_EQ(why({{"precision", "int2"}}), "one: training: the key \"precision\" is missing");
}

TEST(Replay, TakesTheStepFromWhatIsMeasured) {
  const auto measured = [](const nlohmann::json& changes) {
    return of({run_with("one", changes)}).runs.front().measured;
  };
  EXPECT_DOUBLE_EQ(measured({{"step_time_s", 2.5}}), 2.5);
  EXPECT_DOUBLE_EQ(measured({{"step_time_s", nullptr}, {"samples_per_s", 32}}), 64 / 32.0);
  EXPECT_DOUBLE_EQ(measured({{"step_time_s", nullptr}, {"tokens_per_s", 65536}}),
                   64 * 2048 / 65536.0);
}

// 80 GB hold a micro batch of 8, and of 16 only if layers are recomputed.
TEST(Replay, FillsInWhatARunLeavesOpen) {
  const Validation open =
      of({run_with("batch", {{"mbs", nullptr}}), run_with("recompute", {{"recompute", nullptr}}),
          run_with("neither", {{"mbs", 8}})});
  ASSERT_EQ(open.runs.size(), 3);
  EXPECT_EQ(open.runs[0].assumed, std::vector<std::string>{"micro_batch 8"});
  EXPECT_EQ(open.runs[1].assumed, std::vector<std::string>{"recompute none"});
  EXPECT_TRUE(open.runs[2].assumed.empty());
  EXPECT_DOUBLE_EQ(open.runs[0].predicted, open.runs[2].predicted);
  EXPECT_DOUBLE_EQ(open.runs[1].predicted, open.runs[2].predicted);
}

TEST(Replay, IsTheSimulationOfItsScenario) {
  const Validation analytic = of({run_with("one", {})});
  const std::vector<PublishedRun> runs = {analytic.runs.front().run};
  const ReplayRules rules = ReplayRules::load(root / "validation/training.json");
  const Validation messages = validate(runs, rules, Fidelity::message);
  ASSERT_EQ(messages.runs.size(), 1);
  // One collective at a time: the fidelities agree.
  EXPECT_NEAR(messages.runs.front().predicted, analytic.runs.front().predicted, 1e-9);
}

TEST(Validation, SumsUpErrors) {
  std::vector<ValidatedRun> runs(4);
  const double predicted[] = {1.1, 0.8, 1.0, 1.5};
  for (size_t i = 0; i < runs.size(); ++i) {
    runs[i].measured = 1;
    runs[i].predicted = predicted[i];
  }
  const ErrorSummary errors = summary(runs);
  EXPECT_NEAR(errors.mean_absolute, (0.1 + 0.2 + 0 + 0.5) / 4, 1e-12);
  EXPECT_NEAR(errors.median_absolute, 0.1, 1e-12);
  EXPECT_NEAR(errors.ninetieth_absolute, 0.5, 1e-12);
  EXPECT_NEAR(errors.bias, (0.1 - 0.2 + 0 + 0.5) / 4, 1e-12);
  EXPECT_EQ(summary({}).runs, 0);
}

TEST(Validation, ComparesSizesOfOneJob) {
  const Validation sizes =
      of({run_with("small", {}), run_with("large", {{"n_accel", 32}, {"dp", 32}, {"gbs", 256}}),
          run_with("other", {{"n_accel", 32}, {"dp", 32}, {"gbs", 256}, {"seq_len", 1024}})});
  const std::vector<WeakScaling> pairs = weak_scaling(sizes.runs);
  ASSERT_EQ(pairs.size(), 1);
  EXPECT_EQ(pairs.front().smaller, "small");
  EXPECT_EQ(pairs.front().larger, "large");
  EXPECT_DOUBLE_EQ(pairs.front().measured, 1);
}

TEST(Validation, NamesEveryRunInItsJson) {
  const Validation validation = of({run_with("runs", {}), run_with("does not", {{"tp", 3}})});
  const nlohmann::json made = to_json(validation);
  EXPECT_EQ(made["rows"][0]["id"], "runs");
  EXPECT_EQ(made["rows"][0]["measured"], 1.0);
  EXPECT_EQ(made["skipped"][0]["id"], "does not");
  EXPECT_EQ(made["summary"]["n"], 1);
  EXPECT_NE(text_report(validation).find("skipped, 1: layout.tensor"), std::string::npos);
}

}  // namespace
}  // namespace trnsim
