#pragma once

#include "workload/architecture.h"
#include "workload/recipe.h"

namespace trnsim {

/// Bytes of activations that one layer keeps for its backward pass, for one microbatch. Layers
/// differ only in a convolutional network; there this is the block that keeps most. `model` is what
/// the rank holds of it (stages.h); of a sequence it has its part of the layout's context, and
/// under sequence parallelism of that its part of what norms read and write (Korthikanti et al.,
/// arXiv:2205.05198, table 2). Where products run in fp8 or less, their inputs are kept in 1 byte
/// an element (NVIDIA Transformer Engine keeps what it has cast).
Bytes layer_activation_bytes(const Architecture& model, const Training& training,
                             const Layout& layout = {});
/// What so many layers in a row keep, of which the first may be recomputed, and the first `dense`
/// have no experts.
Bytes layers_activation_bytes(const Architecture& model, const Training& training,
                              const Layout& layout, uint64_t layers, uint64_t dense);
/// The same of one residual block: its input, what each convolution gives to its normalisation, and
/// what each but the last gives to the next. Selective recomputation has nothing to make again.
Bytes block_activation_bytes(const ResidualBlock& block, const Training& training);
/// The same of the embedding, or of the stem.
Bytes embedding_activation_bytes(const Architecture& model, const Training& training,
                                 const Layout& layout = {});
/// Bytes of the logits and their gradient, and of what else the head keeps, for one microbatch.
Bytes logits_bytes(const Architecture& model, const Training& training, const Layout& layout = {});
/// Bytes of activations that embedding and layers keep for one microbatch: all but logits_bytes().
Bytes activation_bytes(const Architecture& model, const Training& training,
                       const Layout& layout = {});

}  // namespace trnsim
