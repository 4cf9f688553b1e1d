#pragma once

#include "plan/operation.h"
#include "workload/architecture.h"
#include "workload/recipe.h"

namespace trnsim {

constexpr double bf16_bytes = 2;
constexpr double fp32_bytes = 4;

/// `tokens` are those of one rank; of these norms have only `norm_tokens` under sequence
/// parallelism. Each still attends to a whole `sequence`.
struct LayerShape {
  double sequences, tokens, norm_tokens, hidden, query, key_value, value, ffn, vocabulary, sequence;

  LayerShape(const Architecture& model, const Training& training, const Layout& layout)
      : sequences(static_cast<double>(training.micro_batch)),
        tokens(static_cast<double>(training.micro_batch * training.sequence_length) /
               static_cast<double>(layout.context)),
        norm_tokens(tokens / static_cast<double>(layout.sequence_shards())),
        hidden(static_cast<double>(model.hidden)),
        query(static_cast<double>(model.heads * model.head_dim)),
        key_value(static_cast<double>(model.kv_heads * model.head_dim)),
        value(static_cast<double>(model.value_width())),
        ffn(static_cast<double>(model.ffn)),
        vocabulary(static_cast<double>(model.vocabulary)),
        sequence(static_cast<double>(training.sequence_length)) {}
};

/// What tensor, context and expert parallelism put between the operations of a layer.
class LayerTransfers {
 public:
  LayerTransfers(const Layout& layout, const LayerShape& shape)
      : layout_(layout),
        hidden_(static_cast<Bytes>(bf16_bytes * shape.tokens * shape.hidden)),
        query_(static_cast<Bytes>(bf16_bytes * shape.tokens * shape.query)),
        key_value_(static_cast<Bytes>(2 * bf16_bytes * shape.tokens * shape.key_value)) {}

  // Before products whose columns are split: f of Megatron-LM (arXiv:1909.08053), whose backward
  // pass sums the input's gradient; under sequence parallelism g of arXiv:2205.05198.
  void before_columns(Operations& made) const {
    if (layout_.tensor == 1) return;
    if (layout_.sequence_parallel)
      add(made, {over_tensor, CollectiveOp::all_gather, CollectiveOp::reduce_scatter, hidden_});
    else
      add(made, {over_tensor, {}, CollectiveOp::all_reduce, hidden_});
  }
  // After them: what has been gathered is not kept, so it is gathered again for the weights'
  // gradient, beside the product that makes the input's (arXiv:2205.05198, section 4.2.2).
  void after_columns(Operations& made) const {
    if (layout_.tensor > 1 && layout_.sequence_parallel)
      add(made, {over_tensor, {}, CollectiveOp::all_gather, hidden_, 1});
  }
  // After products whose rows are split, and the embedding.
  void after_rows(Operations& made) const {
    if (layout_.tensor == 1) return;
    if (layout_.sequence_parallel)
      add(made, {over_tensor, CollectiveOp::reduce_scatter, CollectiveOp::all_gather, hidden_});
    else
      add(made, {over_tensor, CollectiveOp::all_reduce, {}, hidden_});
  }
  // Tokens to their experts and back; each rank sends its own.
  void of_tokens(Operations& made, const char* name, double bytes, uint32_t copies) const {
    if (layout_.expert == 1) return;
    // Beside the other half of the batch, whose turn the rest of the layer then is.
    constexpr uint32_t the_layer = 8;
    made.push_back(transfer_operation(
        name, {Transfer::Over::experts, CollectiveOp::all_to_all, CollectiveOp::all_to_all,
               static_cast<Bytes>(bytes), layout_.overlap_expert ? the_layer : 0, copies}));
  }
  // What ranks that split an expert must all see, and what each has a part of the sum of.
  void before_experts(Operations& made, double bytes) const {
    if (layout_.expert_split() > 1)
      add(made, {over_tensor, CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
                 static_cast<Bytes>(bytes)});
  }
  void after_experts(Operations& made, double bytes) const {
    if (layout_.expert_split() > 1)
      add(made, {over_tensor, CollectiveOp::reduce_scatter, CollectiveOp::all_gather,
                 static_cast<Bytes>(bytes)});
  }
  // Of a loss over a split vocabulary: the largest logit, the target's, and the sum of exponentials
  // of each token (Megatron-LM, vocab_parallel_cross_entropy).
  void of_loss(Operations& made, double tokens) const {
    if (layout_.tensor == 1) return;
    for (int i = 0; i < 3; ++i)
      add(made,
          {over_tensor, CollectiveOp::all_reduce, {}, static_cast<Bytes>(fp32_bytes * tokens)});
  }

  void around_attention(Operation attention, Operations& made) const {
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
        add(made, {over_context, CollectiveOp::all_to_all, CollectiveOp::all_to_all,
                   query_ + key_value_});
        made.push_back(attention);
        add(made, {over_context, CollectiveOp::all_to_all, CollectiveOp::all_to_all, query_});
    }
  }

 private:
  static constexpr Transfer::Over over_tensor = Transfer::Over::tensor;
  static constexpr Transfer::Over over_context = Transfer::Over::context;

  static void add(Operations& made, const Transfer& transfer) {
    made.push_back(transfer_operation(
        transfer.over == over_tensor ? "activations" : "keys and values", transfer));
  }

  const Layout& layout_;
  Bytes hidden_;     // of the layer's input, of all of the rank's tokens
  Bytes query_;      // of its queries
  Bytes key_value_;  // of its keys and values
};

/// A product whose inputs are cast where it runs in fp8.
Operation cast_product(const char* name, double rows, double inner, double columns, bool bias,
                       bool eager = false);
/// The MLP's activation of so many elements of its width.
Operation mlp_activation(const Architecture& model, const Training& training, double elements);

/// The MLP of a layer with experts, after its norm: what every token meets, then router, tokens to
/// their experts, what these compute, and back.
void add_mixture(const Architecture& model, const Training& training, const Layout& layout,
                 const LayerShape& shape, const LayerTransfers& transfers, Operations& made);

}  // namespace trnsim
