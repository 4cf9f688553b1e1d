#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/json_reader.h"
#include "base/units.h"
#include "system/algorithm.h"

namespace trnsim {

enum class Recompute { none, selective, full };
enum class Optimizer { adamw, sgd };
/// Whether what is not a product runs in few kernels, as a compiler or a library of fused layers
/// makes it, or operation by operation, as PyTorch does by itself.
enum class Execution { fused, eager };
/// `fused` keeps bf16 logits and their bf16 gradient, `plain` an fp32 gradient.
enum class Loss { plain, fused };

/// How the model is trained.
struct Training {
  uint64_t sequence_length = 1;
  uint64_t global_batch = 1;  // sequences in a step
  uint64_t micro_batch = 1;   // sequences of one rank at a time
  std::string precision = "bf16";
  std::string gradient_precision = "fp32";   // of the buffers that gradients are summed up in
  std::string reduction_precision = "fp32";  // of gradients on the wire
  Recompute recompute = Recompute::none;
  Optimizer optimizer = Optimizer::adamw;
  Execution execution = Execution::fused;
  Loss loss = Loss::plain;
  std::string attention_kernel = {};  // of those that the chip describes; else its one efficiency

  uint64_t tokens_per_step() const { return sequence_length * global_batch; }
  /// Bytes of a gradient element in its buffer.
  uint64_t gradient_bytes() const { return gradient_precision == "fp32" ? 4 : 2; }
  /// Bytes of a gradient element in the reduction.
  uint64_t reduction_bytes() const { return reduction_precision == "fp32" ? 4 : 2; }
};

/// How many gradients (ZeRO-1, -2: parameters too) one collective takes, in bytes or in elements,
/// as the framework whose key it is counts them.
struct BucketSize {
  Bytes bytes = 0;        // if above 0
  uint64_t elements = 0;  // else
  Bytes first = 0;        // of the first bucket, if it is smaller

  /// Bytes of elements of this width.
  Bytes of(uint64_t bytes_per_element) const {
    return bytes > 0 ? bytes : elements * bytes_per_element;
  }
};

/// How the work is split over ranks, and when ranks exchange what.
struct Layout {
  uint64_t data = 1;
  int zero_stage = 0;  // 0: DDP; shards 1: optimizer states, 2: gradients too, 3: parameters too
  uint64_t shard = 1;  // ranks that hold one copy of what is sharded; fewer than data: hybrid
  bool reshard_after_forward = true;  // ZeRO-3: gathered again for the backward pass
  bool low_precision_shard = true;    // ZeRO-3: the shard is also held in bf16; else cast to gather
  uint64_t prefetch = 1;              // ZeRO-3: layers gathered ahead
  bool overlap_grad_reduce = true;    // reductions run beside the backward pass
  bool overlap_param_gather = true;   // gathers run beside compute
  BucketSize reduce_bucket;           // stages 0 to 2
  BucketSize gather_bucket;           // stages 1 and 2
  bool dynamic_buckets = true;        // filled as gradients come, not by order of registration
  bool sync_every_microbatch = true;  // else gradients are reduced after the last one
  Algorithms algorithms = {};         // of collectives, along each dimension of the fabric
  std::map<std::string, Algorithms> algorithms_of = {};  // of those ("all_gather") that differ
  bool best_algorithm = false;        // chosen for the system, by analytic fidelity
  bool ordered = true;                // collectives share one stream; else one stream for each kind
  uint32_t pieces = 1;                // of a collective, each along another dimension at a time
  bool broadcast_parameters = false;  // from rank 0, before anything else: a job's first step
};

/// Reads the scenario's "training", which may lie over a "trnsim.recipe.v1" file; with `base`, that
/// of a compared system, which changes only what it names. Throws InputError.
Training read_training(JsonReader json, const Training* base = nullptr);
/// Reads the scenario's "layout" in the same way. `default_data`: the ranks, if it names none.
Layout read_layout(JsonReader json, const Layout* base = nullptr,
                   std::optional<uint64_t> default_data = {});

}  // namespace trnsim
