// Each folder of tests/bad_inputs/ holds a `command` and, in `expected`, exactly what it prints to
// stderr. All of them exit with 2 and print nothing to stdout.

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/command.h"

namespace trnsim {
namespace {

const std::filesystem::path folder = std::filesystem::path(TRNSIM_SOURCE_DIR) / "tests/bad_inputs";

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

class BadInput : public testing::TestWithParam<std::string> {};

TEST_P(BadInput, IsExplained) {
  const test::Outcome outcome = test::run(test::read_text(folder / GetParam() / "command"));
  EXPECT_EQ(outcome.err, test::read_text(folder / GetParam() / "expected"));
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.exit_code, 2);
}

INSTANTIATE_TEST_SUITE_P(Cases, BadInput, testing::ValuesIn(cases()),
                         [](const auto& name) { return name.param; });

// What the cases change is right before they do.
TEST(GoodInput, IsRight) {
  const test::Outcome outcome = test::run("trnsim check tests/bad_inputs/good.json");
  EXPECT_EQ(outcome.out, "tests/bad_inputs/good.json: a right scenario\n");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.exit_code, 0);
}

}  // namespace
}  // namespace trnsim
