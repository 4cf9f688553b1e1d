#pragma once

#include <vector>

#include "plan/operation.h"
#include "workload/architecture.h"
#include "workload/recipe.h"

namespace trnsim {

/// Embedding, layers (one entry) and head of a transformer, nothing recomputed. Causal attention
/// needs half of its matrix. Biases move no bytes of their own; their parameters are those of the
/// product that they follow.
std::vector<PartOperations> transformer_operations(const Architecture& model,
                                                   const Training& training, const Layout& layout);

}  // namespace trnsim
