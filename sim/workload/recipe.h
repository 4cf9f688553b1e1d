#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_reader.h"
#include "base/units.h"
#include "system/algorithm.h"
#include "workload/software.h"

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
  static constexpr uint64_t all_layers = UINT64_MAX;
  uint64_t sequence_length = 1;
  uint64_t global_batch = 1;                 // sequences in a step
  uint64_t micro_batch = 1;                  // sequences of one rank at a time
  std::string precision = "bf16";            // of products: "bf16", "fp8", "mxfp8", "fp4"
  std::string gradient_precision = "fp32";   // of the buffers that gradients are summed up in
  std::string reduction_precision = "fp32";  // of gradients on the wire
  Recompute recompute = Recompute::none;
  uint64_t recompute_layers = all_layers;  // the first so many of each stage, or of its chunks
  Optimizer optimizer = Optimizer::adamw;
  Execution execution = Execution::fused;
  Loss loss = Loss::plain;
  /// Of those that the chip describes; "unfused": products and softmax one by one; else the chip's
  /// one efficiency.
  std::string attention_kernel = {};
  std::string parameter_precision = "bf16";  // of the parameters that ranks hold and gather
  std::optional<Software> software = {};     // else the chip's overhead of kernels is all
  double expert_imbalance = 1;  // tokens of the rank whose experts get most, over the mean

  /// Whether a layer of a chunk runs again for its backward pass.
  bool recomputes(uint64_t layer_of_chunk) const {
    return recompute != Recompute::none && layer_of_chunk < recompute_layers;
  }
  /// The same, with nothing recomputed.
  Training keeping_all() const {
    Training made = *this;
    made.recompute = Recompute::none;
    return made;
  }
  uint64_t tokens_per_step() const { return sequence_length * global_batch; }
  /// Of which of the chip's peaks products are: blocks of fp8 with scales of their own run at
  /// fp8's.
  std::string peak() const { return precision == "mxfp8" ? "fp8" : precision; }
  /// Bytes of a gradient element in its buffer.
  uint64_t gradient_bytes() const { return gradient_precision == "fp32" ? 4 : 2; }
  /// Bytes of a parameter as it is held beside its fp32 copy, and gathered.
  uint64_t parameter_bytes() const { return parameter_precision == "fp8" ? 1 : 2; }
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

/// What ranks can be split by.
enum class Split { tensor, context, data, pipeline };
/// In which order a pipeline stage runs its microbatches (plan/schedule.h).
enum class Schedule { one_f_one_b, gpipe, interleaved };
/// How attention sees the keys and values of the other parts of a sequence: passed round a ring
/// beside the attention (Ring Attention, arXiv:2310.01889), gathered before it (Llama 3,
/// arXiv:2407.21783), or by an exchange of parts of the sequence for heads (Ulysses,
/// arXiv:2309.14509).
enum class ContextMethod { ring, all_gather, ulysses };

/// How the work is split over ranks, and when ranks exchange what. Ranks are tensor x context x
/// data x pipeline; those that differ only in data and context hold the same parameters.
struct Layout {
  uint64_t data = 1;
  int zero_stage = 0;  // 0: DDP; shards 1: optimizer states, 2: gradients too, 3: parameters too
  uint64_t shard = 1;  // ranks that hold one copy of what is sharded; fewer than replicas(): hybrid
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

  uint64_t tensor = 1;
  uint64_t context = 1;
  uint64_t pipeline = 1;
  uint64_t expert = 1;         // ranks that share out the experts of a layer
  uint64_t expert_tensor = 0;  // ranks that split each expert: 1, or 0 for as many as `tensor`
  bool overlap_expert =
      false;  // exchanges of tokens run beside compute of the other half of a batch
  std::array<Split, 4> order = {Split::tensor, Split::context, Split::data, Split::pipeline};
  bool sequence_parallel = false;  // norms and what is kept for them are split over tensor
  bool overlap_tensor = false;     // collectives over tensor run in pieces beside products
  ContextMethod context_method = ContextMethod::ring;
  Schedule schedule = Schedule::one_f_one_b;
  uint64_t virtual_stages = 1;              // chunks of the model on each stage
  std::vector<uint64_t> stage_layers = {};  // of each chunk, first to last; empty: even
  bool ends_count = false;                  // evenly, but embedding and head count as a layer each
  bool uneven = false;          // where that does not divide the first chunks have one more
  bool overlap_p2p = true;      // compute does not wait for what its stage sends
  bool scatter_gather = false;  // stages send each other 1 / tensor, gathered by who receives it

  /// Ranks with the same parameters: gradients are summed over them.
  uint64_t replicas() const { return data * context; }
  /// A token crosses the network once for each unit that has experts of its own, and is copied
  /// there (DeepEP); else once for each expert.
  bool deduplicates_tokens = false;

  uint64_t expert_split() const { return expert_tensor == 0 ? tensor : expert_tensor; }
  /// Whether experts are held by other ranks than the rest of a layer.
  bool splits_experts() const { return expert > 1 || expert_split() != tensor; }
  /// Ranks that hold the same experts: their gradients are summed over them.
  uint64_t expert_replicas() const { return tensor / expert_split() * replicas() / expert; }
  /// How far apart the ranks are that share out experts.
  uint64_t expert_stride() const {
    return stride(expert_split() == tensor ? Split::context : Split::tensor);
  }
  /// Ranks that hold one copy of the model, or work on one sequence, together.
  uint64_t model_ranks() const { return tensor * context * pipeline; }
  uint64_t degree(Split split) const;
  /// How far apart the ranks are that differ by one in this coordinate.
  uint64_t stride(Split split) const;
  uint64_t stage_of(uint64_t rank) const { return rank / stride(Split::pipeline) % pipeline; }
  /// Ranks over which what only one token needs is split beside context.
  uint64_t sequence_shards() const { return sequence_parallel ? tensor : 1; }
};

/// Gives the layout as many ranks as there are chips: data follows, and with it what is sharded
/// over all replicas. At least one, however few chips there are.
void follow_chips(Layout& layout, uint64_t chips);

/// Reads the scenario's "training", which may lie over a "trnsim.recipe.v1" file; with `base`, that
/// of a compared system, which changes only what it names. Throws InputError.
Training read_training(JsonReader json, const Training* base = nullptr);
/// Reads the scenario's "layout" in the same way. `chips`: of a compared system, whose ranks are
/// split over data if the layout does not say otherwise.
Layout read_layout(JsonReader json, const Layout* base = nullptr,
                   std::optional<uint64_t> chips = {});

}  // namespace trnsim
