#pragma once

#include <cstdint>
#include <string>

#include "base/json_reader.h"
#include "base/units.h"

namespace trnsim {

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

/// Reads the scenario's "training", which may lie over a "trnsim.recipe.v1" file.
Training read_training(JsonReader json);
/// Reads the scenario's "layout".
Layout read_layout(JsonReader json);

}  // namespace trnsim
