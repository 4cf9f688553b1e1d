#include "workload/stages.h"

#include <algorithm>
#include <numeric>

namespace trnsim {
namespace {

std::string number(uint64_t value) { return std::to_string(value); }

// What is shared out evenly over the chunks.
uint64_t counted_layers(const Architecture& model, const Layout& layout) {
  return model.layers + (layout.ends_count ? 2 : 0);
}

// Where chunk `index` begins among what is shared out: the first are longer where it does not
// divide.
uint64_t begin_of(uint64_t counted, uint64_t chunks, uint64_t index) {
  return index * (counted / chunks) + std::min(index, counted % chunks);
}

std::optional<Misfit> tensor_misfit(const Architecture& model, const Training& training,
                                    const Layout& layout) {
  const uint64_t tensor = layout.tensor;
  const auto does_not_divide = [&](const char* what, uint64_t value) {
    return Misfit{"tensor",
                  number(tensor) + " does not divide " + what + " (" + number(value) + ')'};
  };
  if (model.heads % tensor != 0) return does_not_divide("attention heads", model.heads);
  const bool has_plain_mlp = model.dense_layers() > 0;
  if (has_plain_mlp && model.ffn % tensor != 0) return does_not_divide("ffn", model.ffn);
  if (model.kv_heads % tensor != 0 && tensor % model.kv_heads != 0)
    return Misfit{"tensor", number(tensor) + " neither divides key and value heads (" +
                                number(model.kv_heads) + ") nor is a multiple of them"};
  if (training.sequence_length / layout.context % layout.sequence_shards() != 0)
    return Misfit{"sequence_parallel", "tensor (" + number(tensor) +
                                           ") does not divide sequence_length / context (" +
                                           number(training.sequence_length / layout.context) + ')'};
  return std::nullopt;
}

std::optional<Misfit> expert_misfit(const Architecture& model, const Layout& layout) {
  const uint64_t expert = layout.expert;
  if (!model.experts)
    return expert == 1 ? std::nullopt
                       : std::optional(Misfit{
                             "expert", number(expert) + ": " + model.name + " has no experts"});
  const auto of_experts = [&](const std::string& why) { return Misfit{"expert", why}; };
  if (model.experts->count % expert != 0)
    return of_experts(number(expert) + " does not divide experts (" + number(model.experts->count) +
                      ')');
  if (model.experts->ffn % layout.expert_split() != 0)
    return Misfit{"expert_tensor", number(layout.expert_split()) +
                                       " does not divide ffn of experts (" +
                                       number(model.experts->ffn) + ')'};
  if (model.experts->shared_ffn % layout.tensor != 0)
    return Misfit{"tensor", number(layout.tensor) + " does not divide shared_ffn of experts (" +
                                number(model.experts->shared_ffn) + ')'};
  const uint64_t ranks = layout.tensor / layout.expert_split() * layout.replicas();
  if (ranks % expert != 0)
    return of_experts(number(expert) +
                      " does not divide tensor / expert_tensor x context x data (" + number(ranks) +
                      ')');
  if (layout.tensor > 1 && !layout.sequence_parallel)
    return Misfit{"sequence_parallel", "must be true where experts meet tensor (" +
                                           number(layout.tensor) +
                                           "), for each rank sends its own tokens"};
  if (!layout.splits_experts()) return std::nullopt;
  if (layout.broadcast_parameters)
    return Misfit{"broadcast_parameters",
                  "goes to all ranks of data, which do not hold the same experts (expert " +
                      number(expert) + ')'};
  if (layout.zero_stage == 3)
    return of_experts(number(expert) +
                      " needs zero_stage 0, 1 or 2: ZeRO-3 of split experts is not described");
  if (layout.zero_stage > 0 && layout.shard != layout.replicas())
    return of_experts(number(expert) + " does not go with hybrid sharding (shard " +
                      number(layout.shard) + ')');
  if (layout.stride(Split::context) != layout.stride(Split::tensor) * layout.tensor ||
      layout.stride(Split::data) != layout.stride(Split::context) * layout.context)
    return of_experts(number(expert) + " needs an order in which tp, cp and dp follow each other");
  return std::nullopt;
}

std::optional<Misfit> context_misfit(const Architecture& model, const Training& training,
                                     const Layout& layout) {
  const uint64_t context = layout.context;
  if (context == 1) return std::nullopt;
  // Causal attention is balanced by giving each rank a part from either end.
  const bool halves =
      model.attention == Attention::causal && layout.context_method != ContextMethod::ulysses;
  const uint64_t parts = context * (halves ? 2 : 1);
  if (training.sequence_length % parts != 0)
    return Misfit{"context", number(context) + ": sequence_length (" +
                                 number(training.sequence_length) + ") is no multiple of " +
                                 number(parts) +
                                 (halves ? ", for each rank takes a part from either end" : "")};
  if (layout.context_method != ContextMethod::ulysses) return std::nullopt;
  const Architecture shard = rank_shard(model, layout);
  for (const auto& [what, heads] : {std::pair{"attention heads", shard.heads},
                                    std::pair{"key and value heads", shard.kv_heads}})
    if (heads % context != 0)
      return Misfit{"context", number(context) + " does not divide the " + what + " of a rank (" +
                                   number(heads) + "), as context_method \"ulysses\" needs"};
  return std::nullopt;
}

std::optional<Misfit> pipeline_misfit(const Architecture& model, const Training& training,
                                      const Layout& layout) {
  const uint64_t chunks = layout.pipeline * layout.virtual_stages;
  const std::vector<uint64_t>& listed = layout.stage_layers;
  const uint64_t counted = counted_layers(model, layout);
  if (layout.uneven && counted < chunks + (layout.ends_count ? 2 : 0))
    return Misfit{"pipeline", number(layout.pipeline) + " x virtual_stages " +
                                  number(layout.virtual_stages) + " are more than layers (" +
                                  number(model.layers) + ')'};
  if (listed.empty() && !layout.uneven && counted % chunks != 0)
    return Misfit{"pipeline", number(layout.pipeline) + " x virtual_stages " +
                                  number(layout.virtual_stages) + " does not divide layers (" +
                                  number(counted) + "); \"stage_layers\" can list them"};
  const uint64_t sum = std::accumulate(listed.begin(), listed.end(), uint64_t{0});
  if (!listed.empty() && sum != model.layers)
    return Misfit{"stage_layers", "adds up to " + number(sum) + " layers; " + model.name + " has " +
                                      number(model.layers)};
  const uint64_t at_once = training.micro_batch * layout.data;
  const uint64_t microbatches = training.global_batch / at_once;
  const bool whole = training.global_batch % at_once == 0;
  if (layout.schedule == Schedule::interleaved && whole && microbatches % layout.pipeline != 0)
    return Misfit{"schedule", "\"interleaved\" needs a multiple of pipeline (" +
                                  number(layout.pipeline) + ") microbatches, not " +
                                  number(microbatches)};
  return std::nullopt;
}

// Of products whose columns are split the way down is whole on each rank, of those whose rows are
// the way up.
uint64_t whole_adapter_parameters(const Architecture& model, const Layout& layout, uint64_t stage) {
  const Adapters& of = *model.adapters;
  const uint64_t products = (of.qkv ? 1 : 0) + (of.attention_output ? 1 : 0) + (of.mlp_up ? 1 : 0) +
                            (of.mlp_down ? 1 : 0);
  uint64_t layers = 0;
  for (uint64_t chunk = 0; chunk < layout.virtual_stages; ++chunk)
    layers += chunk_of(model, layout, stage, chunk).layers;
  return layers * products * of.rank * model.hidden;
}

}  // namespace

Architecture rank_shard(const Architecture& model, const Layout& layout) {
  Architecture shard = model;
  const uint64_t tensor = layout.tensor;
  if (shard.experts) {
    shard.experts->held /= layout.expert;
    shard.experts->ffn /= layout.expert_split();
    shard.experts->shared_ffn /= tensor;
  }
  if (tensor == 1) return shard;
  shard.heads = model.heads / tensor;
  shard.kv_heads = std::max<uint64_t>(1, model.kv_heads / tensor);
  shard.ffn = model.ffn / tensor;
  shard.vocabulary = divide_up(model.vocabulary, tensor);
  return shard;
}

Chunk chunk_of(const Architecture& model, const Layout& layout, uint64_t stage, uint64_t chunk) {
  const uint64_t chunks = layout.pipeline * layout.virtual_stages;
  const uint64_t index = chunk * layout.pipeline + stage;
  const std::vector<uint64_t>& listed = layout.stage_layers;
  Chunk made;
  made.embedding = index == 0;
  made.head = index + 1 == chunks;
  if (listed.empty()) {
    const uint64_t counted = counted_layers(model, layout);
    const uint64_t begin = begin_of(counted, chunks, index);
    const uint64_t end = layout.ends_count ? 1 : 0;
    made.layers = begin_of(counted, chunks, index + 1) - begin - (made.embedding ? end : 0) -
                  (made.head ? end : 0);
    made.first_layer = begin - (made.embedding ? 0 : end);
  } else {
    made.layers = listed[index];
    const auto begin = listed.begin();
    made.first_layer =
        std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(index), uint64_t{0});
  }
  return made;
}

