// All-reduces against the closed forms of ASTRA-sim's analytical backend on the same system: links
// of 100 GiB/s and 500 ns, sums at 3350 bytes/ns, 1 ns for each endpoint, 1 GiB. Its forms round
// each term down to whole nanoseconds; taken without that they must be met exactly, and what it
// prints to within what the rounding costs.

#include <gtest/gtest.h>

#include "fixtures.h"
#include "plan/bounds.h"

namespace trnsim::test {
namespace {

constexpr Bytes GiB = Bytes{1} << 30;
constexpr double bandwidth = 100.0 * static_cast<double>(GiB);
constexpr Seconds latency = 500e-9;
constexpr Seconds endpoint = 1e-9;
constexpr double sums = 3350e9;

// 2 (n - 1) messages of a shard; the sums of half of them, and as ASTRA-sim counts them two more
// times: it sums at both ends and once where an all-gather only copies. Here all three of a message
// of the reduce-scatter are one reduction.
Seconds along_a_ring(Rank n, Bytes bytes) {
  const double shard = static_cast<double>(bytes / n);
  return 2.0 * (n - 1) * (shard / bandwidth + latency) + 3.0 * (n - 1) * (shard / sums) +
         (2.0 * n - 1) * endpoint;
}

// The same terms for trnsim: 3 sums of a shard in each hop of a reduce-scatter; 2 n - 1 endpoints
// spread over its 2 (n - 1) hops as further latency.
System with_the_same_terms(const std::vector<Rank>& sizes) {
  System system = one_switch(1, bandwidth, 0);
  system.scale_up.clear();
  for (const Rank n : sizes)
    system.scale_up.push_back(dimension("d" + std::to_string(system.scale_up.size()),
                                        FabricDimension::Kind::switched, n, bandwidth,
                                        latency + endpoint * (2.0 * n - 1) / (2.0 * (n - 1))));
  return system;
}

Seconds played(const std::vector<Rank>& sizes, Bytes bytes) {
  const System system = with_the_same_terms(sizes);
  const Reduction three_sums{sums / 3, bytes};
  return play(collective_plan(system, CollectiveOp::all_reduce, Algorithm::ring, bytes, three_sums),
              Network(system))
      .step;
}

struct Printed {
  Rank ranks;
  Seconds ring;
  std::vector<Rank> torus;
  Seconds on_torus;
};

class AstraSim : public testing::TestWithParam<Printed> {};

TEST_P(AstraSim, RingMeetsTheClosedForm) {
  const Rank n = GetParam().ranks;
  const Bytes bytes = GiB / n * n;
  const Seconds form = along_a_ring(n, bytes);
  EXPECT_NEAR(played({n}, bytes), form, 1e-9 * form);
  EXPECT_NEAR(played({n}, bytes), GetParam().ring, 3e-4 * GetParam().ring);
}

TEST_P(AstraSim, TorusMeetsTheClosedForm) {
  const std::vector<Rank>& sizes = GetParam().torus;
  const Bytes bytes = GiB / (sizes[0] * sizes[1]) * (sizes[0] * sizes[1]);
  const Seconds form = along_a_ring(sizes[0], bytes) + along_a_ring(sizes[1], bytes / sizes[0]);
  EXPECT_NEAR(played(sizes, bytes), form, 1e-9 * form);
  EXPECT_NEAR(played(sizes, bytes), GetParam().on_torus, 3e-4 * GetParam().on_torus);
}

INSTANTIATE_TEST_SUITE_P(Ranks, AstraSim,
                         testing::Values(Printed{8, 18.348359e-3, {4, 2}, 18.345364e-3},
                                         Printed{64, 20.697139e-3, {8, 8}, 20.648043e-3},
                                         Printed{144, 20.958796e-3, {12, 12}, 20.837963e-3},
                                         Printed{512, 21.432363e-3, {16, 32}, 20.966675e-3},
                                         Printed{1024, 21.964834e-3, {32, 32}, 21.003154e-3},
                                         Printed{4096, 25.053211e-3, {64, 64}, 21.082575e-3}),
                         [](const auto& info) {
                           return std::to_string(info.param.ranks) + "_ranks";
                         });

Seconds all_reduce(const System& system, Algorithm algorithm, Bytes bytes) {
  return play(collective_plan(system, CollectiveOp::all_reduce, algorithm, bytes), Network(system))
      .step;
}

// Its uncongested backend prints 0.043 ms, where the port of a rank alone needs 19.96 ms.
TEST(WhereAPeerIsWrong, DirectOn512RanksNeedsThePort) {
  const System system = one_switch(512, bandwidth, latency);
  const Seconds port = 2.0 * 511 / 512 / 100;
  EXPECT_NEAR(port, 19.96e-3, 0.01e-3);
  EXPECT_NEAR(all_reduce(system, Algorithm::direct, GiB), port + 2 * latency, 1e-9 * port);
}

// Its congested backend stores and forwards: a ring on a switch takes twice its time there.
TEST(WhereAPeerIsWrong, RingOnASwitchPaysItsBytesOnce) {
  const System system = one_switch(8, bandwidth, latency);
  const Seconds once = 2 * 7 * (1.0 / 8 / 100 + latency);
  EXPECT_NEAR(all_reduce(system, Algorithm::ring, GiB), once, 1e-9 * once);
}

// A message to another pod pays only the first dimension in which the two differ there.
TEST(WhereAPeerIsWrong, SendToAnotherPodPaysAllItsLinks) {
  System system = one_switch(2, bandwidth, latency);
  system.scale_up.push_back(
      dimension("second", FabricDimension::Kind::switched, 2, bandwidth / 10, 2 * latency));
  const Network network(system);
  std::vector<Link> route;
  EXPECT_DOUBLE_EQ(network.route(0, 3, route), 3 * latency);
  double narrowest = bandwidth;
  for (const Link link : route) narrowest = std::min(narrowest, network.capacity(link));
  EXPECT_DOUBLE_EQ(narrowest, bandwidth / 10);
}

// [2, 8] and [8, 2] of equal links are the same network with its dimensions named the other way.
TEST(WhereAPeerIsWrong, OrderOfEqualDimensionsChangesNothingButTheOrderOfPhases) {
  const auto direct = [](Rank a, Rank b) {
    System system = one_switch(a, bandwidth, 0);
    system.scale_up.push_back(dimension("d", FabricDimension::Kind::switched, b, bandwidth, 0));
    return all_reduce(system, Algorithm::direct, GiB);
  };
  EXPECT_NEAR(direct(2, 8), direct(8, 2), 1e-9 * direct(2, 8));
  EXPECT_NEAR(direct(2, 8), 2.0 * 15 / 16 / 100, 1e-9);
}

// A double binary tree over 144 ranks crashes there, halving and doubling end without a result.
TEST(WhereAPeerIsWrong, TreesTakeAnyNumberOfRanks) {
  const System system = one_switch(144, bandwidth, latency);
  const Seconds port = 2.0 * 143 / 144 / 100;  // no all-reduce without sums in switches is faster
  const Seconds tree = all_reduce(system, Algorithm::double_binary_tree, GiB);
  EXPECT_GT(tree, port);
  EXPECT_LT(tree, 1.2 * port);
  const Seconds bruck = all_reduce(system, Algorithm::bruck, GiB);
  EXPECT_NEAR(bruck, port + 2 * 8 * latency, 1e-6 * port);
}

}  // namespace
}  // namespace trnsim::test
