// How sure figures are: of one number with a range, what a normal distribution says.

#include "result/uncertainty.h"

#include <gtest/gtest.h>

#include <cmath>

#include "result/estimate.h"
#include "result/simulate.h"
#include "temporary_folder.h"

namespace trnsim {
namespace {

using nlohmann::json;

// Every sourced number without its range, and with a source that is not assumed.
json certain(json value) {
  if (value.is_object() && value.contains("value")) {
    value.erase("range");
    value["source"] = "stated for a test";
  }
  if (value.is_structured())
    for (json& inner : value) inner = certain(inner);
  return value;
}

// One H100 that trains a small model: `efficiency` of products is the one number with a range.
class OneUncertainNumber : public testing::Test {
 protected:
  OneUncertainNumber() {
    const std::filesystem::path root = TRNSIM_SOURCE_DIR;
    const Document document = Document::load(root / "topologies/dgx-h100.json", {});
    json system = certain(document.root());
    system["scale_up"]["dimensions"][0]["size"] = 1;
    system["chip"]["compute"].erase("model_error");
    system["scale_out"].erase("rails");
    system["scale_out"].erase("rail_layers");
    system["scale_out"].erase("between_rails");
    system["chip"]["compute"]["gemm_efficiency"] = {
        {"value", 0.5}, {"source", "assumed: for a test"}, {"range", {0.25, 1.0}}};
    json scenario = {{"format", "trnsim.scenario.v1"},
                     {"name", "one number"},
                     {"system", system},
                     {"workload", {{"file", (root / "workloads/gpt3-125m.json").string()}}},
                     {"training",
                      {{"sequence_length", 1024},
                       {"global_batch", 8},
                       {"micro_batch", 8},
                       {"precision", "bf16"},
                       {"recompute", "none"},
                       {"optimizer", "adamw"}}},
                     {"layout", {{"data", 1}, {"zero_stage", 0}}},
                     {"engine", {{"fidelity", "analytic"}}}};
    file_ = folder_.write("scenario.json", scenario.dump());
  }

  std::vector<Job> jobs(const std::vector<Override>& overrides = {}) const {
    return load_scenario(file_, overrides).jobs;
  }
  Uncertainty sampled(const Sampling& sampling, const std::vector<Override>& overrides = {}) const {
    std::vector<RunResult> runs{simulate(jobs(overrides).front())};
    add_uncertainty(file_, overrides, jobs(overrides), sampling, runs);
    return runs.front().uncertainty.value();
  }
  Seconds step_at(double efficiency) const {
    const std::string value = std::to_string(efficiency);
    return simulate(jobs({{"system.chip.compute.gemm_efficiency.value", value}}).front()).step_time;
  }

  test::TemporaryFolder folder_;
  std::filesystem::path file_;
};

// The ends of the range are 1.6449 deviations of the logarithm away, a tenth lies beyond 1.2816. Of
// 2,000 draws the tenth is known to 0.04 deviations, here 2 %.
TEST_F(OneUncertainNumber, HasTheQuantilesOfItsDistribution) {
  const Uncertainty of = sampled({2000, 7});
  const double tenth = std::exp2(1.2816 / 1.6449);
  EXPECT_NEAR(of.step_time.p10 / step_at(0.5 * tenth), 1, 0.04);
  EXPECT_NEAR(of.step_time.p50 / step_at(0.5), 1, 0.04);
  EXPECT_NEAR(of.step_time.p90 / step_at(0.5 / tenth), 1, 0.04);
  EXPECT_EQ(of.exposed_communication.p90, 0);
}

TEST_F(OneUncertainNumber, MovesTheStepBetweenItsEnds) {
  const Uncertainty of = sampled({10, 1});
  ASSERT_EQ(of.influences.size(), 1);
  EXPECT_EQ(of.influences[0].what, "system.chip.compute.gemm_efficiency");
  EXPECT_NEAR(of.influences[0].step_at_low / step_at(0.25), 1, 1e-9);
  EXPECT_NEAR(of.influences[0].step_at_high / step_at(1.0), 1, 1e-9);
}

TEST_F(OneUncertainNumber, IsDrawnAlikeFromOneSeed) {
  EXPECT_EQ(sampled({50, 3}).step_time.p90, sampled({50, 3}).step_time.p90);
  EXPECT_NE(sampled({50, 3}).step_time.p90, sampled({50, 4}).step_time.p90);
}

// Without any other number with a range an error of 10 % of the model is all.
TEST_F(OneUncertainNumber, IsJoinedByTheErrorOfTheModel) {
  const std::vector<Override> overrides{
      {"system.chip.compute.gemm_efficiency.range", "[0.5, 0.5]"},
      {"system.chip.compute.model_error", R"({"value": 0.1, "source": "stated for a test"})"}};
  const Uncertainty of = sampled({2000, 7}, overrides);
  EXPECT_NEAR(of.step_time.p90 / step_at(0.5), std::exp(0.12816), 0.01);
  EXPECT_NEAR(of.step_time.p10 / step_at(0.5), std::exp(-0.12816), 0.01);
}

}  // namespace
}  // namespace trnsim
