#include "workload/memory.h"

#include <algorithm>

#include "workload/activations.h"
#include "workload/schedule.h"
#include "workload/stages.h"

namespace trnsim {
namespace {

constexpr Bytes bf16 = 2;
constexpr Bytes fp32 = 4;

// A rank's part of the model, and what its stage has of it.
struct StageShare {
  Architecture model;
  uint64_t parameters = 0;
  uint64_t trained = 0;       // of them
  uint64_t routed = 0;        // of these, which other ranks hold copies of than of the rest
  uint64_t largest_part = 0;  // parameters that are gathered at a time
  uint64_t parts = 0;

  StageShare(const Architecture& whole, const Layout& layout, uint64_t stage)
      : model(rank_shard(whole, layout)),
        parameters(stage_parameters(model, layout, stage)),
        trained(trained_stage_parameters(model, layout, stage)),
        routed(routed_stage_parameters(model, layout, stage)) {
    if (layout.pipeline == 1) {
      largest_part = largest_part_parameters(model);
      parts = model.layers + 2;
      return;
    }
    largest_part = model.layer_parameters();
    for (uint64_t chunk = 0; chunk < layout.virtual_stages; ++chunk) {
      const Chunk of = chunk_of(model, layout, stage, chunk);
      parts += of.layers + (of.embedding ? 1 : 0) + (of.head ? 1 : 0);
      if (of.embedding) largest_part = std::max(largest_part, model.embedding_parameters());
      if (of.head)
        largest_part =
            std::max(largest_part,
                     model.head_parameters() +
                         (copies_embedding(model, layout) ? model.vocabulary * model.hidden : 0));
    }
  }
};

// What collectives need beside the tensors that they move.
void add_communication_buffers(const StageShare& share, const Training& training,
                               const Layout& layout, std::vector<MemoryPart>& parts) {
  const Bytes part = share.largest_part;
  const Bytes trained = share.model.adapters ? share.model.trained_layer_parameters() : part;
  if (layout.zero_stage == 3) {
    const Bytes ahead = layout.overlap_param_gather ? layout.prefetch : 0;
    const Bytes gathered = std::min<Bytes>(1 + ahead, share.parts);
    parts.push_back({"gathered parameters",
                     training.parameter_bytes() *
                         (layout.reshard_after_forward ? gathered * part : share.parameters)});
    // One layer's gradient is made while the one before is being reduced, in the width of the wire.
    if (layout.sync_every_microbatch)
      parts.push_back({"unreduced gradients", training.reduction_bytes() * trained *
                                                  (layout.overlap_grad_reduce ? 2 : 1)});
    return;
  }
  if (layout.replicas() == 1) return;
  // ZeRO-2 keeps gradients outside its shard only until their bucket is reduced; where the wire has
  // another width than the buffer, a bucket is cast. One fills while the one before is reduced.
  const bool cast = training.gradient_bytes() != training.reduction_bytes();
  if (layout.zero_stage != 2 && !cast) return;
  const Bytes width =
      layout.zero_stage == 2 ? training.gradient_bytes() : training.reduction_bytes();
  const Bytes bucket =
      std::min<Bytes>(layout.reduce_bucket.of(width) + width * trained, width * share.trained);
  parts.push_back({"reduction buckets", bucket * (layout.overlap_grad_reduce ? 2 : 1)});
}

// What layers and the head keep of all passes in flight, at the moment when that is most.
struct Kept {
  Bytes activations = 0;
  Bytes logits = 0;
  Bytes sum() const { return activations + logits; }
};

Kept most_kept(const Architecture& shard, const Training& training, const Layout& layout,
               uint64_t stage) {
  if (layout.pipeline == 1)  // one microbatch at a time
    return {activation_bytes(shard, training, layout), logits_bytes(shard, training, layout)};
  std::vector<Kept> of_chunk;
  for (uint64_t chunk = 0; chunk < layout.virtual_stages; ++chunk) {
    const Chunk of = chunk_of(shard, layout, stage, chunk);
    Kept kept{
        layers_activation_bytes(shard, training, layout, of.layers, of.dense(shard.dense_layers())),
        of.head ? logits_bytes(shard, training, layout) : 0};
    if (of.embedding) kept.activations += embedding_activation_bytes(shard, training, layout);
    of_chunk.push_back(kept);
  }
  Kept most;
  Kept now;
  const uint64_t microbatches = training.global_batch / (training.micro_batch * layout.data);
  for (const Pass& pass : schedule(layout, stage, microbatches)) {
    const Kept& kept = of_chunk[pass.chunk];
    if (pass.backward) {
      now = {now.activations - kept.activations, now.logits - kept.logits};
    } else {
      now = {now.activations + kept.activations, now.logits + kept.logits};
      if (now.sum() > most.sum()) most = now;
    }
  }
  return most;
}

// Keys and values of other ranks: a block beside the one that is used, forward; with gradients,
// backward. Or those of the whole sequence and their gradients.
Bytes context_buffer_bytes(const Architecture& shard, const Training& training,
                           const Layout& layout) {
  if (layout.context == 1 || layout.context_method == ContextMethod::ulysses) return 0;
  const Bytes tokens = training.micro_batch * training.sequence_length / layout.context;
  const Bytes block = 2 * bf16 * tokens * shard.kv_heads * shard.head_dim;
  return block * (layout.context_method == ContextMethod::ring ? 4 : 2 * layout.context);
}

}  // namespace

std::vector<MemoryPart> memory_parts(const Architecture& model, const Training& training,
                                     const Layout& layout, uint64_t stage) {
  const StageShare share(model, layout, stage);
  const uint64_t whole = share.trained;
  const uint64_t shard = divide_up(whole - share.routed, layout.shard) +
                         divide_up(share.routed, layout.expert_replicas());
  const uint64_t frozen = share.parameters - whole;
  const Bytes states = training.optimizer == Optimizer::adamw ? 3 * fp32 : 2 * fp32;
  const bool whole_gradients =
      layout.zero_stage < 2 || (layout.zero_stage == 3 && !layout.sync_every_microbatch);
  const uint64_t held = layout.zero_stage < 3 ? whole : layout.low_precision_shard ? shard : 0;
  // Frozen parameters are held as they are gathered; with ZeRO-3 of each a part.
  const Bytes frozen_bytes = training.parameter_bytes() *
                             (layout.zero_stage == 3 ? divide_up(frozen, layout.shard) : frozen);
  const Kept kept = most_kept(share.model, training, layout, stage);
  std::vector<MemoryPart> parts = {
      {"parameters", training.parameter_bytes() * held + frozen_bytes},
      {"gradients", training.gradient_bytes() * (whole_gradients ? whole : shard)},
      {"optimizer states", states * (layout.zero_stage == 0 ? whole : shard)},
      {"activations", kept.activations},
      {"logits and loss", kept.logits},
  };
  if (training.recompute == Recompute::full) {
    parts.push_back(
        {"recomputed layer", layer_activation_bytes(share.model, training.keeping_all(), layout)});
  }
  if (const Bytes bytes = context_buffer_bytes(share.model, training, layout))
    parts.push_back({"keys and values of other ranks", bytes});
  add_communication_buffers(share, training, layout, parts);
  return parts;
}

uint64_t fullest_stage(const Architecture& model, const Training& training, const Layout& layout) {
  uint64_t fullest = 0;
  Bytes most = 0;
  for (uint64_t stage = 0; stage < layout.pipeline; ++stage) {
    const Bytes held = total(memory_parts(model, training, layout, stage));
    if (held > most) fullest = stage;
    most = std::max(most, held);
  }
  return fullest;
}

std::vector<MemoryPart> memory_parts(const Architecture& model, const Training& training,
                                     const Layout& layout) {
  return memory_parts(model, training, layout, fullest_stage(model, training, layout));
}

Bytes total(const std::vector<MemoryPart>& parts) {
  Bytes sum = 0;
  for (const MemoryPart& part : parts) sum += part.bytes;
  return sum;
}

}  // namespace trnsim
