#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"

namespace trnsim {

/// What a file of another simulator says about a network.
struct ImportedFabric {
  std::string name;
  nlohmann::ordered_json fabric;      // the members of a system file that describe its network
  std::optional<double> flops;        // FLOP/s of a chip, if the file states one for all
  std::vector<std::string> left_out;  // what a system file cannot say
};

/// A platform of SimGrid (XML, version 4 or 4.1; SimGrid 3.32, user guide, "Platforms"): zones with
/// explicit routes (Full, Floyd, Dijkstra) inside each other, hosts, routers, links. All routes are
/// listed. `text` is what is in `file`. Throws InputError, as the others do.
ImportedFabric import_simgrid(std::string_view text, const std::string& file);

/// A network of ASTRA-sim's analytical backend (network.yml). Its GB/s are 2^30 bytes, its
/// latencies ns of one link, of which a way through a switch has two (astra-network-analytical).
ImportedFabric import_astra(std::string_view text, const std::string& file);

/// A topology of SimAI's simulation backend: a line of counts, one of the switches' numbers, then a
/// line for each cable. Only switches forward.
ImportedFabric import_simai(std::string_view text, const std::string& file);

/// The "trnsim.system.v1" object of it with this chip; without one, with a chip of which all that
/// the file does not state is assumed. Prices and power are assumed.
nlohmann::ordered_json system_json(const ImportedFabric& imported,
                                   const std::optional<nlohmann::json>& chip);

/// Throws InputError if the text of a file is not UTF-8, which JSON is.
void require_utf8(std::string_view text, const std::string& file);

/// A sourced number as files write it, read back as exactly this value.
nlohmann::ordered_json sourced(double value, Unit unit, const std::string& source);

/// The levels of a graph: one for each pair of bandwidth and latency, in order of appearance.
class ImportedLevels {
 public:
  explicit ImportedLevels(std::string source) : source_(std::move(source)) {}
  /// The name of the level of such links: "100 GB/s, 1 us".
  const std::string& name(BytesPerSecond bandwidth, Seconds latency);
  const nlohmann::ordered_json& json() const { return levels_; }

 private:
  std::string source_;
  std::map<std::pair<BytesPerSecond, Seconds>, std::string> names_;
  nlohmann::ordered_json levels_ = nlohmann::ordered_json::array();
};

}  // namespace trnsim
