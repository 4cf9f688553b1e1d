// The examples in README.md and docs/ are right.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/command.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;

const fs::path root = TRNSIM_SOURCE_DIR;

std::vector<fs::path> documents() {
  std::vector<fs::path> all;
  if (fs::exists(root / "README.md")) all.push_back(root / "README.md");
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") all.push_back(entry.path());
  return all;
}

// What stands between ```json and ```.
std::vector<std::string> examples(const fs::path& document) {
  std::vector<std::string> all;
  bool inside = false;
  std::istringstream text(test::read_text(document));
  for (std::string line; std::getline(text, line);) {
    if (inside && line == "```") inside = false;
    if (inside) all.back() += line + '\n';
    if (line == "```json") {
      inside = true;
      all.emplace_back();
    }
  }
  EXPECT_FALSE(inside) << document << ": an example does not end";
  return all;
}

TEST(Documents, HaveJsonThatParses) {
  for (const fs::path& document : documents())
    for (const std::string& example : examples(document))
      EXPECT_TRUE(nlohmann::json::accept(example)) << document << ":\n" << example;
}

// Each example is written where its document is, in a copy of the tree in which everything else is
// a link to ours.
TEST(Documents, HaveExamplesThatTrnsimAccepts) {
  const test::TemporaryFolder copy;
  for (const char* folder : {"topologies", "workloads", "scenarios", "tests"})
    fs::create_directory_symlink(root / folder, copy.path() / folder);
  for (const fs::path& document : documents())
    for (const std::string& example : examples(document)) {
      const auto json = nlohmann::json::parse(example, nullptr, /*allow_exceptions=*/false);
      if (!json.is_object() || !json.contains("format")) continue;  // a part of a file
      const fs::path place = fs::relative(document.parent_path(), root) / "example.json";
      const test::Outcome outcome =
          test::run("trnsim check '" + copy.write(place.string(), example) + "'");
      EXPECT_EQ(outcome.err, "") << document << ":\n" << example;
      EXPECT_EQ(outcome.exit_code, 0);
    }
}

}  // namespace
}  // namespace trnsim
