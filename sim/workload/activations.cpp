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
  // The input of a product is kept as it is multiplied; a frozen product needs none, its adapter
  // one in bf16.
  const Bytes as_input = training.precision == "bf16" ? bf16 : 1;
  const auto input = [&](Bytes width, bool adapted) {
    return width * (model.adapters ? (adapted ? bf16 : 0) : as_input);
  };
  const Adapters adapted = model.adapters.value_or(Adapters{});
  const Bytes query = model.heads * model.head_dim;
  const Bytes key_value =
      model.kv_heads * model.head_dim + model.value_width() * model.kv_heads / model.heads;
  // Inputs of both norms, of QKV and of the MLP.
  const Bytes of_hidden = tokens * model.hidden / layout.sequence_shards();
  const Bytes inputs =
      2 * hidden + input(of_hidden, adapted.qkv) + input(of_hidden, adapted.mlp_up);
  // Q, K and V, and the attention's output; the projection takes it as it is, or cast.
  const Bytes output = model.value_width();
  Bytes per_token = bf16 * (query + key_value + output);
  if (model.latent)  // latents and what their norms made of them
    per_token += (bf16 + as_input) * (model.latent->query_rank + model.latent->key_value_rank);
  if (as_input != bf16) per_token += input(output, false);
  // What the activation reads (gate and up, or up) and what it gives to the last product.
  const auto of_mlp = [&](uint64_t ffn) {
    return bf16 * (model.gated_mlp ? 2 : 1) * ffn + input(ffn, adapted.mlp_down);
  };
  per_token += of_mlp(model.experts ? model.experts->shared_ffn : model.ffn);
  if (model.qk_norm) per_token += bf16 * (query + key_value / 2);  // Q and K before their norms
  if (training.recompute == Recompute::none) {
    // The row sums of fused attention; or of each score softmax, its dropped-out copy and the mask
    // (5 bytes: arXiv:2205.05198, section 4.1).
    const bool unfused = training.attention_kernel == "unfused";
    per_token += model.heads * (unfused ? 5 * training.sequence_length : fp32);
  }
  Bytes of_experts = 0;
  if (model.experts) {
    // Each token that arrives: as an input of its expert, what that keeps, and its result, which
    // the gradient of the router's weight needs.
    const Experts& experts = *model.experts;
    const auto arriving =
        static_cast<Bytes>(static_cast<double>(tokens / layout.sequence_shards() *
                                               layout.expert_split() * experts.per_token) *
                           training.expert_imbalance);
    of_experts =
        arriving * (input(model.hidden, false) + of_mlp(experts.ffn) + bf16 * model.hidden);
  }
  return inputs + tokens * per_token + of_experts;
}

Bytes layers_activation_bytes(const Architecture& model, const Training& training,
                              const Layout& layout, uint64_t layers, uint64_t dense) {
  const uint64_t recomputed =
      training.recompute == Recompute::none ? 0 : std::min(layers, training.recompute_layers);
  const auto of = [&](const Architecture& kind, uint64_t all, uint64_t again) {
    return again * layer_activation_bytes(kind, training, layout) +
           (all - again) * layer_activation_bytes(kind, training.keeping_all(), layout);
  };
  if (!model.experts) return of(model, layers, recomputed);
  const uint64_t dense_again = std::min(dense, recomputed);
  return of(model.dense(), dense, dense_again) +
         of(model, layers - dense, recomputed - dense_again);
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
    layers = layers_activation_bytes(model, training, layout, model.layers, model.dense_layers());
  }
  return embedding_activation_bytes(model, training, layout) + layers;
}

}  // namespace trnsim
