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
  /// `layout` must outlive it.
  LayerTransfers(const Layout& layout, const LayerShape& shape);

  /// Around products whose columns are split, and after those whose rows are, and the embedding.
  void before_columns(Operations& made) const;
  void after_columns(Operations& made) const;
  void after_rows(Operations& made) const;
  /// `bytes` of `copies` of each token to their experts, or back; each rank sends its own.
  void of_tokens(Operations& made, const char* name, double bytes, uint32_t copies) const;
  /// What ranks that split an expert must all see, and what each has a part of the sum of.
  void before_experts(Operations& made, double bytes) const;
  void after_experts(Operations& made, double bytes) const;
  /// Of a loss over a split vocabulary.
  void of_loss(Operations& made, double tokens) const;
  /// Adds the attention with what context parallelism exchanges for it.
  void around_attention(Operation attention, Operations& made) const;

 private:
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
