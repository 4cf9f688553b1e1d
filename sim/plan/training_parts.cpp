#include "plan/training_parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "plan/groups.h"
#include "plan/overlap.h"
#include "workload/stages.h"

namespace trnsim {
namespace {

// Where each part of the whole model stands: its entry of model_operations(), first to last.
std::vector<uint32_t> entries_of(const std::vector<PartOperations>& parts) {
  std::vector<uint32_t> entries;
  for (uint32_t entry = 0; entry < parts.size(); ++entry)
    entries.insert(entries.end(), parts[entry].repeats, entry);
  return entries;
}

}  // namespace

uint16_t name_index(Plan& plan, const std::string& name) {
  const auto found = std::find(plan.names.begin(), plan.names.end(), name);
  const auto index = static_cast<uint16_t>(found - plan.names.begin());
  if (found == plan.names.end()) plan.names.push_back(name);
  return index;
}

namespace {

// Tokens that cross the network once for each unit with experts of theirs, and are copied there. Of
// N units k experts, each anywhere, are on N (1 - (1 - 1/N)^k).
void add_deduplicated(const Operation& op, double units, std::vector<TimedOperation>& made) {
  TimedOperation inside{.what = op.name, .transfer = op.transfer};
  inside.transfer->over = Transfer::Over::experts_inside;
  TimedOperation across{.what = op.name, .transfer = op.transfer};
  across.transfer->over = Transfer::Over::experts_across;
  const double copies = op.transfer.copies;
  across.transfer->bytes = static_cast<Bytes>(static_cast<double>(op.transfer.bytes) / copies *
                                              units * (1 - std::pow(1 - 1 / units, copies)));
  made.push_back(across);
  made.push_back(inside);
}

// Over how many units the ranks of an expert group lie whose tokens are deduplicated; else 1.
double units_of_experts(const Job& job) {
  if (!job.layout.deduplicates_tokens) return 1;
  double units = 1;
  for (const Axis& axis :
       inside_and_across(job.system, layout_groups(job.system, job.layout).experts).second)
    units *= axis.size;
  return units;
}

}  // namespace

std::vector<TimedOperation> timed(Operations operations, const Job& job, Plan& plan) {
  operations = passed_round(operations);
  if (job.layout.overlap_tensor && job.layout.tensor > 1)
    operations = in_pieces(operations, static_cast<uint32_t>(job.layout.tensor));
  // All wait for the slowest chip, in each collective anew.
  const double slowest = slowest_of(job.system.chips(), job.system.chip.speed_spread);
  const double units = units_of_experts(job);
  std::vector<TimedOperation> made;
  for (const Operation& op : operations) {
    if (op.kind == Operation::Kind::transfer) {
      if (!op.transfer.op) continue;
      if (op.transfer.over == Transfer::Over::experts && units > 1)
        add_deduplicated(op, units, made);
      else
        made.push_back({.what = op.name, .transfer = op.transfer});
      continue;
    }
    made.push_back({slowest * duration(op, job.system.chip, job.training),
                    name_index(plan, op.name), op.recomputation});
    if (op.parameters == 0) continue;
    const bool apart = op.routed && job.layout.splits_experts();
    (apart ? made.back().routed : made.back().parameters) = {op.parameters};
  }
  return made;
}

ModelParts time_parts(const Job& job, uint64_t stage, uint64_t parameters_held, Plan& plan) {
  const std::vector<PartOperations> all = model_operations(job.model, job.training, job.layout);
  const std::vector<uint32_t> entries = entries_of(all);
  std::map<std::pair<uint32_t, bool>, uint32_t> kind_of;  // an entry, and whether it runs again
  ModelParts parts;
  const auto add = [&](size_t index, bool recomputed) {
    const uint32_t entry = entries[index];
    const auto [kind, is_new] =
        kind_of.try_emplace({entry, recomputed}, static_cast<uint32_t>(parts.kinds.size()));
    if (is_new) {
      const PartOperations& part = all[entry];
      Operations backward = part.backward;
      if (recomputed) backward.insert(backward.begin(), part.again.begin(), part.again.end());
      parts.kinds.push_back({part.name, timed(part.forward, job, plan),
                             timed(std::move(backward), job, plan), part.parameters, part.trained,
                             job.layout.splits_experts() ? part.routed : 0,
                             recomputed ? part.kept_to_recompute : part.kept, recomputed, entry});
    }
    const bool is_layer = index > 0 && index + 1 < entries.size();
    parts.sequence.push_back(
        {kind->second, is_layer ? static_cast<int32_t>(index - 1) : Label::none});
  };
  for (uint64_t chunk = 0; chunk < job.layout.virtual_stages; ++chunk) {
    const Chunk of = chunk_of(job.model, job.layout, stage, chunk);
    parts.chunks.push_back(parts.sequence.size());
    if (of.embedding) add(0, false);
    for (uint64_t layer = 0; layer < of.layers; ++layer)
      add(1 + of.first_layer + layer, job.training.recomputes(layer));
    if (of.head) add(entries.size() - 1, false);
  }
  parts.chunks.push_back(parts.sequence.size());
  parts.count = parts.sequence.size();
  parts.optimizer = timed(optimizer_step(parameters_held, job.training), job, plan);
  if (job.training.software)
    parts.optimizer.push_back(
        {job.training.software->step_overhead, name_index(plan, "waiting for the host")});
  return parts;
}

}  // namespace trnsim
