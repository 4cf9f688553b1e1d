#pragma once

#include <vector>

#include "plan/training_parts.h"

namespace trnsim {

/// Which parameters: those that all ranks of data parallelism hold, or those of routed experts that
/// other ranks do.
enum class Held { by_replicas, by_expert_replicas };

/// Gradients that are reduced together: complete after this operation of the backward pass of this
/// part.
struct GradientBucket {
  size_t part = 0;
  size_t operation = 0;
  int32_t number = 0;
  uint64_t parameters = 0;
};

/// Fills buckets of `size` parameters (`first`, if above 0, the first one) in the order in which
/// the backward pass completes gradients; a bucket closes with the operation that fills it, so it
/// may be larger. Filled by order of registration (not `dynamic`) it also holds norms of the layer
/// in which it closes, whose gradients are complete only when the layer's backward pass is.
std::vector<GradientBucket> gradient_buckets(const ModelParts& parts, Held held, uint64_t size,
                                             uint64_t first, bool dynamic);

/// Parameters that are gathered together, in the order of the forward pass: complete for this part.
struct ParameterBucket {
  size_t part = 0;  // the last whose parameters it holds
  uint64_t parameters = 0;
};

/// Fills buckets of at least `size` parameters with whole parts, first to last.
std::vector<ParameterBucket> parameter_buckets(const ModelParts& parts, Held held, uint64_t size);

}  // namespace trnsim
