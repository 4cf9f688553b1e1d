#include "workload/architecture.h"

#include <algorithm>
#include <limits>

namespace trnsim {
namespace {

uint64_t count(const JsonReader& json, int64_t high) {
  return static_cast<uint64_t>(json.as_integer(1, high));
}

// Of the matrices of one layer: query and output, key and value, MLP.
uint64_t layer_matrices(const Architecture& model) {
  const uint64_t attention = 2 * model.hidden * model.heads * model.head_dim +
                             2 * model.hidden * model.kv_heads * model.head_dim;
  return attention + (model.gated_mlp ? 3 : 2) * model.hidden * model.ffn;
}

uint64_t layer_biases(const Architecture& model) {
  if (model.biases == Biases::none) return 0;
  const uint64_t qkv = (model.heads + 2 * model.kv_heads) * model.head_dim;
  if (model.biases == Biases::qkv) return qkv;
  return qkv + 2 * model.hidden + (model.gated_mlp ? 2 : 1) * model.ffn;
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
  if (auto frozen = json.find("frozen_precision"))
    made.frozen_bytes = frozen->as_one_of({"bf16", "fp8"}) == "bf16" ? 2 : 1;
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
  return layer_matrices(*this) + layer_biases(*this) + 2 * norm_parameters() +
         (qk_norm ? 2 * norm_parameters(head_dim) : 0) + adapter_parameters(*this);
}

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
  const uint64_t of_layers =
      convolutional ? convolutional->block_parameters() : layers * layer_parameters();
  return embedding_parameters() + of_layers + head_parameters();
}

uint64_t Architecture::longest_sequence() const {
  if (convolutional) return 1;
  return positions == Positions::learned ? max_positions : std::numeric_limits<uint64_t>::max();
}

double Architecture::model_flops_per_token(uint64_t sequence_length) const {
  if (convolutional) return convolutional->flops();
  const auto sequence = static_cast<double>(sequence_length);
  double matrices = static_cast<double>(layers * layer_matrices(*this) + vocabulary * hidden);
  if (masked_lm_head) matrices += static_cast<double>(hidden * hidden);
  if (next_sentence_head) matrices += static_cast<double>((hidden + 2) * hidden) / sequence;
  const double part_of_matrix = attention == Attention::causal ? 0.5 : 1;
  const double scores = static_cast<double>(layers * heads * head_dim) * sequence * part_of_matrix;
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
