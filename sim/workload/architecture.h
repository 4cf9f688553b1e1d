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
  uint64_t frozen_bytes = 2;  // of a frozen parameter
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
  bool qk_norm = false;             // of each head's query and key; heads share its parameters
  bool embedding_norm = false;      // between the embedding and the first layer
  bool final_norm = true;           // between the last layer and the head
  bool masked_lm_head = false;      // BERT: a square layer and a norm before the logits, a bias
  bool next_sentence_head = false;  // BERT: a square layer and two classes, of the first token
  std::optional<Adapters> adapters = {};  // all else is frozen, if there
  /// If there, this is a convolutional network: `name` and `layers` hold, all else above does not.
  std::optional<ConvolutionalNetwork> convolutional = {};

  /// Counts of parameters. The embedding of a convolutional network is its stem. Layers differ only
  /// in a convolutional network; there this is the largest.
  uint64_t layer_parameters() const;
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
  /// embeddings do not count. Of frozen matrices a step needs 4, and no gradient of weights.
  /// Convolutional network, of an image: ConvolutionalNetwork::flops().
  double model_flops_per_token(uint64_t sequence_length) const;
};

/// Parameters of the largest of embedding, layers and head.
uint64_t largest_part_parameters(const Architecture& model);

/// Reads a "trnsim.workload.v1" object. Throws InputError, also if the file states a count of
/// parameters that its dimensions do not give.
Architecture read_architecture(JsonReader json);

}  // namespace trnsim
