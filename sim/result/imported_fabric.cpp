#include "result/imported_fabric.h"

#include "base/error.h"

namespace trnsim {
namespace {

using Json = nlohmann::ordered_json;

// As a person writes it if that is the same number, else with all digits.
std::string exactly(double value, Unit unit) {
  std::string text = format_quantity(value, unit, 6);
  if (parse_quantity(text, unit) == value) return text;
  const std::string si = unit == Unit::bytes_per_second ? " B/s"
                         : unit == Unit::seconds        ? " s"
                                                        : "";
  return format_number(value, 17) + si;
}

Json assumed(const std::string& value, const std::string& low, const std::string& high) {
  return {{"value", value},
          {"source", "assumed: the imported file does not say"},
          {"range", {low, high}}};
}

// It multiplies somehow and sums for nothing, so that collectives show the network alone.
Json unknown_chip(const std::optional<double>& flops) {
  Json peak = assumed("1 PFLOP/s", "0.1 PFLOP/s", "10 PFLOP/s");
  if (flops)
    peak = {{"value", format_number(*flops, 17) + " FLOP/s"},
            {"source", "the speed of a host in the imported file"}};
  return {{"name", "unknown chip"},
          {"peak", {{"bf16", peak}}},
          {"hbm",
           {{"capacity", assumed("80 GB", "16 GB", "288 GB")},
            {"bandwidth", assumed("3 TB/s", "0.8 TB/s", "8 TB/s")},
            {"efficiency", assumed("0.85", "0.7", "0.95")}}},
          {"compute",
           {{"gemm_efficiency", assumed("0.7", "0.4", "0.9")},
            {"attention_efficiency", assumed("0.4", "0.2", "0.7")},
            {"op_overhead", assumed("0 s", "0 s", "10 us")}}},
          {"collectives",
           {{"tax", assumed("0", "0", "0.3")},
            {"reduction_rate", assumed("1 PB/s", "100 GB/s", "1 PB/s")},
            {"reduction_chunk", assumed("0 B", "0 B", "8 MB")}}}};
}

}  // namespace

void require_utf8(std::string_view text, const std::string& file) {
  try {
    Json(text).dump();
  } catch (const Json::type_error&) {
    throw InputError(file + ": is not valid UTF-8");
  }
}

Json sourced(double value, Unit unit, const std::string& source) {
  return {{"value", exactly(value, unit)}, {"source", source}};
}

const std::string& ImportedLevels::name(BytesPerSecond bandwidth, Seconds latency) {
  const auto [found, is_new] = names_.try_emplace({bandwidth, latency});
  if (!is_new) return found->second;
  found->second = format_quantity(bandwidth, Unit::bytes_per_second) + ", " +
                  format_quantity(latency, Unit::seconds);
  for (const auto& [of, name] : names_)
    if (&name != &found->second && name == found->second)
      found->second =
          exactly(bandwidth, Unit::bytes_per_second) + ", " + exactly(latency, Unit::seconds);
  levels_.push_back({{"name", found->second},
                     {"bandwidth", sourced(bandwidth, Unit::bytes_per_second, source_)},
                     {"efficiency", {{"value", 1}, {"source", source_ + "; taken as payload"}}},
                     {"latency", sourced(latency, Unit::seconds, source_)}});
  return found->second;
}

Json system_json(const ImportedFabric& imported, const std::optional<nlohmann::json>& chip) {
  Json system{{"format", "trnsim.system.v1"}, {"name", imported.name}};
  system["chip"] = chip ? Json(*chip) : unknown_chip(imported.flops);
  system.update(imported.fabric);
  system["prices"] = {{"on_demand", assumed("1 USD/h", "0 USD/h", "20 USD/h")}};
  system["power"] = {{"chip", assumed("700 W", "100 W", "2 kW")},
                     {"host", assumed("300 W", "0 W", "1 kW")},
                     {"pue", assumed("1.25", "1.05", "1.63")}};
  return system;
}

}  // namespace trnsim
