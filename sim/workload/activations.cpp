#include "workload/activations.h"

#include <algorithm>

namespace trnsim {
namespace {

constexpr Bytes bf16 = 2;
constexpr Bytes fp32 = 4;

Bytes tokens_of(const Training& training) {
  return training.micro_batch * training.sequence_length;
}

}  // namespace

Bytes block_activation_bytes(const ResidualBlock& block, const Training& training) {
  Bytes elements = block.convolutions.front().inputs();
  if (training.recompute != Recompute::full) {
    for (const Convolution& convolution : block.convolutions) elements += 2 * convolution.outputs();
    elements -= block.convolutions.back().outputs();  // the next block's input
    if (block.projection) elements += block.projection->outputs();
  }
  return tokens_of(training) * bf16 * elements;
}

Bytes layer_activation_bytes(const Architecture& model, const Training& training,
                             const Layout& layout) {
  if (model.convolutional) {
    Bytes most = 0;
    for (const ResidualBlock& block : model.convolutional->blocks)
      most = std::max(most, block_activation_bytes(block, training));
    return most;
  }
  const Bytes tokens = tokens_of(training) / layout.context;
  const Bytes hidden = tokens * bf16 * model.hidden / layout.sequence_shards();
  if (training.recompute == Recompute::full) return hidden;  // the layer's input alone
  const Bytes query = bf16 * model.heads * model.head_dim;
  const Bytes key_value = 2 * bf16 * model.kv_heads * model.head_dim;
  const Bytes ffn = bf16 * model.ffn * (model.gated_mlp ? 3 : 2);  // gate, up and their product
  // Inputs of both norms, of QKV and of the MLP; Q, K and V; the attention's output, which the
  // projection needs; its fp32 row sums, which selective recomputation makes again.
  Bytes per_token = 2 * query + key_value + ffn;
  Bytes inputs = 4 * hidden;
  if (model.adapters) {
    // A frozen product needs its input for no gradient.
    const Adapters& of = *model.adapters;
    if (!of.qkv) inputs -= hidden;
    if (!of.mlp_up) inputs -= hidden;
    if (!of.mlp_down) per_token -= bf16 * model.ffn;
  }
  if (model.qk_norm) per_token += query + key_value / 2;  // Q and K before their norms
  if (training.recompute == Recompute::none) per_token += fp32 * model.heads;
  return inputs + tokens * per_token;
}

Bytes layers_activation_bytes(const Architecture& model, const Training& training,
                              const Layout& layout, uint64_t layers) {
  const uint64_t recomputed =
      training.recompute == Recompute::none ? 0 : std::min(layers, training.recompute_layers);
  return recomputed * layer_activation_bytes(model, training, layout) +
         (layers - recomputed) * layer_activation_bytes(model, training.keeping_all(), layout);
}

Bytes embedding_activation_bytes(const Architecture& model, const Training& training,
                                 const Layout& layout) {
  const Bytes tokens = tokens_of(training) / layout.context;
  if (model.convolutional) {
    // The image, and what the normalisation and the pooling read.
    const Convolution& stem = model.convolutional->stem;
    return tokens * bf16 * (stem.inputs() + 2 * stem.outputs());
  }
  return model.embedding_norm ? tokens * bf16 * model.hidden / layout.sequence_shards() : 0;
}

Bytes logits_bytes(const Architecture& model, const Training& training, const Layout& layout) {
  const Bytes tokens = tokens_of(training) / layout.context;
  if (model.convolutional) {
    const ConvolutionalNetwork& network = *model.convolutional;
    return tokens * (network.classes * (bf16 + fp32) + bf16 * network.last().out);
  }
  Bytes per_token = model.vocabulary * (training.loss == Loss::fused ? 2 * bf16 : bf16 + fp32);
  // Inputs of the square layer's activation, of its norm and of the logits.
  if (model.masked_lm_head) per_token += 3 * bf16 * model.hidden;
  return tokens * per_token;
}

Bytes activation_bytes(const Architecture& model, const Training& training, const Layout& layout) {
  Bytes layers = 0;
  if (model.convolutional) {
    for (const ResidualBlock& block : model.convolutional->blocks)
      layers += block.repeats * block_activation_bytes(block, training);
  } else {
    layers = layers_activation_bytes(model, training, layout, model.layers);
  }
  return embedding_activation_bytes(model, training, layout) + layers;
}

}  // namespace trnsim
