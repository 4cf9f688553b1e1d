#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "workload/architecture.h"
#include "workload/recipe.h"

namespace trnsim {

/// The model as one of the layout's ranks of tensor and expert parallelism holds it: its attention
/// heads, its part of the MLP and of the vocabulary, its experts, and whole norms, routers and ways
/// down to latents (Megatron-LM, arXiv:1909.08053). Key and value heads are copied where there are
/// fewer than ranks; the vocabulary is filled up to a multiple of the ranks.
Architecture rank_shard(const Architecture& model, const Layout& layout);

/// What follows each other in one pass on one stage: layers, and at the ends of the model the
/// embedding and the head.
struct Chunk {
  uint64_t first_layer = 0;
  uint64_t layers = 0;
  bool embedding = false;
  bool head = false;

  /// How many of its layers are among the model's first `dense`.
  uint64_t dense(uint64_t dense) const {
    return dense <= first_layer ? 0 : std::min(layers, dense - first_layer);
  }
};

/// Chunk `chunk` of a stage: in the model's order it is number chunk x pipeline + stage.
Chunk chunk_of(const Architecture& model, const Layout& layout, uint64_t stage, uint64_t chunk);

/// Whether the last stage needs a copy of the embedding's matrix for its logits.
bool copies_embedding(const Architecture& model, const Layout& layout);

/// Parameters of one rank of a stage, and those of them that are trained. `shard` is what a rank
/// holds of the model.
uint64_t stage_parameters(const Architecture& shard, const Layout& layout, uint64_t stage);
uint64_t trained_stage_parameters(const Architecture& shard, const Layout& layout, uint64_t stage);
/// Of them those of routed experts whose gradients are summed over other ranks than the rest's.
uint64_t routed_stage_parameters(const Architecture& shard, const Layout& layout, uint64_t stage);

/// Parameters of one rank of a stage that every rank of tensor holds whole, and under sequence
/// parallelism sees only a part of the gradient of: norms, biases of what is summed, and small
/// embeddings.
uint64_t whole_parameters(const Architecture& model, const Layout& layout, uint64_t stage);

/// A key of the layout that does not suit the model, and why; nothing if all do.
struct Misfit {
  std::string key;
  std::string why;
};
std::optional<Misfit> misfit(const Architecture& model, const Training& training,
                             const Layout& layout);

}  // namespace trnsim
