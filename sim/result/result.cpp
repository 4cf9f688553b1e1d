#include "result/result.h"

namespace trnsim {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* format = "trnsim.result.v1";

double number(const JsonReader& json) {
  return json.as_quantity(Unit::ratio, std::numeric_limits<double>::lowest(),
                          std::numeric_limits<double>::max());
}

uint64_t whole(const JsonReader& json) {
  return static_cast<uint64_t>(json.as_integer(0, INT64_MAX));
}

Json breakdown_json(const Breakdown& breakdown) {
  return {{"compute", breakdown.compute},
          {"exposed_communication", breakdown.exposed_communication},
          {"bubble", breakdown.bubble},
          {"optimizer", breakdown.optimizer},
          {"other", breakdown.other}};
}

Json memory_json(const RunResult& run) {
  Json parts = Json::array();
  for (const MemoryPart& part : run.memory_parts)
    parts.push_back({{"name", part.name}, {"bytes", part.bytes}});
  return {{"per_chip_bytes", total(run.memory_parts)},
          {"capacity_bytes", run.memory_capacity},
          {"fits", run.fits},
          {"peak_bytes", run.fits ? Json(run.peak_bytes) : Json(nullptr)},
          {"stages", run.stages},
          {"stage", run.fullest_stage},
          {"parts", parts}};
}

// A figure of a step that was simulated, or null.
Json figure(const RunResult& run, double value) { return run.fits ? Json(value) : Json(nullptr); }

Json cost_json(const RunResult& run) {
  const PriceResult& price = run.price;
  return {{"purchase", price.purchase},
          {"usd_per_hour", price.usd_per_hour},
          {"usd_per_hour_range", {price.low, price.high}},
          {"usd_per_million_tokens",
           figure(run, run.fits ? run.usd_per_million_tokens(price.usd_per_hour) : 0)}};
}

Json collectives_json(const RunResult& run) {
  Json all = Json::array();
  for (const CollectiveResult& of : run.collectives)
    all.push_back({{"op", of.op},
                   {"what", of.what},
                   {"group", of.group},
                   {"algorithm", of.algorithm},
                   {"ranks", of.ranks},
                   {"size_bytes", of.bytes},
                   {"sent_bytes_per_rank", of.sent_per_rank},
                   {"count", of.count},
                   {"time_s", of.time},
                   {"bound_s", of.bound},
                   {"algbw_bytes_per_s", of.algorithm_bandwidth},
                   {"busbw_bytes_per_s", of.bus_bandwidth},
                   {"exposed_s", of.exposed},
                   {"hidden_s", of.hidden}});
  return all;
}

Json levels_json(const RunResult& run) {
  Json all = Json::array();
  for (const LevelResult& level : run.levels)
    all.push_back(
        {{"level", level.name}, {"exposed_s", level.exposed}, {"hidden_s", level.hidden}});
  return all;
}

Json comparison_json(const RunResult& own, const RunResult& other, const Comparison& comparison) {
  const bool both = own.fits && other.fits;
  const auto ratio = [&](double value) { return both ? Json(value) : Json(nullptr); };
  Json reasons = Json::array();
  for (const Reason& reason : comparison.reasons)
    reasons.push_back({{"property", reason.property},
                       {"step_time_s", reason.step_time},
                       {"change_s", reason.change}});
  return {{"system", other.system},
          {"ratio_reached", comparison.ratio_reached},
          {"chips_ratio", static_cast<double>(other.chips) / own.chips},
          {"tokens_per_s_ratio", ratio(both ? other.tokens_per_s() / own.tokens_per_s() : 0)},
          {"usd_per_million_tokens_ratio",
           ratio(both ? other.usd_per_million_tokens(other.price.usd_per_hour) /
                            own.usd_per_million_tokens(own.price.usd_per_hour)
                      : 0)},
          {"kwh_per_million_tokens_ratio",
           ratio(both ? other.kwh_per_million_tokens() / own.kwh_per_million_tokens() : 0)},
          {"reasons", reasons}};
}

Comparison read_comparison(JsonReader json) {
  Comparison comparison;
  comparison.system = json.at("system").as_string();
  comparison.ratio_reached = number(json.at("ratio_reached"));
  for (JsonReader reason : json.at("reasons").items())
    comparison.reasons.push_back({reason.at("property").as_string(),
                                  number(reason.at("step_time_s")), number(reason.at("change_s"))});
  return comparison;
}

Json links_json(const RunResult& run) {
  Json all = Json::array();
  for (const LinkResult& link : run.links)
    all.push_back({{"level", link.level},
                   {"links", link.count},
                   {"capacity_bytes_per_s", link.capacity},
                   {"busiest_bytes", link.busiest_bytes},
                   {"utilisation", link.utilisation}});
  return all;
}

Json engine_json(const RunResult& run) {
  const EngineResult& engine = run.engine;
  return {{"fidelity", engine.fidelity},
          {"approximate", engine.fidelity != "message"},
          {"folded", engine.folded},
          {"method", engine.method},
          {"ranks", engine.ranks},
          {"classes", engine.classes},
          {"messages", engine.messages},
          {"represented_messages", engine.represented_messages},
          {"wall_s", engine.wall_s},
          {"peak_rss_bytes", engine.peak_rss_bytes},
          {"step_at_least_s", engine.step_at_least},
          {"simgrid", engine.simgrid}};
}

// Readers. What they read was written above, or by an earlier version of it.

Breakdown read_breakdown(JsonReader json) {
  return {number(json.at("compute")), number(json.at("exposed_communication")),
          number(json.at("bubble")), number(json.at("optimizer")), number(json.at("other"))};
}

CollectiveResult read_collective(JsonReader json) {
  return {json.at("op").as_string(),
          json.at("what").as_string(),
          json.at("group").as_string(),
          json.at("algorithm").as_string(),
          static_cast<Rank>(whole(json.at("ranks"))),
          whole(json.at("size_bytes")),
          whole(json.at("sent_bytes_per_rank")),
          whole(json.at("count")),
          number(json.at("time_s")),
          number(json.at("bound_s")),
          number(json.at("algbw_bytes_per_s")),
          number(json.at("busbw_bytes_per_s")),
          number(json.at("exposed_s")),
          number(json.at("hidden_s"))};
}

LinkResult read_link(JsonReader json) {
  return {json.at("level").as_string(), static_cast<Link>(whole(json.at("links"))),
          number(json.at("capacity_bytes_per_s")), whole(json.at("busiest_bytes")),
          number(json.at("utilisation"))};
}

SimgridSettings read_settings(std::optional<JsonReader> json) {
  SimgridSettings settings;
  if (json)
    for (auto& [key, value] : json->members()) settings[key] = value.as_string();
  return settings;
}

EngineResult read_engine(JsonReader json) {
  return {json.at("fidelity").as_string(),
          json.at("folded").as_bool(),
          json.at("method").as_string(),
          static_cast<Rank>(whole(json.at("ranks"))),
          static_cast<uint32_t>(whole(json.at("classes"))),
          whole(json.at("messages")),
          whole(json.at("represented_messages")),
          number(json.at("wall_s")),
          whole(json.at("peak_rss_bytes")),
          number(json.at("step_at_least_s")),
          read_settings(json.find("simgrid"))};
}

Json quantiles_json(const Quantiles& of) {
  return {{"p10", of.p10}, {"p50", of.p50}, {"p90", of.p90}};
}

Json uncertainty_json(const Uncertainty& of) {
  Json influences = Json::array();
  for (const Influence& one : of.influences)
    influences.push_back({{"what", one.what},
                          {"value", one.value},
                          {"low", one.low},
                          {"high", one.high},
                          {"step_time_at_low_s", one.step_at_low},
                          {"step_time_at_high_s", one.step_at_high}});
  return {{"samples", of.samples},
          {"seed", of.seed},
          {"model_error", of.model_error},
          {"step_time_s", quantiles_json(of.step_time)},
          {"exposed_communication_s", quantiles_json(of.exposed_communication)},
          {"usd_per_million_tokens", quantiles_json(of.usd_per_million_tokens)},
          {"influences", influences}};
}

Quantiles read_quantiles(JsonReader json) {
  return {number(json.at("p10")), number(json.at("p50")), number(json.at("p90"))};
}

Uncertainty read_uncertainty(JsonReader json) {
  Uncertainty of{whole(json.at("samples")),
                 whole(json.at("seed")),
                 number(json.at("model_error")),
                 read_quantiles(json.at("step_time_s")),
                 read_quantiles(json.at("exposed_communication_s")),
                 read_quantiles(json.at("usd_per_million_tokens")),
                 {}};
  for (JsonReader one : json.at("influences").items())
    of.influences.push_back({one.at("what").as_string(), one.at("value").as_string(),
                             one.at("low").as_string(), one.at("high").as_string(),
                             number(one.at("step_time_at_low_s")),
                             number(one.at("step_time_at_high_s"))});
  return of;
}

}  // namespace

