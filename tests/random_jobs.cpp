#include "random_jobs.h"

#include "fixtures.h"
#include "plan/groups.h"

namespace trnsim::test {

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
  system.chip.hbm_bandwidth = exactly(random.from(1, 30) * 1e10);
  return system;
}

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
  for (const Axis& axis : fabric_axes(job.system)) {
    const auto names = algorithm_names();
    const Algorithm any = algorithm_of(names[random.from(0, static_cast<Rank>(names.size()) - 1)]);
    if (!obstacle(any, axis)) job.layout.algorithms.along[axis.name] = any;
  }
  job.layout.ordered = random.chance(2);
  job.layout.overlap_grad_reduce = !random.chance(4);
  job.layout.overlap_param_gather = !random.chance(4);
  job.layout.prefetch = random.from(0, 2);
  job.layout.reduce_bucket = {random.from(1, 5) * 10000, 0, 5000};
  job.layout.gather_bucket = {0, random.from(1, 5) * 10000, 0};
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

}  // namespace trnsim::test
