#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json_reader.h"
#include "base/units.h"
#include "workload/convolutional.h"

namespace trnsim {

enum class Attention { causal, bidirectional };
/// How a transformer knows where a token stands. Only `learned` has parameters.
enum class Positions { rotary, learned, alibi, none };
/// Which linear layers of a transformer layer add a bias.
enum class Biases { none, qkv, all };
/// `rms` has a weight for each element, `layer` a weight and a bias.
enum class Norm { rms, layer };

/// Low-rank adapters beside frozen layers (LoRA, arXiv:2106.09685): each product that has one adds
/// a product down to `rank` columns and one up again, and these alone are trained.
struct Adapters {
  uint64_t rank = 1;
  bool qkv = false;
  bool attention_output = false;
  bool mlp_up = false;
  bool mlp_down = false;
};

/// A mixture of experts in place of a layer's MLP: a router sends each token to `per_token` of
/// `count` experts, beside what every token meets.
struct Experts {
  uint64_t count = 1;
  uint64_t held = 1;  // of them by one rank; all of a whole model
  uint64_t per_token = 1;
  uint64_t ffn = 1;           // of each
  uint64_t shared_ffn = 0;    // of those that every token meets, together
  uint64_t dense_layers = 0;  // the first so many layers have a plain MLP of Architecture::ffn
  bool router_bias = false;
};

/// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434): queries, and keys with values, are
/// products of a narrow latent. Architecture::head_dim is the width of a query and a key with its
/// part that turns.
struct LatentAttention {
  uint64_t query_rank = 0;  // 0: queries have no latent
  uint64_t key_value_rank = 1;
  uint64_t rope_dim = 1;  // the part of head_dim that turns; all heads share it of their key
  uint64_t value_dim = 1;
};

/// A transformer, or a convolutional network.
struct Architecture {
  std::string name;
  uint64_t layers = 1;  // of a convolutional network: its residual blocks
  uint64_t hidden = 1;
  uint64_t heads = 1;
  uint64_t kv_heads = 1;
  uint64_t head_dim = 1;
  uint64_t ffn = 1;
  bool gated_mlp = true;  // SwiGLU: three matrices in place of two
  uint64_t vocabulary = 1;
  bool tied_embeddings = false;  // the logits use the embedding's matrix
  Attention attention = Attention::causal;
  Positions positions = Positions::rotary;
  uint64_t max_positions = 0;  // rows of learned position embeddings
  uint64_t segments = 0;       // rows of segment embeddings (BERT: 2)
  Biases biases = Biases::none;
  Norm norm = Norm::rms;
  bool qk_norm = false;                 // of each head's query and key; heads share its parameters
  bool embedding_norm = false;          // between the embedding and the first layer
  bool final_norm = true;               // between the last layer and the head
  bool masked_lm_head = false;          // BERT: a square layer and a norm before the logits, a bias
  bool next_sentence_head = false;      // BERT: a square layer and two classes, of the first token
  bool attention_sinks = false;         // a learned score of each head beside those of its tokens
  std::optional<Experts> experts = {};  // of all layers but the first dense ones
  std::optional<LatentAttention> latent = {};  // else queries, keys and values are direct products
  std::optional<Adapters> adapters = {};       // all else is frozen, if there
  /// If there, this is a convolutional network: `name` and `layers` hold, all else above does not.
  std::optional<ConvolutionalNetwork> convolutional = {};

  /// The same with no experts: what its dense layers are like.
  Architecture dense() const;
  /// How many of the first layers have no experts: all, if there are none.
  uint64_t dense_layers() const;
  /// Width of the values of all heads.
  uint64_t value_width() const { return heads * (latent ? latent->value_dim : head_dim); }

  /// Counts of parameters. The embedding of a convolutional network is its stem. Where layers
  /// differ this is the largest: a block, or a layer with experts.
  uint64_t layer_parameters() const;
  /// Of a layer with experts those of its routed experts.
  uint64_t routed_parameters() const;
  uint64_t embedding_parameters() const;
  uint64_t head_parameters() const;
  uint64_t parameters() const;
  /// Of them those that are trained.
  uint64_t trained_layer_parameters() const;
  uint64_t trained_embedding_parameters() const;
  uint64_t trained_head_parameters() const;
  uint64_t norm_parameters() const { return norm_parameters(hidden); }
  uint64_t norm_parameters(uint64_t width) const { return norm == Norm::layer ? 2 * width : width; }

  /// The most tokens that a sequence may have: rows of learned positions; 1 for images.
  uint64_t longest_sequence() const;

  /// FLOPs that a step needs for one token, forward and backward, no recomputation.
  ///
  /// Transformer: 6 (matrix parameters) + 6 layers * sequence * heads * head_dim if attention is
  /// causal, 12 if it is not (PaLM, appendix B, arXiv:2204.02311; it has 12 for both). Matrices are
  /// those of the layers and of the head, that of the logits also if it is tied; biases, norms and
  /// embeddings do not count. Of routed experts those count that a token meets, and the router.
  /// Latent attention has (head_dim + value_dim) / 2 for head_dim. Of frozen matrices a step needs
  /// 4, and no gradient of weights.
  /// Convolutional network, of an image: ConvolutionalNetwork::flops().
  double model_flops_per_token(uint64_t sequence_length) const;
};

/// Parameters of the largest of embedding, layers and head.
uint64_t largest_part_parameters(const Architecture& model);

/// Reads a "trnsim.workload.v1" object. Throws InputError, also if the file states a count of
/// parameters that its dimensions do not give.
Architecture read_architecture(JsonReader json);

}  // namespace trnsim