Json to_json(const RunResult& run) {
  Json assumptions = Json::array();
  for (const Assumption& of : run.assumptions)
    assumptions.push_back({{"what", of.what}, {"value", of.value}, {"source", of.source}});
  const bool fits = run.fits;
  const double tokens = fits ? run.tokens_per_s() : 0;
  Json made = {
      {"system", run.system},
      {"layout", run.layout},
      {"chips", run.chips},
      {"tokens_per_step", run.tokens_per_step},
      {"step_time_s", figure(run, run.step_time)},
      {"breakdown_s", fits ? breakdown_json(run.breakdown) : Json(nullptr)},
      {"communication_s", figure(run, run.communication)},
      {"overlapped_communication_s", figure(run, run.overlapped)},
      {"communication_overhead", figure(run, fits ? run.communication_overhead() : 0)},
      {"tokens_per_s", figure(run, tokens)},
      {"tokens_per_s_per_chip", figure(run, tokens / run.chips)},
      {"model_tflops_per_s_per_chip",
       figure(run, fits ? run.model_flops_per_chip / run.step_time / 1e12 : 0)},
      {"mfu", figure(run, fits ? run.mfu() : 0)},
      {"hfu", figure(run, fits ? run.hfu() : 0)},
      {"compute_bound_s", run.compute_bound},
      {"model_flops_per_chip", run.model_flops_per_chip},
      {"hardware_flops_per_chip", run.hardware_flops_per_chip},
      {"peak_flops_per_s", run.peak_flops},
      {"memory", memory_json(run)},
      {"cost", cost_json(run)},
      {"energy",
       {{"watts", run.watts},
        {"kwh_per_million_tokens", figure(run, fits ? run.kwh_per_million_tokens() : 0)}}},
      {"collectives", collectives_json(run)},
      {"links", links_json(run)},
      {"communication_by_level", levels_json(run)},
      {"free_communication_step_time_s", figure(run, run.free_communication)},
      {"engine", engine_json(run)},
      {"assumptions", assumptions},
  };
  if (run.uncertainty) made["uncertainty"] = uncertainty_json(*run.uncertainty);
  return made;
}

