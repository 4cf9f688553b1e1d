#include "result/timeline.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "fixtures.h"
#include "random_jobs.h"
#include "result/simulate.h"

namespace trnsim::test {
namespace {

using Json = nlohmann::json;

struct Drawn {
  RunResult run;
  Json timeline;
};

Drawn drawn(const Job& job, const TimelineLimits& limits = {}) {
  const UnnamedFile file;
  const auto sinks = [&](const Graph& graph, const Network& network) {
    std::vector<std::unique_ptr<Sink>> made;
    made.push_back(make_timeline(graph, network, file, limits));
    return made;
  };
  const RunResult run = simulate_all({job}, sinks).front();
  return {run, Json::parse(file.read())};
}

Job four_chips() { return small_job(one_switch(4, 1e9, 1e-6)); }

// Seconds of the spans on a stream, as they are drawn and as they are summed.
std::pair<double, double> busy(const Json& timeline, const std::string& stream) {
  double spans = 0, totals = 0;
  const Json& events = timeline["events"];
  for (size_t i = 0; i < events["track"].size(); ++i)
    if (timeline["tracks"][events["track"][i].get<size_t>()]["stream"] == stream)
      spans += events["duration_us"][i].get<double>() * 1e-6;
  for (const Json& total : timeline["totals"])
    if (timeline["tracks"][total[0].get<size_t>()]["stream"] == stream)
      totals += total[3].get<double>();
  return {spans, totals};
}

// The compute stream of the one representative is the breakdown's compute and optimizer.
TEST(Timeline, HoldsTheComputeOfTheBreakdown) {
  const Drawn of = drawn(four_chips());
  EXPECT_EQ(of.timeline["tracks"][0]["stands_for"], 4);
  EXPECT_EQ(of.timeline["merged_below_us"], 0);
  const auto [spans, totals] = busy(of.timeline, "compute");
  const double expected = of.run.breakdown.compute + of.run.breakdown.optimizer;
  EXPECT_NEAR(totals, expected, 1e-9 * expected);
  // Each span is rounded to a nanosecond.
  EXPECT_NEAR(spans, expected, 0.5e-9 * static_cast<double>(of.timeline["events"]["track"].size()));
}

// What is drawn as one still covers the same time, lies on no neighbour and counts every span.
TEST(Timeline, DrawsNeighboursAsOneBeyondItsLimit) {
  const Drawn whole = drawn(four_chips());
  const size_t spans = whole.timeline["events"]["track"].size();
  const size_t most = spans / 3;
  const Drawn of = drawn(four_chips(), {.spans = most});
  const Json& events = of.timeline["events"];
  EXPECT_LE(events["track"].size(), most);
  EXPECT_GT(of.timeline["merged_below_us"], 0);
  const std::vector<size_t> counts = events["count"];
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), size_t{0}), spans);
  EXPECT_EQ(of.timeline["totals"], whole.timeline["totals"]);
  std::map<size_t, double> free_from;
  for (size_t i = 0; i < events["track"].size(); ++i) {
    double& free = free_from[events["track"][i]];
    EXPECT_GE(events["begin_us"][i].get<double>(), free - 2e-3);
    free = events["begin_us"][i].get<double>() + events["duration_us"][i].get<double>();
  }
}

TEST(Timeline, LeavesOutClassesBeyondItsLimit) {
  Job job = four_chips();
  job.faults = {{.chip = 2, .link = {}, .factor = 0.5}};
  job.engine.fold = false;
  const Drawn of = drawn(job, {.rank_classes = 3});
  EXPECT_EQ(of.timeline["classes_left_out"], 1);
  for (const Json& track : of.timeline["tracks"]) EXPECT_LT(track["rank"], 3);
}

// Conservation: over the bins a link carries what the table of links says.
TEST(Timeline, LoadsLinksWithWhatTheyCarry) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const Job job = seed % 2 == 0 ? random_job(random) : random_parallel_job(random);
    const Drawn of = drawn(job, {.bins = 64});
    const Json& links = of.timeline["links"];
    ASSERT_EQ(links["levels"].size(), of.run.links.size()) << seed;
    const double bin = links["bin_us"].get<double>() * 1e-6;
    for (size_t i = 0; i < of.run.links.size(); ++i) {
      EXPECT_EQ(links["levels"][i]["level"], of.run.links[i].level);
      const std::vector<double> load = links["levels"][i]["utilisation"];
      double sum = 0;
      for (size_t b = 0; b < load.size(); ++b)
        sum += load[b] * std::min(bin, of.run.step_time - static_cast<double>(b) * bin);
      EXPECT_NEAR(sum / of.run.step_time, of.run.links[i].utilisation, 1e-6) << seed;
    }
  }
}

TEST(Timeline, KeepsNoLoadOfTooManyLinks) {
  const Drawn of = drawn(four_chips(), {.link_classes = 0});
  EXPECT_TRUE(of.timeline["links"]["levels"].empty());
}

}  // namespace
}  // namespace trnsim::test
