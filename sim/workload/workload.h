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

enum class Recompute { none, selective, full };
enum class Optimizer { adamw, sgd };

/// How the model is trained.
struct Training {
  uint64_t sequence_length = 1;
  uint64_t global_batch = 1;  // sequences in a step
  uint64_t micro_batch = 1;   // sequences of one rank at a time
  std::string precision = "bf16";
  std::string gradient_precision = "fp32";  // of the buffers that are reduced
  Recompute recompute = Recompute::none;
  Optimizer optimizer = Optimizer::adamw;

  uint64_t tokens_per_step() const { return sequence_length * global_batch; }
  /// Bytes of a gradient element in the reduction.
  uint64_t gradient_bytes() const { return gradient_precision == "fp32" ? 4 : 2; }
};

/// Which algorithm a collective runs along each dimension of the fabric.
enum class Algorithm { ring, direct };

/// How the work is split over ranks.
struct Layout {
  uint64_t data = 1;
  int zero_stage = 0;          // 0 (DDP) or 3 (ZeRO-3, FSDP)
  Bytes bucket = 200'000'000;  // gradients of DDP that are reduced together
  bool overlap = true;         // collectives run beside compute
  uint64_t prefetch = 1;       // layers gathered ahead (ZeRO-3)
  Algorithm algorithm = Algorithm::ring;
  bool ordered = true;  // collectives share one stream; else one stream for each kind
};

/// Reads a "trnsim.workload.v1" object. Throws InputError, also if the file states a count of
/// parameters that its dimensions do not give.
Architecture read_architecture(JsonReader json);
/// Reads the scenario's "training", which may lie over a "trnsim.recipe.v1" file.
Training read_training(JsonReader json);
/// Reads the scenario's "layout".
Layout read_layout(JsonReader json);

}  // namespace trnsim
