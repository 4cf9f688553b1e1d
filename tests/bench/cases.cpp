#include "cases.h"

#include <utility>

#include "fixtures.h"
#include "plan/training_step.h"

namespace trnsim::bench {
namespace {

constexpr double GiB = 1024.0 * 1024.0 * 1024.0;
constexpr BytesPerSecond port = 100 * GiB;
constexpr Seconds latency = 500e-9;

// All-reduces of 1 GiB, one after another, over all dimensions of one unit.
Subject all_reduce(const std::vector<Rank>& sizes, Algorithm algorithm, size_t times) {
  System system = test::one_switch(sizes.front(), port, latency);
  for (size_t i = 1; i < sizes.size(); ++i)
    system.scale_up.push_back(test::dimension("switch " + std::to_string(i + 1),
                                              FabricDimension::Kind::switched, sizes[i], port,
                                              latency));
  Plan plan =
      test::collective_plan(system, CollectiveOp::all_reduce, algorithm, static_cast<Bytes>(GiB));
  plan.programs.front().blocks = times;
  return {Network(system), std::move(plan)};
}

std::function<Subject()> ring(const std::vector<Rank>& sizes) {
  return [sizes] { return all_reduce(sizes, Algorithm::ring, 1); };
}

std::function<Subject()> direct(Rank ranks, size_t times) {
  return [ranks, times] { return all_reduce({ranks}, Algorithm::direct, times); };
}

// The quickstart's own system, without those that it is compared with.
Subject quickstart() {
  const Job job = load_scenario(TRNSIM_SOURCE_DIR "/scenarios/quickstart.json", {}).jobs.front();
  return {network_of(job), training_step(job)};
}

Peer astra_sim(const std::string& figures) { return {"ASTRA-sim, analytical", figures}; }

}  // namespace

std::vector<Case> cases() {
  constexpr bool folded = true;
  constexpr bool unfolded = false;
  constexpr bool is_long = true;
  return {
      {"ring 144", unfolded, false, ring({144}), {astra_sim("0.06 s CPU, 21 MiB")}},
      {"ring 288", unfolded, false, ring({288})},
      {"ring 576", unfolded, false, ring({576})},
      {"direct 8, 100 times", unfolded, false, direct(8, 100)},
      {"ring 1,024", folded, false, ring({1024}), {astra_sim("2.9 s CPU, 354 MiB")}},
      {"ring 4,096", folded, false, ring({4096}), {astra_sim("121 s CPU, 5.4 GiB")}},
      {"ring 128 x 128", folded, false, ring({128, 128}), {astra_sim("37 s CPU, 1.9 GiB")}},
      {"direct 512", folded, false, direct(512, 1), {astra_sim("5.7 s CPU, 230 MiB")}},
      {"quickstart, Trn3", folded, false, quickstart},
      {"quickstart, Trn3", unfolded, is_long, quickstart},
      {"ring 1,024", unfolded, is_long, ring({1024}), {astra_sim("2.9 s CPU, 354 MiB")}},
  };
}

}  // namespace trnsim::bench
