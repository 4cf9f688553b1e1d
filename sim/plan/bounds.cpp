#include "plan/bounds.h"

#include <algorithm>

namespace trnsim {

Seconds collective_bound(const Collective& collective, const System& system) {
  BytesPerSecond ports = 0;  // of a chip, all dimensions together
  if (system.graph) ports = system.graph->widest_port();
  for (const FabricDimension& dimension : system.scale_up) {
    const Rank count = dimension.size == 1                             ? 0
                       : dimension.kind == FabricDimension::Kind::mesh ? dimension.size - 1
                       : dimension.kind == FabricDimension::Kind::ring ? 2
                                                                       : 1;
    ports += count * dimension.port();
  }
  const std::string& op = collective.op;
  if (op == "barrier") return 0;
  if (op == "all_to_all_v") return static_cast<double>(collective.sent_per_rank) / ports;
  // A switch that sums takes and gives everything once.
  const bool in_switches = collective.algorithm.find("nvls") != std::string::npos ||
                           collective.algorithm.find("sharp") != std::string::npos;
  const double passes = op == "all_reduce" && !in_switches ? 2 : 1;
  // Goes into each chip and unit as it is.
  const bool whole =
      op == "broadcast" || op == "reduce" || op == "send_recv" || op == "send" || op == "receive";
  const double chips = system.chips_per_unit();
  const double units = collective.ranks / chips;
  const double bytes = static_cast<double>(collective.bytes);
  const double senders = op == "all_to_all" ? chips : 1;  // of a unit, of as many bytes each
  const ScaleOut& out = system.scale_out;
  const BytesPerSecond nics =
      chips / out.chips_per_nic * out.bandwidth.value * out.efficiency.value;
  if (units > 1) ports += out.bandwidth.value * out.efficiency.value;
  const double ranks = collective.ranks;
  Seconds bound = 0;
  if (ranks > 1) bound = passes * bytes * (whole ? 1 : (ranks - 1) / ranks) / ports;
  if (units > 1)
    bound = std::max(bound, passes * senders * bytes * (whole ? 1 : (units - 1) / units) / nics);
  return bound;
}

Seconds compute_bound(const Job& job) {
  const double flops = job.model.model_flops_per_token(job.training.sequence_length) *
                       static_cast<double>(job.training.tokens_per_step());
  return flops / job.system.chips() / job.system.chip.peak.at(job.training.peak());
}

}  // namespace trnsim