bool copies_embedding(const Architecture& model, const Layout& layout) {
  return layout.pipeline > 1 && !model.convolutional && model.tied_embeddings && !model.adapters;
}

uint64_t trained_stage_parameters(const Architecture& shard, const Layout& layout, uint64_t stage) {
  if (!shard.adapters) return stage_parameters(shard, layout, stage);
  uint64_t sum = 0;
  for (uint64_t chunk = 0; chunk < layout.virtual_stages; ++chunk)
    sum += chunk_of(shard, layout, stage, chunk).layers * shard.trained_layer_parameters();
  return sum;
}

uint64_t stage_parameters(const Architecture& shard, const Layout& layout, uint64_t stage) {
  if (layout.pipeline == 1) return shard.parameters();
  uint64_t sum = 0;
  for (uint64_t chunk = 0; chunk < layout.virtual_stages; ++chunk) {
    const Chunk of = chunk_of(shard, layout, stage, chunk);
    const uint64_t dense = of.dense(shard.dense_layers());
    sum +=
        dense * shard.dense().layer_parameters() + (of.layers - dense) * shard.layer_parameters();
    if (of.embedding) sum += shard.embedding_parameters();
    if (of.head) sum += shard.head_parameters();
    if (of.head && copies_embedding(shard, layout)) sum += shard.vocabulary * shard.hidden;
  }
  return sum;
}

