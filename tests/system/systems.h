#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "system/system.h"

namespace trnsim::test {

inline std::filesystem::path topologies() {
  return std::filesystem::path(TRNSIM_SOURCE_DIR) / "topologies";
}

/// The system files of this repository, without their folder.
inline std::vector<std::string> system_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(topologies()))
    if (entry.path().extension() == ".json") files.push_back(entry.path().filename().string());
  std::sort(files.begin(), files.end());
  return files;
}

inline System load_system(const std::string& file, Rank units) {
  const Document document = Document::load(topologies() / file, {});
  System system = read_system(JsonReader(document));
  system.units = units;
  return system;
}

/// A system of which only the network is described: links of 10 GB/s and 1 us without losses, one
/// NIC of 4 GB/s and 20 us for two chips (or another number), 3 us for each layer of switches.
inline System bare_system(const std::string& dimensions, const std::string& layers, int units,
                          int chips_per_nic = 2) {
  const auto number = [](const std::string& value) {
    return R"({"value": )" + value + R"(, "source": "a test"})";
  };
  const std::string link = R"("bandwidth": )" + number(R"("10 GB/s")") + R"(, "latency": )" +
                           number(R"("1 us")") + R"(, "efficiency": )" + number("1");
  std::string text = R"({"name": "bare", "units": )" + std::to_string(units) +
                     R"(, "chip": {"file": "chips/h100.json"},
      "scale_up": {"name": "links", "dimensions": )" +
                     dimensions + R"(},
      "scale_out": {"name": "net", "nic": {"chips": )" +
                     std::to_string(chips_per_nic) + R"(, "bandwidth": )" + number(R"("4 GB/s")") +
                     R"(, "efficiency": )" + number("1") + R"(, "latency": )" +
                     number(R"("20 us")") + R"(}, "hop_latency": )" + number(R"("3 us")") +
                     R"(, "layers": )" + layers + R"(},
      "prices": {"spot": )" +
                     number(R"("1 USD/h")") + R"(}, "power": {"chip": )" + number(R"("1 W")") +
                     R"(, "host": )" + number(R"("1 W")") + R"(, "pue": )" + number("1") + "}}";
  for (size_t at = text.find("LINK"); at != std::string::npos; at = text.find("LINK"))
    text.replace(at, 4, link);
  const Document document = Document::parse(text, "bare.json", topologies(), {});
  return read_system(JsonReader(document));
}

}  // namespace trnsim::test
