#pragma once

#include <cstdint>
#include <string>

#include "base/json_reader.h"
#include "base/units.h"

namespace trnsim {

/// A decoder-only transformer.
struct Architecture {
  std::string name;
  uint64_t layers = 1;
  uint64_t hidden = 1;
  uint64_t heads = 1;
  uint64_t kv_heads = 1;
  uint64_t head_dim = 1;
  uint64_t ffn = 1;
  bool gated_mlp = true;  // SwiGLU: three matrices in place of two
  uint64_t vocabulary = 1;
  bool tied_embeddings = false;  // the logits use the embedding's matrix

  /// Counts of parameters. A layer has four attention matrices, two or three of the MLP and two
  /// norms; the head has the final norm and, unless tied, a matrix of its own.
  uint64_t layer_parameters() const;
  uint64_t embedding_parameters() const { return vocabulary * hidden; }
  uint64_t head_parameters() const { return hidden + (tied_embeddings ? 0 : vocabulary * hidden); }
  uint64_t parameters() const;

  /// FLOPs that a step needs for one token, forward and backward, causal attention counted, no
  /// recomputation: 6 (matrix parameters) + 6 layers * sequence * heads * head_dim (PaLM, appendix
  /// B, arXiv:2204.02311, with half of the attention matrix).
  double model_flops_per_token(uint64_t sequence_length) const;
};

/// Reads a "trnsim.workload.v1" object. Throws InputError, also if the file states a count of
/// parameters that its dimensions do not give.
Architecture read_architecture(JsonReader json);

}  // namespace trnsim
