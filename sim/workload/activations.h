#pragma once

#include "workload/architecture.h"
#include "workload/recipe.h"

namespace trnsim {

/// Bytes of activations that one layer keeps for its backward pass, for one microbatch.
Bytes layer_activation_bytes(const Architecture& model, const Training& training);
/// Bytes of the logits and their gradient, for one microbatch.
Bytes logits_bytes(const Architecture& model, const Training& training);

}  // namespace trnsim
