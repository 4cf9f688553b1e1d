// Times of single collectives on a switch against closed forms, algorithm by algorithm: n ranks, S
// bytes that n divides, ports of B bytes/s each way, latency l.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "fixtures.h"
#include "plan/collective_job.h"

namespace trnsim::test {
namespace {

constexpr BytesPerSecond port = 100e9;
constexpr Seconds latency = 700e-9;

struct Case {
  CollectiveOp op;
  Algorithm algorithm;
  Rank ranks;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Rank ranks : {4U, 8U, 13U, 32U})
    for (const std::string& name : algorithm_names())
      for (const CollectiveOp op :
           {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter})
        if (!obstacle(algorithm_of(name), {"", 1, ranks}))
          all.push_back({op, algorithm_of(name), ranks});
  return all;
}

// Of one pass: messages one after another, and what goes through a port.
Seconds pass(Algorithm algorithm, double n, double bytes) {
  const double all_but_own = bytes * (n - 1) / n / port;
  switch (algorithm) {
    case Algorithm::direct:
      return latency + all_but_own;
    case Algorithm::halving_doubling:
    case Algorithm::bruck:
    case Algorithm::pat:
      return std::ceil(std::log2(n)) * latency + all_but_own;
    case Algorithm::nvls:
      return latency + bytes / port;
    default:  // on a switch two ways share the port
      return (n - 1) * latency + all_but_own;
  }
}

// Levels below the root: the second tree is as deep as the first, whose root is 0.
double depth(Rank n) { return std::bit_width(n - 1); }

Seconds expected(const Case& of, double bytes) {
  const double n = of.ranks;
  if (of.op != CollectiveOp::all_reduce) return pass(of.algorithm, n, bytes);
  switch (of.algorithm) {
    case Algorithm::sharp:
      return latency + bytes / port;
    case Algorithm::nvls:
      return 2 * latency + bytes * (1 + 1 / n) / port;
    default:
      return 2 * pass(of.algorithm, n, bytes);
  }
}

class Times : public testing::TestWithParam<Case> {};

TEST_P(Times, TakeTheirClosedForm) {
  const Case& of = GetParam();
  const Bytes bytes = Bytes{2} * 3 * 5 * of.ranks * 100'000;
  const System system = one_switch(of.ranks, port, latency);
  const Plan plan = collective_plan(system, of.op, of.algorithm, bytes);
  const Seconds folded = play(plan, Network(system)).step;
  EXPECT_NEAR(play(plan, Network(system), {.fold = false}).step, folded, 1e-12 * folded);
  if (of.algorithm == Algorithm::double_binary_tree && of.op == CollectiveOp::all_reduce) {
    // 16 messages a level and what fills the tree, up and down; a port has at most 2 of them, 3
    // where an odd number of ranks leaves one inside both trees.
    const double messages = 16 * depth(of.ranks);
    const double hops = messages + depth(of.ranks) - 1;
    const Seconds two =
        2 * hops * (latency + 2 * (static_cast<double>(bytes) / 2 / messages) / port);
    const Seconds message = static_cast<double>(bytes) / 2 / messages / port;
    EXPECT_GE(folded, 2 * messages * 2 * message);
    EXPECT_LE(folded, two + 2 * hops * message);
    if (of.ranks % 2 == 0) {
      EXPECT_LE(folded, two * (1 + 1e-9));
    }
    return;
  }
  const Seconds form = expected(of, static_cast<double>(bytes));
  EXPECT_NEAR(folded, form, 1e-9 * form);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Times, testing::ValuesIn(cases()), [](const auto& info) {
  return to_string(info.param.op) + '_' + to_string(info.param.algorithm) + '_' +
         std::to_string(info.param.ranks);
});

// Along one axis of a torus a two-way ring has links of its own each way: half the time for bytes.
TEST(TwoWayRing, UsesBothDirectionsOfATorus) {
  System system = one_switch(1, port, 0);
  system.scale_up = {dimension("x", FabricDimension::Kind::ring, 6, port, latency)};
  const Bytes bytes = 12'000'000;
  const Seconds expected = 10 * (latency + 1e6 / port);
  EXPECT_NEAR(
      play(collective_plan(system, CollectiveOp::all_reduce, Algorithm::two_way_ring, bytes),
           Network(system))
          .step,
      expected, 1e-9 * expected);
}

// In P pieces the slower axis is busy all the time but while the first piece comes and the last
// goes.
TEST(Pieces, KeepTheSlowerAxisBusy) {
  CollectiveJob job;
  job.system = one_switch(4, port, 0);
  job.system.scale_up.push_back(
      dimension("second", FabricDimension::Kind::switched, 3, port / 8, 0));
  job.op = CollectiveOp::all_gather;
  job.algorithms = {Algorithm::direct};
  job.bytes = 12'000'000;
  job.group.count = 12;
  const double outer =
      2.0 / 3 * 3e6 / (port / 8);  // of the whole: along the second dimension first
  const double inner = 3.0 / 4 * 12e6 / port;
  for (const uint32_t pieces : {1U, 2U, 5U, 16U}) {
    job.pieces = pieces;
    const Seconds expected = outer > inner ? outer + inner / pieces : inner + outer / pieces;
    for (const bool fold : {true, false}) {
      const Plan plan = collective_plan(job);
      EXPECT_NEAR(play(plan, Network(job.system), {.fold = fold}).step, expected, 1e-9 * expected);
    }
  }
}

TEST(AllToAll, HandsEachPeerItsPart) {
  const System system = one_switch(7, port, latency);
  const Seconds expected = latency + 6 * 1e6 / port;
  const Plan plan = collective_plan(system, CollectiveOp::all_to_all, Algorithm::ring, 7'000'000);
  EXPECT_NEAR(play(plan, Network(system)).step, expected, 1e-9 * expected);
}

// The root's port takes, or gives, all but its own part.
TEST(GatherAndScatter, AreBoundByTheRootsPort) {
  for (const CollectiveOp op : {CollectiveOp::gather, CollectiveOp::scatter}) {
    const System system = one_switch(9, port, latency);
    const Seconds expected = latency + 8 * 1e6 / port;
    const Plan plan = collective_plan(system, op, Algorithm::ring, 9'000'000);
    EXPECT_NEAR(play(plan, Network(system)).step, expected, 1e-9 * expected);
  }
}

TEST(Reduce, TakesAsLongAsABroadcast) {
  const System system = one_switch(9, port, latency);
  const auto time = [&](CollectiveOp op) {
    return play(collective_plan(system, op, Algorithm::ring, 12'800'000), Network(system)).step;
  };
  EXPECT_NEAR(time(CollectiveOp::reduce), time(CollectiveOp::broadcast),
              1e-9 * time(CollectiveOp::reduce));
}

TEST(Barrier, IsTheDepthOfItsDissemination) {
  const System system = one_switch(20, port, latency);
  const Plan plan = collective_plan(system, CollectiveOp::barrier, Algorithm::ring, 0);
  EXPECT_NEAR(play(plan, Network(system)).step, 5 * latency, 1e-15);
}

}  // namespace
}  // namespace trnsim::test
