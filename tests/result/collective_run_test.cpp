// Collectives at once, and those whose sizes differ by pair: against sums of bytes through ports
// and an independent solver of fair shares.

#include "result/collective_run.h"

#include <gtest/gtest.h>

#include "errors.h"
#include "fixtures.h"
#include "progressive_filling.h"
#include "random_jobs.h"

namespace trnsim::test {
namespace {

constexpr BytesPerSecond port = 100e9;

CollectiveJob job_on(const System& system, CollectiveOp op, Algorithm algorithm, Bytes bytes) {
  CollectiveJob job;
  job.system = system;
  job.op = op;
  job.algorithms.everywhere = algorithm;
  job.bytes = bytes;
  job.group.count = system.chips();
  return job;
}

System units_of_switches(Rank units, Rank chips) {
  System system = one_switch(chips, port, 0);
  system.units = units;
  system.scale_out.chips_per_nic = 1;
  system.scale_out.bandwidth = exactly(port / 8);
  system.scale_out.latency = exactly(0);
  return system;
}

// A peer (ASTRA-sim) has one collective of a rank in flight at a time, so that what is on
// different links does not overlap.
TEST(AtOnce, OnLinksOfTheirOwnTheyDoNotNoticeEachOther) {
  const System system = units_of_switches(4, 8);
  CollectiveJob inside = job_on(system, CollectiveOp::all_reduce, Algorithm::ring, 80'000'000);
  inside.group = {8, 1, 0, true};
  CollectiveJob across = job_on(system, CollectiveOp::all_gather, Algorithm::ring, 40'000'000);
  across.group = {4, 8, 0, true};
  const std::vector<CollectiveRow> rows = run_at_once({{inside, across}}).front();
  EXPECT_NEAR(rows[0].time, 2 * 7.0 / 8 * 80e6 / port, 1e-12);
  EXPECT_NEAR(rows[1].time, 3.0 / 4 * 40e6 / (port / 8), 1e-12);
}

TEST(AtOnce, OnOnePortTheyShareItFairly) {
  const System system = one_switch(4, port, 0);
  const CollectiveJob large =
      job_on(system, CollectiveOp::all_gather, Algorithm::direct, 60'000'000);
  const CollectiveJob small =
      job_on(system, CollectiveOp::all_gather, Algorithm::direct, 20'000'000);
  const std::vector<CollectiveRow> rows = run_at_once({{large, small}}).front();
  // Equal numbers of messages: half of the port each until the small one has ended.
  EXPECT_NEAR(rows[1].time, 2 * 3.0 / 4 * 20e6 / port, 1e-9);
  EXPECT_NEAR(rows[0].time, 3.0 / 4 * (60e6 + 20e6) / port, 1e-9);
}

PairSizes random_sizes(Random& random, Rank ranks) {
  std::vector<Bytes> table;
  for (Rank pair = 0; pair < ranks * ranks; ++pair)
    table.push_back(random.chance(4) ? 0 : random.from(1, 90) * 100'000);
  return {ranks, [table, ranks](Rank from, Rank to) { return table[from * ranks + to]; }};
}

TEST(AllToAllV, SharesPortsAsProgressiveFillingDoes) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    Random random(seed);
    const Rank ranks = random.from(2, 6);
    CollectiveJob job =
        job_on(one_switch(ranks, port, 0), CollectiveOp::all_to_all, Algorithm::ring, 0);
    job.sizes = random_sizes(random, ranks);
    job.bytes = job.sizes->largest_buffer();
    std::vector<ReferenceFlow> flows;
    for (Rank from = 0; from < ranks; ++from)
      for (Rank to = 0; to < ranks; ++to)
        if (from != to && job.sizes->between(from, to) > 0)
          flows.push_back(
              {0, static_cast<double>(job.sizes->between(from, to)), {from, ranks + to}});
    double last = 0;
    for (const double end : finish_times(flows, std::vector<double>(2 * ranks, port)))
      last = std::max(last, end);
    CollectiveJob unfolded = job;
    unfolded.engine.fold = false;
    CollectiveJob analytic = job;
    analytic.engine.fidelity = Fidelity::analytic;
    const std::vector<CollectiveRow> rows = run_collectives({job, unfolded, analytic});
    const Seconds bound = static_cast<double>(job.sizes->largest_part()) / port;
    EXPECT_NEAR(rows[0].time, last, 1e-6 * last) << seed;
    EXPECT_NEAR(rows[1].time, rows[0].time, 1e-12 * last) << seed;
    EXPECT_NEAR(rows[2].time, bound, 1e-12 * last) << seed;
    EXPECT_NEAR(rows[0].bound, bound, 1e-12 * last) << seed;
    EXPECT_GE(rows[0].time, bound * (1 - 1e-12)) << seed;
  }
}

TEST(AllToAllV, OfEqualSizesIsAnAllToAll) {
  const System system = one_switch(6, port, 1e-6);
  CollectiveJob even = job_on(system, CollectiveOp::all_to_all, Algorithm::ring, 6'000'000);
  CollectiveJob same = even;
  same.sizes = skewed_sizes(6, 6'000'000, 1);
  const std::vector<CollectiveRow> rows = run_collectives({even, same});
  EXPECT_DOUBLE_EQ(rows[0].time, rows[1].time);
  EXPECT_DOUBLE_EQ(rows[0].bus_bandwidth, rows[1].bus_bandwidth);
  EXPECT_EQ(rows[1].classes, 1);
}

// The port of the hottest rank takes skew times the mean from each other one.
TEST(AllToAllV, OfASkewIsBoundByTheHottestPort) {
  CollectiveJob job = job_on(one_switch(8, port, 0), CollectiveOp::all_to_all, Algorithm::ring, 0);
  job.sizes = skewed_sizes(8, 8'000'000, 3);
  job.bytes = job.sizes->largest_buffer();
  EXPECT_EQ(job.bytes, 8 * 3'000'000);
  const CollectiveRow row = run_collectives({job}).front();
  EXPECT_NEAR(row.time, 7 * 3e6 / port, 1e-12);
  EXPECT_NEAR(row.bus_bandwidth, port, 1e-3);
  EXPECT_EQ(row.classes, 2);
}

TEST(PairSizes, AreReadInTheirUnit) {
  const auto read = [](const std::string& sizes) {
    const Document document = Document::parse(
        R"({"format": "trnsim.pair_sizes.v1", "unit": "2 kB", "sizes": )" + sizes + "}",
        "sizes.json", ".", {});
    return read_pair_sizes(JsonReader(document));
  };
  const PairSizes sizes = read("[[7, 1, 0], [2, 0, 0], [3, 4, 9]]");
  EXPECT_EQ(sizes.between(2, 1), 8000);
  EXPECT_EQ(sizes.largest_part(), 14'000);    // sent by the last
  EXPECT_EQ(sizes.largest_buffer(), 32'000);  // the same with its own part
  EXPECT_EQ(error_of([&] { read("[[1, 2], [3]]"); }),
            "sizes.json: sizes.1: has 1 numbers for 2 ranks");
  EXPECT_EQ(error_of([&] { read("[]"); }),
            "sizes.json: sizes: must have 1 to 4096 rows, one for each rank");
}

}  // namespace
}  // namespace trnsim::test
