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

std::vector<Bucket> fill_buckets(const ModelParts& parts, Bytes size, Bytes bytes_per_parameter) {
  std::vector<Bucket> buckets;
  Bytes filled = 0;
  const auto close = [&](size_t part, size_t operation) {
    buckets.push_back({part, operation, static_cast<int32_t>(buckets.size()), filled});
    filled = 0;
  };
  for (size_t part = parts.count; part-- > 0;) {
    const std::vector<TimedOperation>& operations = parts.at(part).backward;
    for (size_t i = 0; i < operations.size(); ++i) {
      filled += operations[i].parameters * bytes_per_parameter;
      if (filled >= size) close(part, i);
    }
  }
  if (filled > 0) close(0, parts.embedding.backward.size() - 1);
  return buckets;
}

}  // namespace trnsim
