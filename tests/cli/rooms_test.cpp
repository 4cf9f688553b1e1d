// The rooms of sim/ and what they may include.

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "temporary_folder.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> rooms{"base",   "system", "workload", "plan",
                                     "engine", "result", "cli"};

size_t height(const std::string& room) {
  return static_cast<size_t>(std::find(rooms.begin(), rooms.end(), room) - rooms.begin());
}

struct Source {
  std::string name;  // "plan/plan.h"
  std::vector<std::string> lines;

  std::string room() const { return name.substr(0, name.find('/')); }
  /// What it includes, without quotes or angle brackets.
  std::vector<std::string> includes() const {
    std::vector<std::string> found;
    for (const std::string& line : lines) {
      if (line.rfind("#include", 0) != 0) continue;
      const size_t open = line.find_first_of("\"<");
      found.push_back(line.substr(open + 1, line.find_last_of("\">") - open - 1));
    }
    return found;
  }
};

std::vector<Source> sources() {
  const fs::path root = fs::path(TRNSIM_SOURCE_DIR) / "sim";
  std::vector<Source> all;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    Source source{entry.path().lexically_relative(root).generic_string(), {}};
    std::istringstream text(test::read_text(entry.path()));
    for (std::string line; std::getline(text, line);) source.lines.push_back(line);
    all.push_back(std::move(source));
  }
  return all;
}

TEST(Rooms, IncludeOnlyWhatStandsAboveThem) {
  ASSERT_GT(sources().size(), 30);
  for (const Source& source : sources()) {
    ASSERT_LT(height(source.room()), rooms.size()) << source.name << " is in no known room";
    for (const std::string& included : source.includes())
      EXPECT_TRUE(height(included.substr(0, included.find('/'))) <= height(source.room()) ||
                  height(included.substr(0, included.find('/'))) == rooms.size())
          << source.name << " includes " << included;
  }
}

// An include without a folder would be found beside the file and escape the test above.
TEST(Rooms, NameTheFolderOfWhatTheyInclude) {
  for (const Source& source : sources())
    for (const std::string& included : source.includes())
      EXPECT_TRUE(!included.ends_with(".h") || included.find('/') != std::string::npos ||
                  fs::exists("/usr/include/" + included))
          << source.name << " includes " << included;
}

TEST(Rooms, OnlyTheEngineKnowsSimGrid) {
  for (const Source& source : sources())
    for (const std::string& included : source.includes())
      EXPECT_TRUE(source.room() == "engine" ||
                  (included.rfind("simgrid", 0) != 0 && included.rfind("xbt", 0) != 0))
          << source.name << " includes " << included;
}

TEST(Rooms, HaveNoFileOfMoreThan400Lines) {
  for (const Source& source : sources()) EXPECT_LE(source.lines.size(), 400) << source.name;
}

}  // namespace
}  // namespace trnsim
