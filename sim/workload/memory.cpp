#include "workload/memory.h"

#include <algorithm>

#include "workload/activations.h"

namespace trnsim {
namespace {

constexpr Bytes bf16 = 2;
constexpr Bytes fp32 = 4;

Bytes divide_up(Bytes bytes, Bytes by) { return (bytes + by - 1) / by; }

}  // namespace

std::vector<MemoryPart> memory_parts(const Architecture& model, const Training& training,
                                     const Layout& layout) {
  const bool sharded = layout.zero_stage == 3;
  const Bytes held = divide_up(model.parameters(), sharded ? layout.data : 1);
  const Bytes gradient = training.gradient_bytes();
  const Bytes states = training.optimizer == Optimizer::adamw ? 3 * fp32 : 2 * fp32;
  std::vector<MemoryPart> parts = {
      {"parameters", bf16 * held},
      {"gradients", gradient * held},
      {"optimizer states", states * held},
      {"activations", model.layers * layer_activation_bytes(model, training)},
      {"logits and loss", logits_bytes(model, training)},
  };
  if (training.recompute == Recompute::full) {
    Training one_layer = training;
    one_layer.recompute = Recompute::none;
    parts.push_back({"recomputed layer", layer_activation_bytes(model, one_layer)});
  }
  if (sharded) {
    const Bytes unit =
        std::max({model.layer_parameters(), model.embedding_parameters(), model.head_parameters()});
    const Bytes ahead = layout.overlap ? layout.prefetch : 0;
    parts.push_back({"gathered layers", bf16 * unit * (1 + ahead)});
    // One layer's gradient is made while the one before is being reduced.
    parts.push_back({"unreduced gradients", gradient * unit * (layout.overlap ? 2 : 1)});
  }
  return parts;
}

Bytes total(const std::vector<MemoryPart>& parts) {
  Bytes sum = 0;
  for (const MemoryPart& part : parts) sum += part.bytes;
  return sum;
}

}  // namespace trnsim