RunResult read_run(JsonReader json) {
  RunResult run;
  run.system = json.at("system").as_string();
  run.layout = json.at("layout").as_string();
  run.chips = static_cast<Rank>(json.at("chips").as_integer(1, UINT32_MAX));
  run.tokens_per_step = whole(json.at("tokens_per_step"));
  JsonReader memory = json.at("memory");
  run.fits = memory.at("fits").as_bool();
  run.memory_capacity = whole(memory.at("capacity_bytes"));
  if (auto stages = memory.find("stages")) run.stages = whole(*stages);
  if (auto stage = memory.find("stage")) run.fullest_stage = whole(*stage);
  for (JsonReader part : memory.at("parts").items())
    run.memory_parts.push_back({part.at("name").as_string(), whole(part.at("bytes"))});
  if (run.fits) {
    run.peak_bytes = whole(memory.at("peak_bytes"));
    run.step_time = json.at("step_time_s").as_quantity(Unit::ratio);
    run.breakdown = read_breakdown(json.at("breakdown_s"));
    run.communication = number(json.at("communication_s"));
    run.overlapped = number(json.at("overlapped_communication_s"));
    run.free_communication = number(json.at("free_communication_step_time_s"));
  }
  run.compute_bound = number(json.at("compute_bound_s"));
  run.model_flops_per_chip = number(json.at("model_flops_per_chip"));
  run.hardware_flops_per_chip = number(json.at("hardware_flops_per_chip"));
  run.peak_flops = number(json.at("peak_flops_per_s"));
  JsonReader cost = json.at("cost");
  const std::vector<JsonReader> range = cost.at("usd_per_hour_range").items();
  if (range.size() != 2) cost.fail("\"usd_per_hour_range\" must be [lowest, highest]");
  run.price = {cost.at("purchase").as_string(), number(cost.at("usd_per_hour")), number(range[0]),
               number(range[1])};
  run.watts = number(json.at("energy").at("watts"));
  for (const JsonReader& of : json.at("collectives").items())
    run.collectives.push_back(read_collective(of));
  for (const JsonReader& link : json.at("links").items()) run.links.push_back(read_link(link));
  for (JsonReader level : json.at("communication_by_level").items())
    run.levels.push_back({level.at("level").as_string(), number(level.at("exposed_s")),
                          number(level.at("hidden_s"))});
  run.engine = read_engine(json.at("engine"));
  for (JsonReader of : json.at("assumptions").items())
    run.assumptions.push_back(
        {of.at("what").as_string(), of.at("value").as_string(), of.at("source").as_string()});
  if (auto uncertainty = json.find("uncertainty")) run.uncertainty = read_uncertainty(*uncertainty);
  return run;
}

Json to_json(const ScenarioResult& result) {
  Json runs = Json::array();
  for (const RunResult& run : result.runs) runs.push_back(to_json(run));
  // Ratios of each compared system to the scenario's own: above 1 is more.
  Json comparison = Json::array();
  for (size_t i = 1; i < result.runs.size(); ++i)
    comparison.push_back(
        comparison_json(result.runs.front(), result.runs[i], result.comparisons.at(i - 1)));
  return {{"format", format},          {"scenario", result.name},         {"title", result.title},
          {"version", result.version}, {"compare_at", result.compare_at}, {"runs", runs},
          {"comparison", comparison}};
}

ScenarioResult read_result(const Document& document) {
  JsonReader json(document);
  json.at("format").as_one_of({format});
  ScenarioResult result;
  result.name = json.at("scenario").as_string();
  result.title = json.at("title").as_string();
  result.version = json.at("version").as_string();
  result.compare_at = json.at("compare_at").as_string();
  JsonReader runs = json.at("runs");
  for (const JsonReader& run : runs.items()) result.runs.push_back(read_run(run));
  if (result.runs.empty()) runs.fail("is empty; a result has at least one run");
  JsonReader comparison = json.at("comparison");
  for (const JsonReader& of : comparison.items()) result.comparisons.push_back(read_comparison(of));
  if (result.comparisons.size() + 1 != result.runs.size())
    comparison.fail("must have one entry for each run but the first");
  return result;
}

}  // namespace trnsim
