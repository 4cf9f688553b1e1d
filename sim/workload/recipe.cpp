#include "workload/recipe.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace trnsim {
namespace {

constexpr int64_t large = 1'000'000'000;
constexpr Bytes mebibyte = 1 << 20;

uint64_t count(const JsonReader& json, int64_t high = large) {
  return static_cast<uint64_t>(json.as_integer(1, high));
}

void set(std::optional<JsonReader> json, bool& value) {
  if (json) value = json->as_bool();
}

// Which buckets a framework makes when nobody says otherwise.
void framework_defaults(const std::string& framework, Layout& layout) {
  if (framework == "megatron") {
    // Megatron-LM, DistributedDataParallelConfig: max(40,000,000, 1,000,000 x data) elements.
    layout.reduce_bucket = {0, std::max<uint64_t>(40'000'000, 1'000'000 * layout.data), 0};
    layout.gather_bucket = layout.reduce_bucket;
  } else if (framework == "deepspeed") {
    // DeepSpeed, zero_optimization: reduce_bucket_size and allgather_bucket_size, elements.
    layout.reduce_bucket = {0, 500'000'000, 0};
    layout.gather_bucket = {0, 500'000'000, 0};
  } else {
    // PyTorch, DistributedDataParallel: bucket_cap_mb 25, the first bucket 1 MiB.
    layout.reduce_bucket = {25 * mebibyte, 0, mebibyte};
    layout.gather_bucket = layout.reduce_bucket;
  }
}

// Buckets by the name that the framework gives their size; one name at most.
void read_buckets(JsonReader& json, const Layout* base, Layout& layout) {
  if (base == nullptr) framework_defaults("pytorch", layout);
  std::string named;
  const auto once = [&](const char* key) {
    auto found = json.find(key);
    if (found && !named.empty())
      found->fail("the bucket's size is already said by \"" + named + '"');
    if (found) named = key;
    return found;
  };
  if (auto bucket = once("bucket")) {
    if (bucket->is_string() && bucket->as_string().find_first_of("0123456789") == std::string::npos)
      framework_defaults(bucket->as_one_of({"megatron", "deepspeed", "pytorch"}), layout);
    else
      layout.reduce_bucket = layout.gather_bucket = {
          static_cast<Bytes>(bucket->as_quantity(Unit::bytes, 1.0, 1e15)), 0, 0};
  }
  if (auto elements = once("ddp_bucket_size"))
    layout.reduce_bucket = layout.gather_bucket = {0, count(*elements, INT64_MAX), 0};
  if (auto mebibytes = once("bucket_cap_mb"))
    layout.reduce_bucket = layout.gather_bucket = {count(*mebibytes) * mebibyte, 0, mebibyte};
  if (auto elements = once("reduce_bucket_size")) {
    layout.reduce_bucket = {0, count(*elements, INT64_MAX), 0};
    layout.gather_bucket = {0, 500'000'000, 0};
  }
  if (auto elements = json.find("allgather_bucket_size"))
    layout.gather_bucket = {0, count(*elements, INT64_MAX), 0};
}

// What `key` says, or the whole object where it does not say it.
JsonReader place_of(JsonReader& json, const char* key) {
  auto found = json.find(key);
  return found ? *found : json;
}

// "tp-cp-ep-dp-pp": which ranks are neighbours, those of the first being nearest.
std::array<Split, 4> read_order(const JsonReader& json) {
  const std::map<std::string, Split> splits = {
      {"tp", Split::tensor}, {"cp", Split::context}, {"dp", Split::data}, {"pp", Split::pipeline}};
  std::vector<Split> order;
  std::set<std::string> named;
  std::istringstream names(json.as_string());
  for (std::string name; std::getline(names, name, '-');) {
    const auto found = splits.find(name);
    if ((found == splits.end() && name != "ep") || !named.insert(name).second)
      json.fail(json.shown() +
                " is no order of ranks: it must name each of tp, cp, ep, dp and pp "
                "once, as \"tp-cp-ep-dp-pp\" does");
    if (found != splits.end()) order.push_back(found->second);
  }
  if (named.size() != 5)
    json.fail(json.shown() +
              " is no order of ranks: it must name each of tp, cp, ep, dp and pp "
              "once, as \"tp-cp-ep-dp-pp\" does");
  return {order[0], order[1], order[2], order[3]};
}

// A key that only says something where ranks are split in this way.
std::optional<JsonReader> find_with(JsonReader& json, const char* key, const char* split,
                                    uint64_t degree) {
  auto found = json.find(key);
  if (found && degree == 1) found->fail(std::string("needs \"") + split + "\" above 1");
  return found;
}

// How many layers each chunk has: a word, or a list.
void read_stage_layers(const JsonReader& json, Layout& layout) {
  layout.stage_layers.clear();
  layout.ends_count = false;
  layout.uneven = false;
  if (json.is_string()) {
    const std::string word = json.as_one_of({"even", "ends_count", "uneven", "uneven_ends_count"});
    layout.ends_count = word.ends_with("ends_count");
    layout.uneven = word.starts_with("uneven");
    return;
  }
  for (const JsonReader& of_chunk : json.items())
    layout.stage_layers.push_back(count(of_chunk, 100'000));
  if (layout.stage_layers.size() != layout.pipeline * layout.virtual_stages)
    json.fail("has " + std::to_string(layout.stage_layers.size()) +
              " numbers of layers; it needs one for each of pipeline x virtual_stages (" +
              std::to_string(layout.pipeline) + " x " + std::to_string(layout.virtual_stages) +
              ')');
}

void read_pipeline(JsonReader& json, Layout& layout) {
  const bool is_new = json.find("pipeline").has_value();
  if (is_new) {
    layout.schedule = Schedule::one_f_one_b;
    layout.virtual_stages = 1;
    layout.stage_layers.clear();
    layout.ends_count = layout.uneven = false;
  }
  if (auto schedule = find_with(json, "schedule", "pipeline", layout.pipeline)) {
    const std::string name = schedule->as_one_of({"1f1b", "gpipe", "interleaved"});
    layout.schedule = name == "1f1b"    ? Schedule::one_f_one_b
                      : name == "gpipe" ? Schedule::gpipe
                                        : Schedule::interleaved;
  }
  auto chunks = json.find("virtual_stages");
  if (chunks) layout.virtual_stages = count(*chunks, 1000);
  const bool interleaved = layout.schedule == Schedule::interleaved;
  if (interleaved && layout.virtual_stages == 1)
    place_of(json, "schedule").fail("\"interleaved\" needs \"virtual_stages\" above 1");
  if (!interleaved && layout.virtual_stages > 1)
    place_of(json, "virtual_stages")
        .fail(std::to_string(layout.virtual_stages) +
              " chunks a stage need \"schedule\" to be \"interleaved\"");
  if (auto layers = find_with(json, "stage_layers", "pipeline", layout.pipeline))
    read_stage_layers(*layers, layout);
  set(find_with(json, "overlap_p2p", "pipeline", layout.pipeline), layout.overlap_p2p);
}

// Into how many parts the model, a sequence and the layers are split, and how.
void read_splits(JsonReader& json, Layout& layout) {
  for (const auto& [key, degree] : {std::pair{"tensor", &layout.tensor},
                                    {"context", &layout.context},
                                    {"pipeline", &layout.pipeline}})
    if (auto stated = json.find(key)) *degree = count(*stated, 1'000'000);
  if (auto expert = json.find("expert")) layout.expert = count(*expert, 1'000'000);
  if (json.find("tensor") || json.find("expert")) layout.expert_tensor = 0;
  if (auto split = find_with(json, "expert_tensor", "tensor", layout.tensor)) {
    layout.expert_tensor = count(*split, 1'000'000);
    if (layout.expert_tensor != 1 && layout.expert_tensor != layout.tensor)
      split->fail(split->shown() + " must be 1 or tensor (" + std::to_string(layout.tensor) + ')');
  }
  set(find_with(json, "overlap_expert", "expert", layout.expert), layout.overlap_expert);
  if (auto dispatch = find_with(json, "token_dispatch", "expert", layout.expert))
    layout.deduplicates_tokens =
        dispatch->as_one_of({"all_to_all", "deduplicated"}) == "deduplicated";
  if (auto order = json.find("order")) layout.order = read_order(*order);
  set(find_with(json, "sequence_parallel", "tensor", layout.tensor), layout.sequence_parallel);
  set(find_with(json, "overlap_tensor", "tensor", layout.tensor), layout.overlap_tensor);
  if (auto method = find_with(json, "context_method", "context", layout.context)) {
    const std::string name = method->as_one_of({"ring", "all_gather", "ulysses"});
    layout.context_method = name == "ring"         ? ContextMethod::ring
                            : name == "all_gather" ? ContextMethod::all_gather
                                                   : ContextMethod::ulysses;
  }
  read_pipeline(json, layout);
  auto scatter = find_with(json, "scatter_gather", "pipeline", layout.pipeline);
  set(scatter, layout.scatter_gather);
  if (scatter && layout.scatter_gather && (layout.tensor == 1 || layout.sequence_parallel))
    scatter->fail(
        "is for tensor parallelism without sequence parallelism, under which a rank has no more "
        "than its part to send");
}

void read_sharding(JsonReader& json, const Layout* base, Layout& layout) {
  if (auto stage = base == nullptr ? json.at("zero_stage") : json.find("zero_stage"))
    layout.zero_stage = static_cast<int>(stage->as_integer(0, 3));
  auto shard = json.find("shard");
  const bool hybrid_base =
      base != nullptr && base->zero_stage > 0 && base->shard < base->replicas();
  layout.shard = layout.zero_stage == 0 ? 1 : hybrid_base ? base->shard : layout.replicas();
  if (shard && layout.zero_stage == 0) shard->fail("DDP (zero_stage 0) shards nothing");
  if (shard) layout.shard = count(*shard);
  if (layout.replicas() % layout.shard != 0)
    (shard ? *shard : json)
        .fail("shard: " + std::to_string(layout.shard) + " does not divide data" +
              (layout.context > 1 ? " x context (" : " (") + std::to_string(layout.replicas()) +
              ")");
  auto reshard = json.find("reshard_after_forward");
  if (reshard && layout.zero_stage != 3)
    reshard->fail("only ZeRO-3 (zero_stage 3) gathers what it could reshard");
  set(reshard, layout.reshard_after_forward);
  auto shard_copy = json.find("low_precision_shard");
  if (shard_copy && layout.zero_stage != 3)
    shard_copy->fail("only ZeRO-3 (zero_stage 3) holds no more than a shard of the parameters");
  set(shard_copy, layout.low_precision_shard);
  if (auto prefetch = json.find("prefetch"))
    layout.prefetch = static_cast<uint64_t>(prefetch->as_integer(0, 1000));
  // DDP and ZeRO-1 keep whole gradients, so they wait for the last microbatch; ZeRO-2 and -3 do
  // not, but in a pipeline, where several microbatches are under way.
  if (base == nullptr || json.find("zero_stage"))
    layout.sync_every_microbatch = layout.zero_stage >= 2 && layout.pipeline == 1;
  if (layout.zero_stage == 2 && layout.pipeline > 1)
    place_of(json, "zero_stage")
        .fail("2 does not go with a pipeline (" + std::to_string(layout.pipeline) +
              "): each microbatch under way would reduce all gradients, which DeepSpeed refuses "
              "too; use 1 or 3");
  if (auto sync = json.find("gradient_sync")) {
    layout.sync_every_microbatch =
        sync->as_one_of({"every_microbatch", "last_microbatch"}) == "every_microbatch";
    if (layout.zero_stage == 2 && !layout.sync_every_microbatch)
      sync->fail("ZeRO-2 keeps only its shard of the gradients, so it reduces every microbatch");
  }
}

}  // namespace

Training read_training(JsonReader json, const Training* base) {
  Training training = base == nullptr ? Training{} : *base;
  const auto get = [&](const char* key) { return base == nullptr ? json.at(key) : json.find(key); };
  if (auto format = json.find("format")) format->as_one_of({"trnsim.recipe.v1"});
  json.find("name");
  json.find("source");
  if (auto length = get("sequence_length")) training.sequence_length = count(*length, 100'000'000);
  if (auto batch = get("global_batch")) training.global_batch = count(*batch);
  if (auto batch = get("micro_batch")) training.micro_batch = count(*batch, 1'000'000);
  if (auto precision = get("precision"))
    training.precision = precision->as_one_of({"bf16", "fp8", "mxfp8", "fp4"});
  if (auto gradient = json.find("gradient_precision"))
    training.gradient_precision = training.reduction_precision =
        gradient->as_one_of({"fp32", "bf16"});
  if (auto reduction = json.find("reduction_precision"))
    training.reduction_precision = reduction->as_one_of({"fp32", "bf16"});
  if (auto recompute = get("recompute")) {
    const std::string mode = recompute->as_one_of({"none", "selective", "full"});
    training.recompute_layers = Training::all_layers;
    training.recompute = mode == "none"   ? Recompute::none
                         : mode == "full" ? Recompute::full
                                          : Recompute::selective;
  }
  if (auto layers = json.find("recompute_layers")) {
    if (training.recompute == Recompute::none) layers->fail("\"recompute\" is \"none\"");
    training.recompute_layers = count(*layers, 100'000);
  }
  if (auto execution = json.find("execution"))
    training.execution =
        execution->as_one_of({"fused", "eager"}) == "eager" ? Execution::eager : Execution::fused;
  if (auto loss = json.find("loss"))
    training.loss = loss->as_one_of({"plain", "fused"}) == "fused" ? Loss::fused : Loss::plain;
  if (auto kernel = json.find("attention_kernel")) training.attention_kernel = kernel->as_string();
  if (auto parameters = json.find("parameter_precision"))
    training.parameter_precision = parameters->as_one_of({"bf16", "fp8"});
  if (auto software = json.find("software")) training.software = read_software(*software);
  if (auto imbalance = json.find("expert_imbalance"))
    training.expert_imbalance = imbalance->as_quantity(Unit::ratio, 1.0, 1000.0);
  if (auto optimizer = get("optimizer"))
    training.optimizer =
        optimizer->as_one_of({"adamw", "sgd"}) == "adamw" ? Optimizer::adamw : Optimizer::sgd;
  json.reject_unknown_keys();
  return training;
}

uint64_t Layout::degree(Split split) const {
  switch (split) {
    case Split::tensor:
      return tensor;
    case Split::context:
      return context;
    case Split::data:
      return data;
    case Split::pipeline:
      return pipeline;
  }
  throw std::logic_error("a split without a degree");
}

uint64_t Layout::stride(Split split) const {
  uint64_t stride = 1;
  for (const Split inner : order) {
    if (inner == split) break;
    stride *= degree(inner);
  }
  return stride;
}

void follow_chips(Layout& layout, uint64_t chips) {
  const bool over_all = layout.zero_stage > 0 && layout.shard == layout.replicas();
  layout.data = std::max<uint64_t>(1, chips / layout.model_ranks());
  if (over_all) layout.shard = layout.replicas();
}

Layout read_layout(JsonReader json, const Layout* base, std::optional<uint64_t> chips) {
  Layout layout = base == nullptr ? Layout{} : *base;
  read_splits(json, layout);
  if (auto data = chips ? json.find("data") : json.at("data"))
    layout.data = count(*data);
  else
    layout.data = std::max<uint64_t>(1, *chips / layout.model_ranks());
  read_sharding(json, base, layout);
  read_buckets(json, base, layout);
  if (auto order = json.find("bucket_order"))
    layout.dynamic_buckets = order->as_one_of({"static", "dynamic"}) == "dynamic";
  if (auto overlap = json.find("overlap"))
    layout.overlap_grad_reduce = layout.overlap_param_gather = overlap->as_bool();
  set(json.find("overlap_grad_reduce"), layout.overlap_grad_reduce);
  set(json.find("overlap_param_gather"), layout.overlap_param_gather);
  if (auto algorithm = json.find("algorithm")) {
    layout.best_algorithm = algorithm->is_string() && algorithm->as_string() == "best";
    if (!layout.best_algorithm) layout.algorithms = read_algorithms(*algorithm);
    layout.algorithms_of.clear();
  }
  if (auto differing = json.find("algorithm_of")) {
    layout.algorithms_of.clear();
    for (auto& [op, algorithm] : differing->members()) {
      const std::vector<std::string> ops{"all_gather", "reduce_scatter", "all_reduce"};
      if (std::find(ops.begin(), ops.end(), op) == ops.end())
        algorithm.fail("no collective of training has this name; write " + one_of(ops) +
                       did_you_mean(op, ops));
      layout.algorithms_of[op] = read_algorithms(algorithm);
    }
  }
  set(json.find("broadcast_parameters"), layout.broadcast_parameters);
  if (auto pieces = json.find("pieces"))
    layout.pieces = static_cast<uint32_t>(count(*pieces, 1024));
  if (auto streams = json.find("collective_streams"))
    layout.ordered = streams->as_one_of({"one", "by_kind"}) == "one";
  if (layout.pieces > 1 && !layout.ordered)
    json.fail("\"pieces\" above 1 need \"collective_streams\" to be \"one\"");
  json.reject_unknown_keys();
  return layout;
}

}  // namespace trnsim
