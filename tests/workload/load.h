#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "workload/architecture.h"

namespace trnsim::test {

/// A file of workloads/, with values changed.
inline Architecture load_workload(const std::string& file,
                                  const std::vector<Override>& overrides = {}) {
  const auto path = std::filesystem::path(TRNSIM_SOURCE_DIR) / "workloads" / file;
  const Document document = Document::load(path, overrides);
  return read_architecture(JsonReader(document));
}

/// The names of all files of workloads/, in alphabetical order.
inline std::vector<std::string> all_workloads() {
  std::vector<std::string> files;
  const auto folder = std::filesystem::path(TRNSIM_SOURCE_DIR) / "workloads";
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path().filename());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace trnsim::test
