// What collective libraries do: bytes against a count over their channels, times against NCCL's own
// formulas, worked out by hand, and against published measurements.

#include "plan/library_group.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fixtures.h"
#include "plan/collective_job.h"
#include "plan/trees.h"
#include "result/collective_run.h"
#include "system/systems.h"

namespace trnsim::test {
namespace {

using Kind = LibraryWay::Kind;

CollectiveJob job_on(const std::string& file, Rank units, CollectiveOp op, Bytes bytes,
                     const LibraryChoice& told = {}) {
  CollectiveJob job;
  job.system = load_system(file, units);
  job.op = op;
  job.bytes = bytes;
  job.algorithms.library = told;
  job.group.count = job.system.chips();
  return job;
}

std::vector<Streaming> ways(const CollectiveJob& job) {
  Plan plan;
  const Group group =
      make_library_group(plan, job.system, "ranks", group_axes(job), *job.algorithms.library, 1);
  return streamings_of(*group.library, job.op, job.bytes);
}

// Bytes that the plan has each rank send inside its unit and to others, on the wire.
std::pair<Bytes, Bytes> bytes_sent_by(const CollectiveJob& job, Rank rank) {
  const Plan plan = collective_plan(job);
  std::pair<Bytes, Bytes> sent;
  Unrolled program(plan.programs.front(), plan.streams.size());
  while (program.unroll()) {
  }
  for (Position at = program.begin(); at < program.end(); ++at) {
    const auto* exchange = std::get_if<Exchange>(&program.step(at).work);
    if (exchange == nullptr) continue;
    const Pattern& pattern = plan.patterns[exchange->pattern];
    for (const Rank shift : pattern.shifts) {
      if (!pattern.sent(rank, shift)) continue;
      const Rank to = pattern.axis.shifted(rank, shift);
      const bool inside = to / job.system.chips_per_unit() == rank / job.system.chips_per_unit();
      (inside ? sent.first : sent.second) += exchange->bytes;
    }
  }
  return sent;
}

// What 8 channels send, each a ring through all ranks that begins in a unit with another one:
// counted message by message.
TEST(LibraryRing, SendsWhatItsChannelsDo) {
  constexpr Rank inside = 8;
  for (const Rank units : {1U, 2U, 3U, 5U}) {
    const Rank ranks = units * inside;
    const Bytes shard_of_channel = 1000;
    std::map<Rank, std::pair<Bytes, Bytes>> counted;
    for (Rank channel = 0; channel < inside; ++channel) {
      for (Rank place = 0; place < ranks; ++place) {
        const Rank unit = place / inside;
        const Rank rank = unit * inside + (place + channel) % inside;
        const bool leaves = units > 1 && place % inside == inside - 1;
        (leaves ? counted[rank].second : counted[rank].first) += (ranks - 1) * shard_of_channel;
      }
    }
    const Bytes buffer = shard_of_channel * inside * ranks;
    for (const CollectiveOp op :
         {CollectiveOp::all_gather, CollectiveOp::reduce_scatter, CollectiveOp::all_reduce}) {
      const CollectiveJob job = job_on("p5.json", units, op, buffer, {"ring", "Simple"});
      const uint64_t passes = op == CollectiveOp::all_reduce ? 2 : 1;
      for (Rank rank = 0; rank < ranks; rank += 3) {
        EXPECT_EQ(bytes_sent_by(job, rank).first, passes * counted[rank].first) << units;
        EXPECT_EQ(bytes_sent_by(job, rank).second, passes * counted[rank].second) << units;
      }
    }
  }
}

// Every edge of both trees carries half of the buffer up and half down, spread over the NICs.
TEST(LibraryTree, SendsHalfOfTheBufferOverEachEdge) {
  constexpr Rank units = 11;
  constexpr Bytes bytes = 16'000'000;
  const CollectiveJob job =
      job_on("p5.json", units, CollectiveOp::all_reduce, bytes, {"nvls_tree", ""});
  for (Rank unit = 0; unit < units; ++unit) {
    Bytes edges = 0;
    for (const int tree : {0, 1}) {
      edges += tree_parent(tree, unit, units) ? 1 : 0;
      for (Rank child = 0; child < units; ++child)
        edges += tree_parent(tree, child, units) == unit ? 1 : 0;
    }
    for (const Rank place : {0U, 7U})
      EXPECT_EQ(bytes_sent_by(job, unit * 8 + place).second, edges * bytes / 2 / 8) << unit;
  }
}

// ncclTopoTuneModel (src/graph/tuning.cc), by hand.
TEST(LibraryLatency, IsNcclsOwnModel) {
  const auto latency = [](const CollectiveJob& job) { return ways(job).front().latency; };
  const auto ring = [](const std::string& protocol) { return LibraryChoice{"ring", protocol}; };
  constexpr auto all_reduce = CollectiveOp::all_reduce;
  constexpr auto all_gather = CollectiveOp::all_gather;
  // 8 GPUs: launch and 14 hops; no flows that processors could not keep up with.
  EXPECT_NEAR(latency(job_on("p5.json", 1, all_reduce, 8, ring("LL"))), 6.6e-6 + 14 * 0.6e-6,
              1e-10);
  EXPECT_NEAR(latency(job_on("p5.json", 1, all_gather, 8, ring("Simple"))), 8.4e-6 + 7 * 3.4e-6,
              1e-12);
  // 64 units: 63 hops leave one. The network has 4 us, as the figures contain, or more.
  const System system = load_system("p5.json", 64);
  const Seconds more = system.scale_out.latency - 4e-6;
  EXPECT_NEAR(latency(job_on("p5.json", 64, all_gather, 8, ring("LL128"))),
              14e-6 + 448 * 1.9e-6 + 63 * (4e-6 + more), 1e-12);
  // One GPU of each of 16 units: parallel aggregated trees.
  CollectiveJob one_each = job_on("p5.json", 16, all_gather, 8, {"pat", ""});
  one_each.group = {16, 8, 0, false};
  EXPECT_NEAR(latency(one_each), 8e-6 + 4 * (4e-6 + more) + 16 * 2.8e-6, 1e-12);
}

// Alone, a ring takes its latency and its bytes through the narrower of the two ports.
TEST(LibraryRing, TakesLatencyAndBytes) {
  constexpr Bytes bytes = Bytes{1} << 30;
  for (const Rank units : {1U, 2U, 9U}) {
    const CollectiveJob job =
        job_on("p5.json", units, CollectiveOp::all_gather, bytes, {"ring", "Simple"});
    const double ranks = units * 8.0;
    const double sent = (ranks - 1) / ranks * static_cast<double>(bytes);
    const FabricDimension& nvlink = job.system.scale_up.front();
    const double nic = job.system.scale_out.bandwidth * job.system.scale_out.efficiency;
    const Seconds flows =
        units == 1 ? sent / nvlink.port() : std::max(sent * 7 / 8 / nvlink.port(), sent / 8 / nic);
    EXPECT_NEAR(run_collectives({job}).front().time, ways(job).front().latency + flows, 1e-7)
        << units;
  }
}

// One slow NIC holds up every rank, for each needs what passes it.
TEST(LibraryRing, IsAsFastAsItsSlowestNic) {
  CollectiveJob job =
      job_on("p5.json", 3, CollectiveOp::all_gather, Bytes{1} << 30, {"ring", "Simple"});
  const Plan plan = collective_plan(job);
  Network network(job.system);
  const Played healthy = play(plan, network);
  network.scale(network.find("unit 1 chip 3 EFA NIC, out"), 0.5);
  const Played slow = play(plan, network);
  const Played unfolded = play(plan, network, {.fold = false});
  ASSERT_EQ(slow.error, "");
  EXPECT_GT(slow.step, 1.5 * healthy.step);
  const Position last = slow.ends.rbegin()->first.second;
  for (Rank rank = 0; rank < plan.ranks; ++rank) {
    EXPECT_NEAR(unfolded.ends.at({rank, last}), slow.step, 1e-9) << rank;
    EXPECT_NEAR(slow.ends.at({rank, last}), slow.step, 1e-9) << rank;
  }
}

TEST(Library, ChoosesBySizeAndSaysSo) {
  const auto chosen = [](const std::string& file, Rank units, CollectiveOp op, Bytes bytes) {
    const CollectiveJob job = job_on(file, units, op, bytes);
    return collective_plan(job).collectives.front().algorithm;
  };
  constexpr auto all_reduce = CollectiveOp::all_reduce;
  EXPECT_EQ(chosen("p5.json", 1, all_reduce, 1024), "NCCL ring, LL");
  EXPECT_EQ(chosen("p5.json", 1, all_reduce, Bytes{1} << 30), "NCCL nvls, Simple");
  EXPECT_EQ(chosen("dgx-h100.json", 64, all_reduce, 1024), "NCCL tree, LL");
  EXPECT_EQ(chosen("dgx-h100.json", 64, CollectiveOp::all_gather, Bytes{1} << 33),
            "NCCL ring, Simple");
  EXPECT_EQ(chosen("dgx-a100.json", 1, all_reduce, Bytes{1} << 30), "NCCL ring, Simple");
  // Neuron's sizes on Trn2 (AWS Neuron documentation): 1 MB and 56 MB.
  EXPECT_EQ(chosen("trn2.json", 1, all_reduce, 999'999), "Neuron: direct x 4, y 4");
  EXPECT_EQ(chosen("trn2.json", 1, all_reduce, 1'000'000), "Neuron: halving-doubling x 4, y 4");
  EXPECT_EQ(chosen("trn2.json", 1, all_reduce, 56'000'000), "Neuron: two-way-ring x 4, y 4");
}

TEST(Library, SaysWhyItCannot) {
  const auto why = [](const std::string& file, const LibraryChoice& told) {
    const System system = load_system(file, 1);
    CollectiveJob job;
    job.system = system;
    job.group.count = system.chips();
    return obstacle(told, system, group_axes(job)).value_or("");
  };
  EXPECT_EQ(why("p5.json", {}), "");
  EXPECT_EQ(why("tpu-v5p.json", {}), "is not described for this system");
  EXPECT_EQ(why("trn2.json", {"ring", ""}),
            "chooses by size; name the algorithm without \"library\"");
  EXPECT_EQ(why("dgx-a100.json", {"nvls", ""}),
            "has no such algorithm and protocol; NCCL has \"ring, LL\", \"ring, LL128\", \"ring, "
            "Simple\", \"tree, LL\", \"tree, LL128\", \"tree, Simple\" or \"pat, Simple\"");
}

struct Measured {
  Bytes bytes;
  double microseconds;
};

double mean_error(const std::string& file, Rank units, const std::vector<Measured>& rows) {
  std::vector<CollectiveJob> jobs;
  for (const Measured& row : rows)
    jobs.push_back(job_on(file, units, CollectiveOp::all_reduce, row.bytes));
  const std::vector<CollectiveRow> simulated = run_collectives(jobs);
  double sum = 0;
  for (size_t i = 0; i < rows.size(); ++i)
    sum += std::abs(simulated[i].time * 1e6 / rows[i].microseconds - 1);
  return sum / static_cast<double>(rows.size());
}

// nccl-tests, all_reduce_perf, out of place. The first gave the fill of trees and switches.
TEST(Library, TakesAboutWhatWasMeasured) {
  // 8 x H100: NVIDIA/dgxc-benchmarking, nccl/README.md, 841f5466c.
  EXPECT_LT(mean_error("dgx-h100.json", 1,
                       {{8, 13.67},
                        {128, 15.87},
                        {2048, 17.14},
                        {32768, 19.33},
                        {524288, 20.66},
                        {8388608, 83.04},
                        {134217728, 586.4},
                        {2147483648, 7939.1}}),
            0.12);
  // 2 x p5: awslabs/awsome-distributed-training, nccl-tests, 7217859f.
  EXPECT_LT(mean_error("p5.json", 2,
                       {{8, 69.12},
                        {128, 74.92},
                        {2048, 72.22},
                        {32768, 111.7},
                        {524288, 123.7},
                        {8388608, 204.8},
                        {134217728, 870.3},
                        {2147483648, 9074.5}}),
            0.25);
  // 2 x p4de: the same.
  EXPECT_LT(mean_error("p4de.json", 2,
                       {{8, 164.3},
                        {128, 161.2},
                        {2048, 177.6},
                        {32768, 224.6},
                        {524288, 260.3},
                        {8388608, 762.8},
                        {134217728, 3912.9},
                        {2147483648, 51406.0}}),
            0.25);
}

}  // namespace
}  // namespace trnsim::test
