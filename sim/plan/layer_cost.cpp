#include "plan/layer_cost.h"

namespace trnsim {
namespace {

constexpr Transfer::Over over_tensor = Transfer::Over::tensor;
constexpr Transfer::Over over_context = Transfer::Over::context;

void add(Operations& made, const Transfer& transfer) {
  made.push_back(transfer_operation(
      transfer.over == over_tensor ? "activations" : "keys and values", transfer));
}

}  // namespace

LayerTransfers::LayerTransfers(const Layout& layout, const LayerShape& shape)
    : layout_(layout),
      hidden_(static_cast<Bytes>(bf16_bytes * shape.tokens * shape.hidden)),
      query_(static_cast<Bytes>(bf16_bytes * shape.tokens * shape.query)),
      key_value_(static_cast<Bytes>(2 * bf16_bytes * shape.tokens * shape.key_value)) {}

// Before products whose columns are split: f of Megatron-LM (arXiv:1909.08053), whose backward
// pass sums the input's gradient; under sequence parallelism g of arXiv:2205.05198.
void LayerTransfers::before_columns(Operations& made) const {
  if (layout_.tensor == 1) return;
  if (layout_.sequence_parallel)
    add(made, {over_tensor, CollectiveOp::all_gather, CollectiveOp::reduce_scatter, hidden_});
  else
    add(made, {over_tensor, {}, CollectiveOp::all_reduce, hidden_});
}

// After them: what has been gathered is not kept, so it is gathered again for the weights'
// gradient, beside the product that makes the input's (arXiv:2205.05198, section 4.2.2).
void LayerTransfers::after_columns(Operations& made) const {
  if (layout_.tensor > 1 && layout_.sequence_parallel)
    add(made, {over_tensor, {}, CollectiveOp::all_gather, hidden_, 1});
}

// After products whose rows are split, and the embedding.
void LayerTransfers::after_rows(Operations& made) const {
  if (layout_.tensor == 1) return;
  if (layout_.sequence_parallel)
    add(made, {over_tensor, CollectiveOp::reduce_scatter, CollectiveOp::all_gather, hidden_});
  else
    add(made, {over_tensor, CollectiveOp::all_reduce, {}, hidden_});
}

void LayerTransfers::of_tokens(Operations& made, const char* name, double bytes,
                               uint32_t copies) const {
  if (layout_.expert == 1) return;
  // Beside the other half of the batch, whose turn the rest of the layer then is.
  constexpr uint32_t the_layer = 8;
  made.push_back(transfer_operation(
      name, {Transfer::Over::experts, CollectiveOp::all_to_all, CollectiveOp::all_to_all,
             static_cast<Bytes>(bytes), layout_.overlap_expert ? the_layer : 0, copies}));
}

void LayerTransfers::before_experts(Operations& made, double bytes) const {
  if (layout_.expert_split() > 1)
    add(made, {over_tensor, CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
               static_cast<Bytes>(bytes)});
}

void LayerTransfers::after_experts(Operations& made, double bytes) const {
  if (layout_.expert_split() > 1)
    add(made, {over_tensor, CollectiveOp::reduce_scatter, CollectiveOp::all_gather,
               static_cast<Bytes>(bytes)});
}

// Of a loss over a split vocabulary: the largest logit, the target's, and the sum of exponentials
// of each token (Megatron-LM, vocab_parallel_cross_entropy).
void LayerTransfers::of_loss(Operations& made, double tokens) const {
  if (layout_.tensor == 1) return;
  for (int i = 0; i < 3; ++i)
    add(made, {over_tensor, CollectiveOp::all_reduce, {}, static_cast<Bytes>(fp32_bytes * tokens)});
}

void LayerTransfers::around_attention(Operation attention, Operations& made) const {
  if (layout_.context == 1) {
    made.push_back(attention);
    return;
  }
  switch (layout_.context_method) {
    case ContextMethod::ring:
      attention.blocks = static_cast<uint32_t>(layout_.context);
      attention.block_bytes = key_value_;
      attention.sequence /= static_cast<double>(layout_.context);  // of one block
      made.push_back(attention);
      return;
    case ContextMethod::all_gather: {
      const Bytes all = key_value_ * layout_.context;
      add(made, {over_context, CollectiveOp::all_gather, CollectiveOp::reduce_scatter, all});
      made.push_back(attention);
      add(made, {over_context, {}, CollectiveOp::all_gather, all});
      return;
    }
    case ContextMethod::ulysses:
      add(made,
          {over_context, CollectiveOp::all_to_all, CollectiveOp::all_to_all, query_ + key_value_});
      made.push_back(attention);
      add(made, {over_context, CollectiveOp::all_to_all, CollectiveOp::all_to_all, query_});
  }
}

Operation cast_product(const char* name, double rows, double inner, double columns, bool bias,
                       bool eager) {
  Operation made = matrix_product(name, rows, inner, columns);
  made.casts = true;
  if (bias) made.parameters += static_cast<uint64_t>(columns);
  made.bias = bias && eager;  // what is fused sums it up beside the product
  return made;
}

// Eager, a gate is an activation (2 + 2 bytes an element) and a product (4 + 2); backward two
// products and the activation's gradient (6 each).
Operation mlp_activation(const Architecture& model, const Training& training, double elements) {
  Operation made =
      memory_operation("activation", bf16_bytes * (model.gated_mlp ? 3 : 2) * elements);
  if (training.execution != Execution::eager || !model.gated_mlp) return made;
  made.bytes = 10 * elements;
  made.backward_bytes = 18 * elements;
  made.kernels = 2;
  return made;
}

}  // namespace trnsim
