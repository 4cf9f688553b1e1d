#include "workload/memory.h"

#include <algorithm>

#include "workload/activations.h"

namespace trnsim {
namespace {

constexpr Bytes bf16 = 2;
constexpr Bytes fp32 = 4;

// What collectives need beside the tensors that they move.
void add_communication_buffers(const Architecture& model, const Training& training,
                               const Layout& layout, std::vector<MemoryPart>& parts) {
  const Bytes part = largest_part_parameters(model);
  if (layout.zero_stage == 3) {
    const Bytes ahead = layout.overlap_param_gather ? layout.prefetch : 0;
    const Bytes layers = std::min<Bytes>(1 + ahead, model.layers + 2);
    parts.push_back({"gathered parameters",
                     bf16 * (layout.reshard_after_forward ? layers * part : model.parameters())});
    // One layer's gradient is made while the one before is being reduced, in the width of the wire.
    if (layout.sync_every_microbatch)
      parts.push_back({"unreduced gradients",
                       training.reduction_bytes() * part * (layout.overlap_grad_reduce ? 2 : 1)});
    return;
  }
  if (layout.data == 1) return;
  // ZeRO-2 keeps gradients outside its shard only until their bucket is reduced; where the wire has
  // another width than the buffer, a bucket is cast. One fills while the one before is reduced.
  const bool cast = training.gradient_bytes() != training.reduction_bytes();
  if (layout.zero_stage != 2 && !cast) return;
  const Bytes width =
      layout.zero_stage == 2 ? training.gradient_bytes() : training.reduction_bytes();
  const Bytes bucket =
      std::min<Bytes>(layout.reduce_bucket.of(width) + width * part, width * model.parameters());
  parts.push_back({"reduction buckets", bucket * (layout.overlap_grad_reduce ? 2 : 1)});
}

}  // namespace

std::vector<MemoryPart> memory_parts(const Architecture& model, const Training& training,
                                     const Layout& layout) {
  const uint64_t whole = model.parameters();
  const uint64_t shard = divide_up(whole, layout.shard);
  const Bytes states = training.optimizer == Optimizer::adamw ? 3 * fp32 : 2 * fp32;
  const bool whole_gradients =
      layout.zero_stage < 2 || (layout.zero_stage == 3 && !layout.sync_every_microbatch);
  const uint64_t bf16_parameters = layout.zero_stage < 3        ? whole
                                   : layout.low_precision_shard ? shard
                                                                : 0;
  std::vector<MemoryPart> parts = {
      {"parameters", bf16 * bf16_parameters},
      {"gradients", training.gradient_bytes() * (whole_gradients ? whole : shard)},
      {"optimizer states", states * (layout.zero_stage == 0 ? whole : shard)},
      {"activations", activation_bytes(model, training)},
      {"logits and loss", logits_bytes(model, training)},
  };
  if (training.recompute == Recompute::full) {
    Training one_layer = training;
    one_layer.recompute = Recompute::none;
    parts.push_back({"recomputed layer", layer_activation_bytes(model, one_layer)});
  }
  add_communication_buffers(model, training, layout, parts);
  return parts;
}

Bytes total(const std::vector<MemoryPart>& parts) {
  Bytes sum = 0;
  for (const MemoryPart& part : parts) sum += part.bytes;
  return sum;
}

}  // namespace trnsim
