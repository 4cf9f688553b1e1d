#include "workload/activations.h"

namespace trnsim {
namespace {

constexpr Bytes bf16 = 2;
constexpr Bytes fp32 = 4;

}  // namespace

Bytes layer_activation_bytes(const Architecture& model, const Training& training) {
  const Bytes tokens = training.micro_batch * training.sequence_length;
  const Bytes hidden = bf16 * model.hidden;
  if (training.recompute == Recompute::full) return tokens * hidden;  // the layer's input alone
  const Bytes query = bf16 * model.heads * model.head_dim;
  const Bytes key_value = 2 * bf16 * model.kv_heads * model.head_dim;
  const Bytes ffn = bf16 * model.ffn * (model.gated_mlp ? 3 : 2);  // gate, up and their product
  // Inputs of both norms, of QKV and of the MLP; Q, K and V; the attention's output, which the
  // projection needs; its fp32 row sums, which selective recomputation makes again.
  Bytes per_token = 4 * hidden + 2 * query + key_value + ffn;
  if (training.recompute == Recompute::none) per_token += fp32 * model.heads;
  return tokens * per_token;
}

Bytes logits_bytes(const Architecture& model, const Training& training) {
  const Bytes tokens = training.micro_batch * training.sequence_length;
  return tokens * model.vocabulary * (bf16 + fp32);
}

}  // namespace trnsim
