#include "plan/training_parts.h"

#include <algorithm>

namespace trnsim {

uint16_t name_index(Plan& plan, const std::string& name) {
  const auto found = std::find(plan.names.begin(), plan.names.end(), name);
  const auto index = static_cast<uint16_t>(found - plan.names.begin());
  if (found == plan.names.end()) plan.names.push_back(name);
  return index;
}

ModelParts time_parts(const Job& job, uint64_t parameters_held, Plan& plan) {
  const auto timed = [&](const std::vector<Operation>& operations) {
    std::vector<TimedOperation> made;
    for (const Operation& op : operations)
      made.push_back({duration(op, job.system.chip, job.training), name_index(plan, op.name),
                      op.parameters, op.recomputation});
    return made;
  };
  ModelParts parts;
  for (const PartOperations& part : model_operations(job.model, job.training)) {
    parts.sequence.insert(parts.sequence.end(), part.repeats,
                          static_cast<uint32_t>(parts.kinds.size()));
    parts.kinds.push_back(
        {part.name, timed(part.forward), timed(part.backward), part.parameters, part.kept});
  }
  parts.count = parts.sequence.size();
  parts.optimizer = timed(optimizer_step(parameters_held, job.training));
  return parts;
}

}  // namespace trnsim
