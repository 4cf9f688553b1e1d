#include "result/result.h"

#include <gtest/gtest.h>

#include "fixtures.h"
#include "result/comparison.h"
#include "result/report.h"
#include "result/simulate.h"
#include "result/table.h"

namespace trnsim::test {
namespace {

ScenarioResult answered(const std::vector<Job>& jobs) {
  ScenarioResult result{"a scenario", title_of(jobs.front()), "1.2.3",
                        "chips",      simulate_all(jobs),     {}};
  for (size_t i = 1; i < jobs.size(); ++i)
    result.comparisons.push_back(explain(jobs.front(), jobs[i], "chips"));
  return result;
}

Job fitting() { return small_job(one_switch(4, 1e9, 1e-6)); }

Job too_large() {
  Job job = fitting();
  job.system.name = "small chips";
  job.system.chip.hbm_capacity = exactly(1000);
  return job;
}

TEST(Result, SurvivesBeingWrittenAndRead) {
  const ScenarioResult result = answered({fitting(), too_large()});
  const std::string text = to_json(result).dump();
  const Document document = Document::parse(text, "result", "", {});
  EXPECT_EQ(to_json(read_result(document)).dump(), text);
}

TEST(Result, HasNoTimesWhereAJobDoesNotFit) {
  const auto json = to_json(answered({fitting(), too_large()}));
  const auto& run = json["runs"][1];
  EXPECT_FALSE(run["memory"]["fits"].get<bool>());
  for (const char* key : {"step_time_s", "breakdown_s", "communication_s", "tokens_per_s", "mfu"})
    EXPECT_TRUE(run[key].is_null()) << key;
  EXPECT_TRUE(json["comparison"][0]["tokens_per_s_ratio"].is_null());
}

TEST(Report, LinesUpAndSaysWhatDoesNotFit) {
  const std::string report = text_report(answered({fitting(), too_large()}));
  EXPECT_NE(report.find("small chips does not fit in memory:"), std::string::npos);
  EXPECT_NE(report.find("step time"), std::string::npos);
  EXPECT_EQ(report.find("nan"), std::string::npos);
  EXPECT_EQ(report.find("inf"), std::string::npos);
}

TEST(Table, AlignsByCharactersAndNotBytes) {
  EXPECT_EQ(aligned({{"a", "1 \u00b5s"}, {"long", "22 \u00b5s"}}),
            "a       1 \u00b5s\nlong   22 \u00b5s\n");
  EXPECT_EQ(characters("\u00b7\u00b5"), 2U);
}

}  // namespace
}  // namespace trnsim::test
