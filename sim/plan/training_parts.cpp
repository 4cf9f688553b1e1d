#include "plan/training_parts.h"

#include <algorithm>

#include "workload/activations.h"

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
      made.push_back({duration(op, job.system.chip, job.training.precision),
                      name_index(plan, op.name), op.parameters, op.recomputation});
    return made;
  };
  const Architecture& model = job.model;
  const Training& training = job.training;
  ModelParts parts;
  parts.count = model.layers + 2;
  parts.embedding = {"embedding", timed(embedding_forward(model, training)),
                     timed(embedding_backward(model, training)), model.embedding_parameters(), 0};
  parts.layer = {"layer", timed(layer_forward(model, training)),
                 timed(layer_backward(model, training)), model.layer_parameters(),
                 layer_activation_bytes(model, training)};
  parts.head = {"head", timed(head_forward(model, training)), timed(head_backward(model, training)),
                model.head_parameters(), logits_bytes(model, training)};
  parts.optimizer = timed(optimizer_step(parameters_held, training));
  return parts;
}

}  // namespace trnsim
