#include "random_jobs.h"

#include <cstdlib>

#include "fixtures.h"
#include "plan/groups.h"
#include "plan/library_group.h"

namespace trnsim::test {

Algorithms random_algorithms(Random& random, const std::vector<Axis>& axes) {
  Algorithms made;
  for (const Axis& axis : axes) {
    const auto names = algorithm_names();
    const Algorithm any = algorithm_of(names[random.from(0, static_cast<Rank>(names.size()) - 1)]);
    if (!obstacle(any, axis)) made.along[axis.name] = any;
  }
  return made;
}

using Kind = FabricDimension::Kind;

System random_system(Random& random) {
  System system = one_switch(1, 1e9, 0);
  system.scale_up.clear();
  const unsigned dimensions = random.from(1, 3);
  for (unsigned i = 0; i < dimensions; ++i) {
    const Kind kinds[] = {Kind::switched, Kind::ring, Kind::mesh};
    system.scale_up.push_back(dimension("d" + std::to_string(i), kinds[random.from(0, 2)],
                                        random.from(1, 4), random.from(1, 4) * 25e9,
                                        random.from(0, 3) * 1e-6));
  }
  system.units = random.from(1, 6);
  const Rank chips = system.chips_per_unit();
  system.scale_out.chips_per_nic = chips % 2 == 0 && random.chance(2) ? 2 : 1;
  system.scale_out.bandwidth = exactly(random.from(1, 4) * 5e9);
  system.scale_out.latency = exactly(random.from(1, 20) * 1e-6);
  system.scale_out.hop_latency = exactly(random.from(0, 2) * 1e-6);
  if (random.chance(2)) {
    system.scale_out.layers.push_back({"leaf", random.from(1, 3), exactly(random.from(1, 3))});
    if (random.chance(2))
      system.scale_out.layers.push_back(
          {"pod", 2 * system.scale_out.layers[0].units, exactly(random.from(1, 2))});
  }
  if (!system.scale_out.layers.empty() && random.chance(2)) {
    std::vector<Rank> divisors;
    for (Rank rails = 2; rails <= system.nics_per_unit(); ++rails)
      if (system.nics_per_unit() % rails == 0) divisors.push_back(rails);
    if (!divisors.empty()) {
      system.scale_out.rails = divisors[random.from(0, static_cast<Rank>(divisors.size()) - 1)];
      system.scale_out.rail_layers =
          random.from(1, static_cast<Rank>(system.scale_out.layers.size()));
      system.scale_out.rails_meet_in_unit = random.chance(2);
    }
  }
  system.chip.hbm_bandwidth = exactly(random.from(1, 30) * 1e10);
  return system;
}

namespace {

// A library of one or two ways, or one that chooses by size, if it can run the job.
void use_library(Random& random, Job& job) {
  if (!job.layout.ordered || job.layout.pieces > 1 || !random.chance(2)) return;
  Library& library = job.system.library;
  library.name = "any";
  library.wire = library.fill = exactly(0);
  if (random.chance(3))
    library.sizes = {{exactly(0), Algorithm::direct}, {exactly(20'000), Algorithm::ring}};
  else
    for (const auto kind : {LibraryWay::Kind::tree, LibraryWay::Kind::ring})
      library.ways.push_back({kind, "P", exactly(1e-6), exactly(random.from(0, 3) * 1e-6),
                              exactly(random.from(0, 9) * 1e-6), exactly(0), exactly(1),
                              exactly(0.5), exactly(0), exactly(0)});
  if (obstacle(LibraryChoice{}, job.system, fabric_axes(job.system)))
    library = {};
  else
    job.layout.algorithms.library.emplace();
}

}  // namespace

Job random_job(Random& random) {
  Job job = small_job(random_system(random));
  job.training.global_batch *= random.from(1, 2);
  job.layout.zero_stage = static_cast<int>(random.from(0, 3));
  job.layout.shard = job.layout.zero_stage == 0 ? 1 : job.layout.data;
  const Rank unit = job.system.chips_per_unit();
  if (job.layout.zero_stage > 0 && random.chance(3)) job.layout.shard = unit;
  job.layout.reshard_after_forward = random.chance(2);
  job.layout.sync_every_microbatch = job.layout.zero_stage == 2 || random.chance(2);
  job.layout.dynamic_buckets = random.chance(2);
  job.layout.algorithms = random_algorithms(random, fabric_axes(job.system));
  job.layout.ordered = random.chance(2);
  if (job.layout.ordered && random.chance(3)) job.layout.pieces = random.from(2, 3);
  job.layout.overlap_grad_reduce = !random.chance(4);
  job.layout.overlap_param_gather = !random.chance(4);
  job.layout.prefetch = random.from(0, 2);
  use_library(random, job);
  job.layout.reduce_bucket = {random.from(1, 5) * 10000, 0, 5000};
  job.layout.gather_bucket = {0, random.from(1, 5) * 10000, 0};
  return job;
}

Job random_parallel_job(Random& random) {
  Job job = random_job(random);
  Layout& layout = job.layout;
  uint64_t left = layout.data;
  const auto split = [&](std::initializer_list<uint64_t> degrees) {
    std::vector<uint64_t> possible{1};
    for (const uint64_t degree : degrees)
      if (left % degree == 0) possible.push_back(degree);
    const uint64_t chosen = possible[random.from(0, static_cast<Rank>(possible.size()) - 1)];
    left /= chosen;
    return chosen;
  };
  layout.pipeline = split({2, 3, 4});
  layout.tensor = split({2, 4});
  layout.context = split({2});
  layout.data = left;
  for (size_t i = 3; i > 0; --i) std::swap(layout.order[i], layout.order[random.from(0, i)]);
  layout.sequence_parallel = random.chance(2);
  layout.overlap_tensor = random.chance(3);
  // Ulysses needs heads of keys and values for all of tensor x context.
  layout.context_method =
      static_cast<ContextMethod>(random.from(0, layout.tensor * layout.context > 4 ? 1 : 2));
  layout.overlap_p2p = !random.chance(3);
  layout.scatter_gather =
      layout.tensor > 1 && layout.pipeline > 1 && !layout.sequence_parallel && random.chance(2);
  layout.schedule = random.chance(2) ? Schedule::one_f_one_b : Schedule::gpipe;
  if (layout.pipeline > 1 && random.chance(3)) {
    layout.schedule = Schedule::interleaved;
    layout.virtual_stages = random.from(2, 3);
  }
  job.model = {
      "small",         layout.pipeline * layout.virtual_stages, 64, 8, 4, 16, 96, true, 100,
      random.chance(2)};
  job.training.global_batch = layout.data * layout.pipeline * random.from(1, 3);
  if (layout.pipeline > 1) {
    if (layout.zero_stage == 2) layout.zero_stage = 1;
    layout.sync_every_microbatch = layout.zero_stage == 3 && random.chance(3);
  }
  layout.shard = layout.zero_stage == 0 ? 1 : layout.replicas();
  for (const std::vector<Axis>& axes : axes_with_choice(job.system, layout)) {
    if (!obstacle(LibraryChoice{}, job.system, axes)) continue;
    layout.algorithms.library.reset();
    layout.algorithms_of.clear();
  }
  return job;
}

void break_symmetry(Random& random, Job& job) {
  Fault fault;
  if (random.chance(2)) {
    fault.chip = random.from(0, job.system.chips() - 1);
    fault.factor = 0.7;
  } else {
    const Network network(job.system);
    if (network.links() == 0) return;
    fault.link = network.name(random.from(0, network.links() - 1));
    fault.factor = 0.5;
  }
  job.faults.push_back(fault);
}

namespace {

struct Piece {
  Group group;
  CollectiveOp op = CollectiveOp::all_reduce;
};

}  // namespace

Plan random_plan(Random& random, const System& system) {
  Plan plan;
  plan.ranks = system.chips();
  plan.names = {"something"};
  plan.streams = {"compute", "first", "second", "third"};
  const std::vector<Axis> axes = fabric_axes(system);
  const auto cut = axes.begin() + random.from(0, static_cast<Rank>(axes.size()));
  const std::vector<std::vector<Axis>> groups = {
      {axes.begin(), cut}, {cut, axes.end()}, axes, {{"ranks", 1, plan.ranks}}};
  std::vector<Piece> pieces;
  const auto ops = collective_ops();
  for (unsigned i = random.from(2, 5); i > 0; --i) {
    const CollectiveOp op = ops[random.from(0, static_cast<Rank>(ops.size()) - 1)];
    const auto& over = groups[op == CollectiveOp::send_recv ? 3 : random.from(0, 2)];
    pieces.push_back({make_group(plan, op, "some", over, random_algorithms(random, over)), op});
  }
  const unsigned seed = random.from(0, 1'000'000);
  const auto program = [pieces, seed](double slowness) {
    return [=](size_t block, Unrolled& steps) {
      Random of_block(seed + static_cast<unsigned>(block));  // the same exchanges in all programs
      std::vector<Position> made;
      const auto any_before = [&]() -> std::vector<Position> {
        return {made[of_block.from(0, static_cast<unsigned>(made.size()) - 1)]};
      };
      for (unsigned i = of_block.from(2, 5); i > 0; --i) {
        Step compute;
        compute.work = Compute{of_block.from(1, 9) * 3e-6 * slowness};
        if (!made.empty()) compute.after = any_before();
        made.push_back(steps.add(compute));
        const Piece& piece = pieces[of_block.from(0, static_cast<unsigned>(pieces.size()) - 1)];
        CollectiveSteps how;
        how.stream = of_block.from(1, 3);
        how.reduction = {200e9, 5000};
        made.push_back(add_collective(steps, piece.group, piece.op, of_block.from(1, 900'000), how,
                                      any_before()));
      }
    };
  };
  const size_t blocks = random.from(1, 3);
  plan.programs = {{blocks, program(1)}, {blocks, program(1.7)}};
  const Axis axis = axes[random.from(0, static_cast<Rank>(axes.size()) - 1)];
  if (axis.size > 1 && random.chance(3)) {
    plan.program_of = [axis](Rank rank) { return axis.coordinate(rank) == 0 ? 1U : 0U; };
  } else {
    plan.programs.pop_back();
  }
  return plan;
}

unsigned random_cases() {
  const char* wanted = std::getenv("TRNSIM_RANDOM_CASES");
  return wanted == nullptr ? 120 : static_cast<unsigned>(std::stoul(wanted));
}

}  // namespace trnsim::test
