#pragma once

// Small fabrics for tests, and the lines of chips in them.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "system/systems.h"

namespace trnsim::test {

/// A dimension for bare_system.
inline std::string dimension(const std::string& name, const std::string& kind, int size) {
  return R"({"name": ")" + name + R"(", "kind": ")" + kind + R"(", "size": )" +
         std::to_string(size) + ", LINK}";
}

/// A layer of switches for bare_system.
inline std::string layer(const std::string& name, int units, int oversubscription) {
  return R"({"name": ")" + name + R"(", "units": )" + std::to_string(units) +
         R"(, "oversubscription": {"value": )" + std::to_string(oversubscription) +
         R"(, "source": "a test"}})";
}

struct Clos {
  std::string layers;
  int units;
};

/// Units of 4 chips that share 2 NICs of 4 GB/s, below such layers.
inline System four_chips_a_unit(const Clos& clos) {
  return bare_system('[' + dimension("s", "switch", 4) + ']', clos.layers, clos.units);
}

/// Chips that differ in one coordinate alone.
struct Line {
  size_t dimension;
  std::vector<size_t> chips;
};

inline std::vector<Line> lines_of(const System& system) {
  std::map<std::pair<size_t, size_t>, Line> lines;
  const size_t chips = system.chips_per_unit();
  size_t stride = 1;
  for (size_t i = 0; i < system.scale_up.size(); ++i) {
    const size_t size = system.scale_up[i].size;
    for (size_t chip = 0; chip < chips; ++chip) {
      Line& line = lines[{i, chip - chip / stride % size * stride}];
      line.dimension = i;
      line.chips.push_back(chip);
    }
    stride *= size;
  }
  std::vector<Line> all;
  for (auto& [key, line] : lines) all.push_back(line);
  return all;
}

/// Whether one hop leads from one place of a line of `size` chips to another.
inline bool joined(FabricDimension::Kind kind, size_t one, size_t other, size_t size) {
  return one != other && (kind != FabricDimension::Kind::ring || (one + 1) % size == other ||
                          (other + 1) % size == one);
}

}  // namespace trnsim::test
