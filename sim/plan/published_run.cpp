#include "plan/published_run.h"

#include <set>

#include "base/json_reader.h"

namespace trnsim {
namespace {

const std::vector<const char*> texts = {"framework",  "notes",     "model",      "arch_basis",
                                        "task",       "precision", "locator",    "sharding",
                                        "recompute",  "network",   "peak_basis", "fabric",
                                        "dispatcher", "release",   "execution"};
const std::vector<const char*> counts = {"year",        "layers",
                                         "hidden",      "heads",
                                         "kv_heads",    "head_dim",
                                         "ffn",         "vocab",
                                         "seq_len",     "gbs",
                                         "mbs",         "grad_accum",
                                         "dp",          "tp",
                                         "pp",          "vpp",
                                         "cp",          "ep",
                                         "experts",     "topk",
                                         "moe_ffn",     "accel_per_node",
                                         "n_nodes",     "domain_size",
                                         "peak_tflops", "power_limit_w"};
// Those that may be 0.
const std::vector<const char*> levels = {"zero_stage", "dense_layers", "shared_experts"};
const std::vector<const char*> flags = {"gated_mlp", "mla", "sp", "nic_stated", "ep_overlap"};
const std::vector<const char*> amounts = {"params_b",
                                          "active_params_b",
                                          "nic_gbps_per_accel",
                                          "hbm_gb",
                                          "flops_per_token_causal_attn",
                                          "flops_per_token_full_attn"};
const std::vector<const char*> measured_amounts = {"step_time_s",
                                                   "derived_step_time_s",
                                                   "tokens_per_s",
                                                   "tokens_per_s_per_accel",
                                                   "samples_per_s",
                                                   "derived_tokens_per_s_per_accel",
                                                   "mfu",
                                                   "hfu",
                                                   "tflops_per_accel",
                                                   "time_to_train_min"};
const std::vector<const char*> measured_texts = {"step_time_basis", "tflops_kind", "consistency"};

constexpr int64_t largest_count = 1'000'000'000;
constexpr double largest_amount = 1e30;

// The step in seconds by whichever of its measures the source states first in this order.
std::optional<Seconds> measured_step(JsonReader& row) {
  const auto amount = [&](const char* key) -> std::optional<double> {
    auto found = row.find(key);
    if (!found) return std::nullopt;
    return found->as_quantity(Unit::ratio, 1e-12, largest_amount);
  };
  for (const char* key : {"step_time_s", "derived_step_time_s"})
    if (const auto time = amount(key)) return time;
  auto batch = row.find("gbs");
  if (!batch) return std::nullopt;
  const auto sequences = static_cast<double>(batch->as_integer(1, largest_count));
  if (const auto rate = amount("samples_per_s")) return sequences / *rate;
  const auto rate = amount("tokens_per_s");
  auto length = row.find("seq_len");
  if (!rate || !length) return std::nullopt;
  return sequences * static_cast<double>(length->as_integer(1, largest_count)) / *rate;
}

PublishedRun read_run_row(JsonReader row) {
  PublishedRun run;
  run.id = row.at("id").as_string();
  run.source = row.at("source").as_string();
  run.accelerator = row.at("accelerator").as_string();
  run.accelerators = static_cast<uint64_t>(row.at("n_accel").as_integer(1, largest_count));
  nlohmann::json& stated = run.configuration;
  stated = {
      {"source", run.source}, {"accelerator", run.accelerator}, {"n_accel", run.accelerators}};
  for (const char* key : texts)
    if (auto found = row.find(key)) stated[key] = found->as_string();
  for (const char* key : counts)
    if (auto found = row.find(key)) stated[key] = found->as_integer(1, largest_count);
  for (const char* key : levels)
    if (auto found = row.find(key)) stated[key] = found->as_integer(0, largest_count);
  for (const char* key : flags)
    if (auto found = row.find(key)) stated[key] = found->as_bool();
  for (const char* key : amounts)
    if (auto found = row.find(key))
      stated[key] = found->as_quantity(Unit::ratio, 0, largest_amount);
  for (const char* key : measured_amounts)
    if (auto found = row.find(key)) found->as_quantity(Unit::ratio, 0, largest_amount);
  for (const char* key : measured_texts)
    if (auto found = row.find(key)) found->as_string();
  run.measured = measured_step(row);
  row.reject_unknown_keys();
  return run;
}

}  // namespace

std::vector<PublishedRun> load_published_runs(const std::filesystem::path& file) {
  const Document document = Document::load_list(file);
  std::vector<PublishedRun> runs;
  std::set<std::string> ids;
  for (JsonReader& row : JsonReader(document).items()) {
    runs.push_back(read_run_row(row));
    if (!ids.insert(runs.back().id).second)
      row.at("id").fail('"' + runs.back().id + "\" names two runs");
  }
  if (runs.empty()) JsonReader(document).fail("holds no run");
  return runs;
}

}  // namespace trnsim
