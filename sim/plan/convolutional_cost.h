#pragma once

#include <vector>

#include "plan/operation.h"
#include "workload/architecture.h"
#include "workload/recipe.h"

namespace trnsim {

/// Stem, residual blocks (an entry for each kind, in their order) and head of a convolutional
/// network, nothing recomputed.
///
/// A convolution is a matrix product of `outputs of a map` rows, kernel^2 in, out, which reads its
/// input once: its FLOPs are those of the product, its bytes those of the maps and the weights.
/// Batch normalisation reads its input twice, as its statistics are of the whole microbatch, and
/// applies ReLU as it writes; the last one of a block also reads and adds the shortcut.
std::vector<PartOperations> convolutional_operations(const Architecture& model,
                                                     const Training& training);

}  // namespace trnsim
