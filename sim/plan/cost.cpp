#include "plan/cost.h"

#include <algorithm>
#include <stdexcept>

#include "plan/convolutional_cost.h"
#include "plan/transformer_cost.h"

namespace trnsim {
namespace {

// Whether an operation of the layers runs again before the backward pass of its layer.
bool runs_again(const Operation& operation, Recompute recompute) {
  return recompute == Recompute::full ||
         (recompute == Recompute::selective && operation.kind == Operation::Kind::attention);
}

Operations recomputed(const Operations& forward, Recompute recompute) {
  Operations again;
  for (const Operation& operation : forward) {
    if (!runs_again(operation, recompute)) continue;
    again.push_back(operation);
    again.back().recomputation = true;
    again.back().parameters = 0;
  }
  return again;
}

}  // namespace

std::vector<PartOperations> model_operations(const Architecture& model, const Training& training) {
  std::vector<PartOperations> parts = model.convolutional
                                          ? convolutional_operations(model, training)
                                          : transformer_operations(model, training);
  for (size_t i = 1; i + 1 < parts.size(); ++i) {
    const Operations again = recomputed(parts[i].forward, training.recompute);
    parts[i].backward.insert(parts[i].backward.begin(), again.begin(), again.end());
  }
  return parts;
}

Operations optimizer_step(uint64_t parameters, const Training& training) {
  constexpr double bf16 = 2;  // bytes
  constexpr double fp32 = 4;
  // AdamW reads the gradient, the fp32 copy and both moments, and writes the three and the bf16
  // parameter; SGD has one moment.
  const double moments = training.optimizer == Optimizer::adamw ? 2 : 1;
  const double per_parameter =
      static_cast<double>(training.gradient_bytes()) + 2 * fp32 * (1 + moments) + bf16;
  return {memory_operation("optimizer", per_parameter * static_cast<double>(parameters))};
}

double recomputed_flops(const Architecture& model, const Training& training) {
  double flops = 0;
  for (const PartOperations& part : model_operations(model, training))
    for (const Operation& operation : part.backward)
      if (operation.recomputation) flops += static_cast<double>(part.repeats) * operation.flops;
  return flops;
}

Seconds duration(const Operation& operation, const Chip& chip, const std::string& precision) {
  // Attention's core and the logits stay in bf16 where the rest of the model is fp8.
  const bool bf16_only = operation.kind == Operation::Kind::attention || operation.full_precision;
  const auto peak = chip.peak.find(bf16_only ? "bf16" : precision);
  if (peak == chip.peak.end()) throw std::logic_error("the chip has no peak for this precision");
  const double efficiency = operation.kind == Operation::Kind::attention ? chip.attention_efficiency
                                                                         : chip.gemm_efficiency;
  const Seconds compute = operation.flops / (peak->second * efficiency);
  const Seconds memory = operation.bytes / (chip.hbm_bandwidth * chip.hbm_efficiency);
  return std::max(compute, memory) + chip.op_overhead;
}

}  // namespace trnsim
