#include "result/chrome_trace.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "fixtures.h"
#include "result/simulate.h"

namespace trnsim::test {
namespace {

class Trace : public testing::Test {
 protected:
  ~Trace() override { std::filesystem::remove_all(folder_); }

  nlohmann::json traced(const Job& job, RunResult& run) {
    std::filesystem::create_directories(folder_);
    const auto sinks = [&](const Graph& graph, const Network&) {
      std::vector<std::unique_ptr<Sink>> made;
      made.push_back(make_chrome_trace(folder_ / "trace.json", graph));
      return made;
    };
    run = simulate_all({job}, sinks).front();
    std::ifstream file(folder_ / "trace.json");
    return nlohmann::json::parse(file);
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("trnsim-trace-" + std::to_string(getpid()));
};

// The events of the representative's compute stream add up to the breakdown, do not overlap on any
// stream, and the communication stream has what the collectives table counts.
TEST_F(Trace, HoldsEveryStepOfTheRepresentative) {
  const Job job = small_job(one_switch(4, 1e9, 1e-6));
  RunResult run;
  const nlohmann::json trace = traced(job, run);
  double compute = 0;
  std::map<int, double> free_from;
  uint64_t sent = 0;
  std::map<std::string, std::string> names;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "M") {
      names[event["name"]] = event["args"]["name"];
      continue;
    }
    ASSERT_EQ(event["ph"], "X");
    EXPECT_EQ(event["pid"], 0);
    const double begin = event["ts"];
    double& free = free_from[event["tid"]];
    EXPECT_GE(begin, free - 1e-6);
    free = begin + event["dur"].get<double>();
    if (event["tid"] == 0) compute += event["dur"].get<double>();
    if (event["args"].contains("sent_bytes")) sent += event["args"]["sent_bytes"].get<uint64_t>();
  }
  EXPECT_EQ(names["process_name"], "rank 0 (stands for 4)");
  EXPECT_EQ(names["thread_name"], "collectives");
  EXPECT_NEAR(compute * 1e-6, run.breakdown.compute + run.breakdown.optimizer,
              1e-9 * run.step_time);
  uint64_t expected = 0;
  for (const CollectiveResult& of : run.collectives) expected += of.count * of.sent_per_rank;
  EXPECT_EQ(sent, expected);
}

TEST_F(Trace, HasAProcessForEachClass) {
  Job job = small_job(one_switch(4, 1e9, 1e-6));
  job.faults = {{.chip = 2, .link = {}, .factor = 0.5}};
  job.engine.fold = false;
  RunResult run;
  const nlohmann::json trace = traced(job, run);
  std::set<int> processes;
  for (const auto& event : trace["traceEvents"]) processes.insert(event["pid"].get<int>());
  EXPECT_EQ(processes.size(), 4U);
}

}  // namespace
}  // namespace trnsim::test
