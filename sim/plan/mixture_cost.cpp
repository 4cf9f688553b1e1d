#include "plan/layer_cost.h"

namespace trnsim {
namespace {

// What each token meets beside its routed experts.
void add_shared_expert(const Architecture& model, const Training& training, const LayerShape& shape,
                       const LayerTransfers& transfers, Operations& made) {
  const auto ffn = static_cast<double>(model.experts->shared_ffn);
  if (ffn == 0) return;
  const double halves = model.gated_mlp ? 2 : 1;
  transfers.before_columns(made);
  made.push_back(cast_product("shared expert up", shape.tokens, shape.hidden, halves * ffn, false));
  transfers.after_columns(made);
  made.push_back(mlp_activation(model, training, shape.tokens * ffn));
  made.push_back(cast_product("shared expert down", shape.tokens, ffn, shape.hidden, false));
  transfers.after_rows(made);
}

// Router, tokens to their experts, what these compute, and back. Tokens are copied for each expert
// that they meet, put in order of ranks, exchanged, and put in order of experts; and back,
// weighted.
void add_experts(const Architecture& model, const Training& training, const Layout& layout,
                 const LayerShape& shape, const LayerTransfers& transfers, Operations& made) {
  const Experts& of = *model.experts;
  const auto count = static_cast<double>(of.count);
  const double halves = model.gated_mlp ? 2 : 1;
  const double own = shape.norm_tokens;
  const double sent = own * static_cast<double>(of.per_token);
  const double bytes = bf16_bytes * sent * shape.hidden * training.expert_imbalance;
  const double arriving =
      sent * static_cast<double>(layout.expert_split()) * training.expert_imbalance;
  const auto held = static_cast<double>(of.held);
  const auto ffn = static_cast<double>(of.ffn);
  const bool biases = model.biases == Biases::all;
  const auto of_experts = [&](const char* name, double inner, double columns) {
    Operation product = grouped_product(name, held, arriving / held, inner, columns);
    product.casts = product.routed = true;
    if (biases) product.parameters += of.held * static_cast<uint64_t>(columns);
    product.bias = biases;
    made.push_back(product);
    // No library of grouped products adds biases: a kernel of its own reads and writes.
    if (biases)
      made.push_back(memory_operation("expert bias", 2 * bf16_bytes * arriving * columns));
  };
  const auto pass_over = [&](const char* name, double elements) {
    Operation pass = memory_operation(name, bf16_bytes * elements);
    pass.of_tokens = true;
    made.push_back(pass);
  };
  const auto copies = static_cast<uint32_t>(of.per_token);
  Operation router = matrix_product("router", own, shape.hidden, count);
  router.full_precision = router.routes = true;
  if (of.router_bias) router.parameters += of.count;
  made.push_back(router);
  // Scores in fp32 are read, the largest chosen and written with their place.
  Operation choice = memory_operation("choice of experts", 2 * fp32_bytes * own * count);
  choice.kernels = 4;
  made.push_back(choice);
  pass_over("permutation", (own + sent) * shape.hidden);
  transfers.of_tokens(made, "tokens", bytes, copies);
  transfers.before_experts(made, bytes * static_cast<double>(layout.expert_split()));
  pass_over("order of experts", 2 * arriving * shape.hidden);
  of_experts("experts up", shape.hidden, halves * ffn);
  made.push_back(mlp_activation(model, training, arriving * ffn));
  of_experts("experts down", ffn, shape.hidden);
  pass_over("order of ranks", 2 * arriving * shape.hidden);
  transfers.after_experts(made, bytes * static_cast<double>(layout.expert_split()));
  transfers.of_tokens(made, "results of experts", bytes, copies);
  pass_over("weighted sum of experts", (own + sent) * shape.hidden);
}

}  // namespace

void add_mixture(const Architecture& model, const Training& training, const Layout& layout,
                 const LayerShape& shape, const LayerTransfers& transfers, Operations& made) {
  add_shared_expert(model, training, shape, transfers, made);
  add_experts(model, training, layout, shape, transfers, made);
}

}  // namespace trnsim