uint64_t routed_stage_parameters(const Architecture& shard, const Layout& layout, uint64_t stage) {
  if (!shard.experts || !layout.splits_experts()) return 0;
  uint64_t layers = 0;
  for (uint64_t chunk = 0; chunk < layout.virtual_stages; ++chunk) {
    const Chunk of = chunk_of(shard, layout, stage, chunk);
    layers += of.layers - of.dense(shard.dense_layers());
  }
  return layers * shard.routed_parameters();
}

uint64_t whole_parameters(const Architecture& model, const Layout& layout, uint64_t stage) {
  if (model.adapters) return whole_adapter_parameters(model, layout, stage);
  uint64_t of_layer = 2 * model.norm_parameters();
  if (model.qk_norm) of_layer += 2 * model.norm_parameters(model.head_dim);
  if (model.biases == Biases::all) of_layer += 2 * model.hidden;
  uint64_t sum = 0;
  for (uint64_t chunk = 0; chunk < layout.virtual_stages; ++chunk) {
    const Chunk of = chunk_of(model, layout, stage, chunk);
    sum += of.layers * of_layer;
    if (model.experts)
      sum += (of.layers - of.dense(model.dense_layers())) * model.hidden * model.experts->count;
    if (of.embedding) {
      sum += (model.max_positions + model.segments) * model.hidden;
      if (model.embedding_norm) sum += model.norm_parameters();
    }
    if (of.head && model.final_norm) sum += model.norm_parameters();
  }
  return sum;
}

std::optional<Misfit> misfit(const Architecture& model, const Training& training,
                             const Layout& layout) {
  if (model.convolutional) {
    if (layout.tensor * layout.context * layout.pipeline * layout.expert == 1) return std::nullopt;
    return Misfit{layout.tensor > 1    ? "tensor"
                  : layout.context > 1 ? "context"
                  : layout.expert > 1  ? "expert"
                                       : "pipeline",
                  "must be 1: convolutional networks are split over data alone"};
  }
  if (auto found = context_misfit(model, training, layout)) return found;
  if (auto found = tensor_misfit(model, training, layout)) return found;
  if (auto found = expert_misfit(model, layout)) return found;
  return pipeline_misfit(model, training, layout);
}

}  // namespace trnsim
