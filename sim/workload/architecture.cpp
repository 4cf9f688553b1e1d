#include "workload/architecture.h"

namespace trnsim {
namespace {

constexpr int64_t large = 1'000'000'000;

uint64_t count(const JsonReader& json, int64_t high = large) {
  return static_cast<uint64_t>(json.as_integer(1, high));
}

}  // namespace

uint64_t Architecture::layer_parameters() const {
  const uint64_t attention = 2 * hidden * heads * head_dim + 2 * hidden * kv_heads * head_dim;
  const uint64_t mlp = (gated_mlp ? 3 : 2) * hidden * ffn;
  return attention + mlp + 2 * hidden;
}

uint64_t Architecture::parameters() const {
  return embedding_parameters() + layers * layer_parameters() + head_parameters();
}

double Architecture::model_flops_per_token(uint64_t sequence_length) const {
  const double matrices = static_cast<double>(layers * (layer_parameters() - 2 * hidden)) +
                          static_cast<double>(vocabulary * hidden);
  const double attention =
      static_cast<double>(layers * heads * head_dim) * static_cast<double>(sequence_length);
  return 6.0 * matrices + 6.0 * attention;
}

Architecture read_architecture(JsonReader json) {
  Architecture model;
  json.at("format").as_one_of({"trnsim.workload.v1"});
  model.name = json.at("name").as_string();
  json.at("source").as_string();
  JsonReader shape = json.at("architecture");
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
  shape.reject_unknown_keys();
  if (auto published = json.find("parameters")) {
    const int64_t stated = published->as_integer(1, INT64_MAX);
    if (static_cast<uint64_t>(stated) != model.parameters())
      published->fail(published->shown() + " is not what the architecture has (" +
                      std::to_string(model.parameters()) + ")");
  }
  json.reject_unknown_keys();
  return model;
}

}  // namespace trnsim
