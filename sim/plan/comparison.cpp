#include "plan/comparison.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "plan/groups.h"
#include "workload/stages.h"

namespace trnsim {

const std::vector<std::string>& comparison_bases() {
  static const std::vector<std::string> bases = {"chips", "flops", "cost", "power", "time"};
  return bases;
}

double amount(const Job& job, const std::string& basis) {
  const double chips = job.system.chips();
  const Power& power = job.system.power;
  if (basis == "chips") return chips;
  if (basis == "flops") return chips * job.system.chip.peak.at(job.training.peak());
  if (basis == "cost") return chips * job.system.prices.at(job.purchase);
  if (basis == "power") return chips * (power.chip + power.host) * power.pue;
  throw std::logic_error("no amount of " + basis);
}

bool set_units(Job& job, Rank units) {
  if (job.system.graph && units != job.system.units) return false;
  Job changed = job;
  changed.system.units = units;
  Layout& layout = changed.layout;
  follow_chips(layout, changed.system.chips());
  if (layout.data * layout.model_ranks() != changed.system.chips()) return false;
  if (changed.training.global_batch % (changed.training.micro_batch * layout.data) != 0)
    return false;
  if (misfit(changed.model, changed.training, layout)) return false;
  if (layout.zero_stage > 0 && layout.shard != layout.replicas()) {
    if (layout.replicas() % layout.shard != 0) return false;
    try {
      layout_groups(changed.system, layout);
    } catch (const std::invalid_argument&) {
      return false;
    }
  }
  job = std::move(changed);
  return true;
}

Rank units_at(const Job& own, const Job& job, const std::string& basis) {
  Job one = job;
  one.system.units = 1;
  // A hair more than equal is equal: prices and peaks are products of decimal numbers.
  const double most = std::floor(amount(own, basis) / amount(one, basis) * (1 + 1e-12));
  const double sequences = static_cast<double>(job.training.global_batch);
  for (auto units = static_cast<Rank>(std::clamp(most, 1.0, sequences)); units > 1; --units)
    if (Job sized = job; set_units(sized, units)) return units;
  return 1;
}

}  // namespace trnsim
