#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "result/imported_fabric.h"

namespace trnsim {
namespace {

using Json = nlohmann::ordered_json;

constexpr double gib = 1024.0 * 1024.0 * 1024.0;
constexpr size_t most_dimensions = 16;

class AstraReader {
 public:
  explicit AstraReader(const std::string& file) : file_(file) {}

  ImportedFabric read(const std::string& text) {
    try {
      root_ = YAML::Load(text);
    } catch (const YAML::Exception& error) {
      throw InputError(file_ + ": line " + std::to_string(error.mark.line + 1) + ": " + error.msg);
    }
    if (!root_.IsMap())
      fail(root_, "", "must be a map with topology, npus_count, bandwidth, latency");
    const std::vector<YAML::Node> kinds = list("topology");
    if (kinds.size() > most_dimensions)
      fail(root_, "topology", "has more than " + std::to_string(most_dimensions) + " dimensions");
    const std::vector<YAML::Node> sizes = list("npus_count", kinds.size());
    const std::vector<YAML::Node> bandwidths = list("bandwidth", kinds.size());
    const std::vector<YAML::Node> latencies = list("latency", kinds.size());
    Json dimensions = Json::array();
    for (size_t i = 0; i < kinds.size(); ++i)
      dimensions.push_back(dimension(i, kinds[i], number(sizes[i], "npus_count"),
                                     number(bandwidths[i], "bandwidth"),
                                     number(latencies[i], "latency")));
    ImportedFabric made;
    made.name = "ASTRA-sim network";
    made.fabric["scale_up"] = {{"name", "ASTRA-sim network"}, {"dimensions", dimensions}};
    made.fabric["scale_out"] = no_scale_out();
    for (const auto& member : root_) {
      const std::string key = member.first.IsScalar() ? member.first.Scalar() : "?";
      if (std::find(known_.begin(), known_.end(), key) == known_.end())
        made.left_out.push_back("the key \"" + key + '"');
    }
    return made;
  }

 private:
  [[noreturn]] void fail(const YAML::Node& at, const std::string& key,
                         const std::string& rule) const {
    const int line = at.Mark().is_null() ? 1 : at.Mark().line + 1;
    throw InputError(file_ + ": line " + std::to_string(line) + ": " +
                     (key.empty() ? "" : key + ": ") + rule);
  }

  std::vector<YAML::Node> list(const std::string& key, size_t size = 0) {
    const YAML::Node& root = root_;
    const YAML::Node value = root[key];
    if (!value) fail(root_, key, "is missing");
    if (!value.IsSequence() || value.size() == 0) fail(value, key, "must be a list");
    if (size > 0 && value.size() != size)
      fail(value, key,
           "has " + std::to_string(value.size()) + " values; the dimensions are " +
               std::to_string(size));
    return {value.begin(), value.end()};
  }

  double number(const YAML::Node& value, const std::string& key) const {
    double read = 0;
    if (!value.IsScalar() || !YAML::convert<double>::decode(value, read))
      fail(value, key, "must be numbers");
    return read;
  }

  Json dimension(size_t index, const YAML::Node& kind, double size, double bandwidth,
                 double latency) const {
    static const std::vector<std::string> kinds{"Ring", "FullyConnected", "Switch"};
    const std::string name = kind.IsScalar() ? kind.Scalar() : "";
    if (std::find(kinds.begin(), kinds.end(), name) == kinds.end())
      fail(kind, "topology",
           '"' + name + "\" must be " + one_of(kinds) + did_you_mean(name, kinds));
    const bool ring = name == "Ring";
    const bool through_switch = name == "Switch";
    if (!(size >= 1 && size <= 65536) || size != static_cast<int>(size))
      fail(kind, "npus_count", "must be whole numbers from 1 to 65536");
    if (!(bandwidth > 0 && bandwidth <= 1e9)) fail(kind, "bandwidth", "must be above 0, in GB/s");
    if (!(latency >= 0 && latency <= 1e12)) fail(kind, "latency", "must be at least 0, in ns");
    const std::string source = "imported from " + file_;
    return {
        {"name", "dimension " + std::to_string(index + 1)},
        {"kind", ring             ? "ring"
                 : through_switch ? "switch"
                                  : "mesh"},
        {"size", static_cast<int>(size)},
        {"bandwidth",
         sourced(bandwidth * gib, Unit::bytes_per_second, source + "; its GB/s are 2^30 bytes")},
        {"efficiency", {{"value", 1}, {"source", source + "; taken as payload"}}},
        {"latency", sourced((through_switch ? 2 : 1) * latency * 1e-9, Unit::seconds,
                            source + (through_switch ? ", into the switch and out of it" : ""))}};
  }

  static Json no_scale_out() {
    const Json rate{{"value", "1 GB/s"},
                    {"source", "assumed: the imported file has one unit, so nothing uses this"},
                    {"range", {"1 GB/s", "1 GB/s"}}};
    Json time = rate;
    time["value"] = "0 s";
    time["range"] = {"0 s", "0 s"};
    return {{"name", "none"},
            {"nic",
             {{"chips", 1},
              {"bandwidth", rate},
              {"efficiency", {{"value", 1}, {"source", rate["source"]}, {"range", {1, 1}}}},
              {"latency", time}}},
            {"hop_latency", time},
            {"layers", Json::array()}};
  }

  std::string file_;
  YAML::Node root_;
  const std::vector<std::string> known_{"topology", "npus_count", "bandwidth", "latency"};
};

}  // namespace

ImportedFabric import_astra(std::string_view text, const std::string& file) {
  require_utf8(text, file);
  return AstraReader(file).read(std::string(text));
}

}  // namespace trnsim
