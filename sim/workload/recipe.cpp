#include "workload/recipe.h"

namespace trnsim {
namespace {

constexpr int64_t large = 1'000'000'000;

uint64_t count(const JsonReader& json, int64_t high = large) {
  return static_cast<uint64_t>(json.as_integer(1, high));
}

}  // namespace

Training read_training(JsonReader json) {
  Training training;
  if (auto format = json.find("format")) format->as_one_of({"trnsim.recipe.v1"});
  json.find("name");
  json.find("source");
  training.sequence_length = count(json.at("sequence_length"), 100'000'000);
  training.global_batch = count(json.at("global_batch"));
  training.micro_batch = count(json.at("micro_batch"), 1'000'000);
  training.precision = json.at("precision").as_one_of({"bf16", "fp8"});
  if (auto gradient = json.find("gradient_precision"))
    training.gradient_precision = gradient->as_one_of({"fp32", "bf16"});
  const std::string recompute = json.at("recompute").as_one_of({"none", "selective", "full"});
  training.recompute = recompute == "none"   ? Recompute::none
                       : recompute == "full" ? Recompute::full
                                             : Recompute::selective;
  training.optimizer = json.at("optimizer").as_one_of({"adamw", "sgd"}) == "adamw"
                           ? Optimizer::adamw
                           : Optimizer::sgd;
  json.reject_unknown_keys();
  return training;
}

Layout read_layout(JsonReader json) {
  Layout layout;
  layout.data = count(json.at("data"));
  for (const char* key : {"tensor", "pipeline", "context", "expert"}) {
    auto degree = json.find(key);
    if (degree && degree->as_integer(1, large) != 1)
      degree->fail(degree->shown() + " must be 1; this version splits only over \"data\"");
  }
  if (auto order = json.find("order")) {
    const std::string text = order->as_string();
    if (text != "tp-cp-ep-dp-pp")
      order->fail(order->shown() +
                  " must be \"tp-cp-ep-dp-pp\"; with data parallelism alone no order differs");
  }
  JsonReader stage = json.at("zero_stage");
  layout.zero_stage = static_cast<int>(stage.as_integer(0, 3));
  if (layout.zero_stage == 1 || layout.zero_stage == 2)
    stage.fail(stage.shown() + " must be 0 (DDP) or 3 (ZeRO-3, FSDP) in this version");
  if (auto bucket = json.find("bucket"))
    layout.bucket = static_cast<Bytes>(bucket->as_quantity(Unit::bytes, 1.0, 1e15));
  if (auto overlap = json.find("overlap")) layout.overlap = overlap->as_bool();
  if (auto prefetch = json.find("prefetch"))
    layout.prefetch = static_cast<uint64_t>(prefetch->as_integer(0, 1000));
  if (auto algorithm = json.find("algorithm"))
    layout.algorithm =
        algorithm->as_one_of({"ring", "direct"}) == "ring" ? Algorithm::ring : Algorithm::direct;
  if (auto streams = json.find("collective_streams"))
    layout.ordered = streams->as_one_of({"one", "by_kind"}) == "one";
  json.reject_unknown_keys();
  return layout;
}

}  // namespace trnsim
