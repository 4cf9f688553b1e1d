#include "workload/architecture.h"

#include <algorithm>
#include <limits>

namespace trnsim {
namespace {

uint64_t count(const JsonReader& json, int64_t high) {
  return static_cast<uint64_t>(json.as_integer(1, high));
}

// Of the matrices of a layer: query and output, key and value.
uint64_t attention_matrices(const Architecture& model) {
  const uint64_t query = model.heads * model.head_dim;
  if (!model.latent)
    return 2 * model.hidden * query + 2 * model.hidden * model.kv_heads * model.head_dim;
  const LatentAttention& of = *model.latent;
  const uint64_t to_query =
      of.query_rank > 0 ? of.query_rank * (model.hidden + query) : model.hidden * query;
  const uint64_t to_key = model.heads * (model.head_dim - of.rope_dim);
  return to_query + model.hidden * (of.key_value_rank + of.rope_dim) +
         of.key_value_rank * (to_key + model.value_width()) + model.value_width() * model.hidden;
}

uint64_t mlp_matrices(const Architecture& model, uint64_t ffn) {
  return (model.gated_mlp ? 3 : 2) * model.hidden * ffn;
}

// Of the experts that one token meets, or of all that are held.
uint64_t routed_matrices(const Architecture& model, uint64_t experts) {
  return experts * mlp_matrices(model, model.experts->ffn);
}

// Of a layer's MLP beside its routed experts.
uint64_t other_mlp_matrices(const Architecture& model) {
  if (!model.experts) return mlp_matrices(model, model.ffn);
  return model.hidden * model.experts->count + mlp_matrices(model, model.experts->shared_ffn);
}

uint64_t mlp_biases(const Architecture& model, uint64_t ffn) {
  return model.biases == Biases::all ? (model.gated_mlp ? 2 : 1) * ffn + model.hidden : 0;
}

// Of a layer, beside those of its routed experts.
uint64_t layer_biases(const Architecture& model) {
  uint64_t biases = model.experts && model.experts->router_bias ? model.experts->count : 0;
  if (model.biases == Biases::none) return biases;
  biases += (model.heads + 2 * model.kv_heads) * model.head_dim;
  if (model.biases == Biases::qkv) return biases;
  return biases + model.hidden + (model.experts ? 0 : mlp_biases(model, model.ffn));
}

uint64_t small_attention_parameters(const Architecture& model) {
  uint64_t parameters = model.attention_sinks ? model.heads : 0;
  if (model.qk_norm) parameters += 2 * model.norm_parameters(model.head_dim);
  if (model.latent) {
    parameters += model.norm_parameters(model.latent->key_value_rank);
    if (model.latent->query_rank > 0) parameters += model.norm_parameters(model.latent->query_rank);
  }
  return parameters;
}

uint64_t adapter_parameters(const Architecture& model) {
  if (!model.adapters) return 0;
  const Adapters& of = *model.adapters;
  const uint64_t query = model.heads * model.head_dim;
  const uint64_t key_value = model.kv_heads * model.head_dim;
  uint64_t ends = 0;  // inputs and outputs of the products that have one
  if (of.qkv) ends += model.hidden + query + 2 * key_value;
  if (of.attention_output) ends += query + model.hidden;
  if (of.mlp_up) ends += model.hidden + (model.gated_mlp ? 2 : 1) * model.ffn;
  if (of.mlp_down) ends += model.ffn + model.hidden;
  return of.rank * ends;
}

Adapters read_adapters(JsonReader json) {
  Adapters made;
  made.rank = count(json.at("rank"), 1'000'000);
  bool any = false;
  for (const JsonReader& name : json.at("targets").items()) {
    any = true;
    const std::string target = name.as_one_of({"qkv", "attention_output", "mlp_up", "mlp_down"});
    bool& has = target == "qkv"                ? made.qkv
                : target == "attention_output" ? made.attention_output
                : target == "mlp_up"           ? made.mlp_up
                                               : made.mlp_down;
    if (has) name.fail("names " + name.shown() + " twice");
    has = true;
  }
  if (!any) json.at("targets").fail("names no product");
  json.reject_unknown_keys();
  return made;
}

Experts read_experts(JsonReader json, const Architecture& model) {
  Experts made;
  made.count = made.held = count(json.at("count"), 1'000'000);
  JsonReader chosen = json.at("per_token");
  made.per_token = count(chosen, 1'000'000);
  if (made.per_token > made.count)
    chosen.fail(chosen.shown() + " is more than there are (" + std::to_string(made.count) + ')');
  made.ffn = count(json.at("ffn"), 10'000'000);
  if (auto shared = json.find("shared_ffn")) made.shared_ffn = count(*shared, 10'000'000);
  if (auto dense = json.find("dense_layers")) {
    made.dense_layers = static_cast<uint64_t>(dense->as_integer(0, 100'000));
    if (made.dense_layers >= model.layers)
      dense->fail(dense->shown() + " leaves no layer with experts (" +
                  std::to_string(model.layers) + " layers)");
  }
  if (auto bias = json.find("router_bias")) made.router_bias = bias->as_bool();
  json.reject_unknown_keys();
  return made;
}

LatentAttention read_latent_attention(JsonReader json, const Architecture& model) {
  LatentAttention made;
  if (auto rank = json.find("query_rank")) made.query_rank = count(*rank, 10'000'000);
  made.key_value_rank = count(json.at("key_value_rank"), 10'000'000);
  JsonReader rope = json.at("rope_dim");
  made.rope_dim = count(rope, 100'000);
  if (made.rope_dim > model.head_dim)
    rope.fail(rope.shown() + " is more than head_dim (" + std::to_string(model.head_dim) + ')');
  made.value_dim = count(json.at("value_dim"), 100'000);
  json.reject_unknown_keys();
  return made;
}

void read_variants(JsonReader& shape, Architecture& model) {
  const auto flag = [&](const char* key, bool& value) {
    if (auto json = shape.find(key)) value = json->as_bool();
  };
  if (auto attention = shape.find("attention"))
    model.attention = attention->as_one_of({"causal", "bidirectional"}) == "causal"
                          ? Attention::causal
                          : Attention::bidirectional;
  if (auto positions = shape.find("positions")) {
    const std::string kind = positions->as_one_of({"rotary", "learned", "alibi", "none"});
    model.positions = kind == "rotary"    ? Positions::rotary
                      : kind == "learned" ? Positions::learned
                      : kind == "alibi"   ? Positions::alibi
                                          : Positions::none;
  }
  if (model.positions == Positions::learned)
    model.max_positions = count(shape.at("max_positions"), 100'000'000);
  if (auto segments = shape.find("segments")) model.segments = count(*segments, 1000);
  if (auto biases = shape.find("biases")) {
    const std::string kind = biases->as_one_of({"none", "qkv", "all"});
    model.biases = kind == "none" ? Biases::none : kind == "qkv" ? Biases::qkv : Biases::all;
  }
  if (auto norm = shape.find("norm"))
    model.norm = norm->as_one_of({"rms", "layer"}) == "rms" ? Norm::rms : Norm::layer;
  flag("qk_norm", model.qk_norm);
  flag("embedding_norm", model.embedding_norm);
  flag("final_norm", model.final_norm);
  flag("masked_lm_head", model.masked_lm_head);
  flag("next_sentence_head", model.next_sentence_head);
  flag("attention_sinks", model.attention_sinks);
  if (auto experts = shape.find("experts")) model.experts = read_experts(*experts, model);
  if (auto latent = shape.find("latent_attention")) {
    model.latent = read_latent_attention(*latent, model);
    if (model.kv_heads != model.heads)
      shape.at("kv_heads")
          .fail(shape.at("kv_heads").shown() + " must be heads (" + std::to_string(model.heads) +
                ") with latent attention");
    if (model.qk_norm) shape.at("qk_norm").fail("latent attention has norms of its own");
  }
}

void read_transformer(JsonReader& shape, Architecture& model) {
  model.layers = count(shape.at("layers"), 100'000);
  model.hidden = count(shape.at("hidden"), 10'000'000);
  model.heads = count(shape.at("heads"), 100'000);
  JsonReader kv_heads = shape.at("kv_heads");
  model.kv_heads = count(kv_heads, 100'000);
  if (model.heads % model.kv_heads != 0)
    kv_heads.fail(kv_heads.shown() + " does not divide attention heads (" +
                  std::to_string(model.heads) + ")");
  model.head_dim = count(shape.at("head_dim"), 100'000);
  model.ffn = count(shape.at("ffn"), 10'000'000);
  model.gated_mlp = shape.at("gated_mlp").as_bool();
  model.vocabulary = count(shape.at("vocabulary"), 100'000'000);
  model.tied_embeddings = shape.at("tied_embeddings").as_bool();
  read_variants(shape, model);
}

}  // namespace

uint64_t Architecture::layer_parameters() const {
  if (convolutional) return convolutional->largest_block_parameters();
  return attention_matrices(*this) + other_mlp_matrices(*this) + layer_biases(*this) +
         2 * norm_parameters() + small_attention_parameters(*this) + routed_parameters() +
         adapter_parameters(*this);
}

uint64_t Architecture::routed_parameters() const {
  if (!experts) return 0;
  return routed_matrices(*this, experts->held) + experts->held * mlp_biases(*this, experts->ffn);
}

Architecture Architecture::dense() const {
  Architecture made = *this;
  made.experts.reset();
  return made;
}

uint64_t Architecture::dense_layers() const { return experts ? experts->dense_layers : layers; }

uint64_t Architecture::trained_layer_parameters() const {
  return adapters ? adapter_parameters(*this) : layer_parameters();
}

uint64_t Architecture::trained_embedding_parameters() const {
  return adapters ? 0 : embedding_parameters();
}

uint64_t Architecture::trained_head_parameters() const { return adapters ? 0 : head_parameters(); }

uint64_t Architecture::embedding_parameters() const {
  if (convolutional) return convolutional->stem.parameters();
  return (vocabulary + max_positions + segments) * hidden +
         (embedding_norm ? norm_parameters() : 0);
}

uint64_t Architecture::head_parameters() const {
  if (convolutional) return convolutional->classifier_parameters();
  const uint64_t square = hidden * hidden + hidden;
  uint64_t parameters = final_norm ? norm_parameters() : 0;
  if (!tied_embeddings) parameters += vocabulary * hidden;
  if (masked_lm_head) parameters += square + norm_parameters() + vocabulary;
  if (next_sentence_head) parameters += square + 2 * hidden + 2;
  return parameters;
}

uint64_t Architecture::parameters() const {
  const uint64_t of_layers = convolutional ? convolutional->block_parameters()
                                           : dense_layers() * dense().layer_parameters() +
                                                 (layers - dense_layers()) * layer_parameters();
  return embedding_parameters() + of_layers + head_parameters();
}

uint64_t Architecture::longest_sequence() const {
  if (convolutional) return 1;
  return positions == Positions::learned ? max_positions : std::numeric_limits<uint64_t>::max();
}

double Architecture::model_flops_per_token(uint64_t sequence_length) const {
  if (convolutional) return convolutional->flops();
  const auto sequence = static_cast<double>(sequence_length);
  uint64_t mlps = dense_layers() * mlp_matrices(*this, ffn);
  if (experts)
    mlps += (layers - dense_layers()) *
            (other_mlp_matrices(*this) + routed_matrices(*this, experts->per_token));
  double matrices =
      static_cast<double>(layers * attention_matrices(*this) + mlps + vocabulary * hidden);
  if (masked_lm_head) matrices += static_cast<double>(hidden * hidden);
  if (next_sentence_head) matrices += static_cast<double>((hidden + 2) * hidden) / sequence;
  const double part_of_matrix = attention == Attention::causal ? 0.5 : 1;
  const double scores = static_cast<double>(layers * (heads * head_dim + value_width())) / 2 *
                        sequence * part_of_matrix;
  if (!adapters) return 6.0 * matrices + 12.0 * scores;
  const auto trained = static_cast<double>(layers * adapter_parameters(*this));
  return 4.0 * matrices + 6.0 * trained + 12.0 * scores;
}

uint64_t largest_part_parameters(const Architecture& model) {
  return std::max(
      {model.embedding_parameters(), model.layer_parameters(), model.head_parameters()});
}

Architecture read_architecture(JsonReader json) {
  Architecture model;
  json.at("format").as_one_of({"trnsim.workload.v1"});
  model.name = json.at("name").as_string();
  json.at("source").as_string();
  JsonReader shape = json.at("architecture");
  auto kind = shape.find("kind");
  if (kind && kind->as_one_of({"transformer", "convolutional"}) == "convolutional") {
    model.convolutional = read_convolutional_network(shape);
    model.layers = model.convolutional->block_count();
  } else {
    read_transformer(shape, model);
  }
  shape.reject_unknown_keys();
  if (auto adapters = json.find("adapters")) {
    if (model.convolutional) adapters->fail("are beside products of a transformer");
    if (model.experts || model.latent)
      adapters->fail("beside experts or latent attention are not described");
    model.adapters = read_adapters(*adapters);
  }
  if (auto published = json.find("parameters")) {
    const int64_t stated = published->as_integer(1, INT64_MAX);
    const uint64_t without = model.parameters() - model.layers * adapter_parameters(model);
    if (static_cast<uint64_t>(stated) != without)
      published->fail(published->shown() + " is not what the architecture has (" +
                      std::to_string(without) + ")");
  }
  json.reject_unknown_keys();
  return model;
}

}  // namespace trnsim
