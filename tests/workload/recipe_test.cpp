#include "workload/recipe.h"

#include <gtest/gtest.h>

#include "errors.h"

namespace trnsim {
namespace {

using test::error_of;

constexpr const char* small_training = R"({
  "sequence_length": 32, "global_batch": 8, "micro_batch": 1, "precision": "bf16",
  "recompute": "none", "optimizer": "adamw"})";
constexpr const char* small_layout = R"({"data": 8, "zero_stage": 3})";

template <typename Read>
std::string complaint(const char* text, const std::string& set, Read read) {
  return error_of([&] {
    const std::vector<Override> overrides =
        set.empty() ? std::vector<Override>{} : std::vector{parse_override(set)};
    const Document document = Document::parse(text, "t.json", "", overrides);
    read(JsonReader(document));
  });
}

TEST(ReadTraining, RefusesUnknownWords) {
  const auto with = [](const std::string& set) {
    return complaint(small_training, set, [](const JsonReader& json) { read_training(json); });
  };
  EXPECT_EQ(with(""), "");
  EXPECT_EQ(
      with("precision=bf32"),
      "--set precision: \"bf32\" must be \"bf16\", \"fp8\", \"mxfp8\" or \"fp4\"; did you mean "
      "\"bf16\"?");
  EXPECT_EQ(with("recompute=selectiv"),
            "--set recompute: \"selectiv\" must be \"none\", \"selective\" or \"full\"; did you "
            "mean \"selective\"?");
  EXPECT_EQ(with("optimizer=adam"),
            "--set optimizer: \"adam\" must be \"adamw\" or \"sgd\"; did you mean \"adamw\"?");
  EXPECT_EQ(with("global_batch=1e3"),
            "--set global_batch: 1000.0 must be a whole number from 1 to 1000000000");
}

TEST(ReadTraining, GradientsAreFp32UnlessTold) {
  const auto bytes = [](const std::vector<Override>& set) {
    const Document document = Document::parse(small_training, "t.json", "", set);
    return read_training(JsonReader(document)).gradient_bytes();
  };
  EXPECT_EQ(bytes({}), 4);
  EXPECT_EQ(bytes({{"gradient_precision", "bf16"}}), 2);
}

TEST(ReadTraining, SaysWhatIsWrongWithSoftware) {
  const auto with = [](const std::string& software) {
    return complaint(small_training, "software=" + software,
                     [](const JsonReader& json) { read_training(json); });
  };
  EXPECT_EQ(with(R"({"name": "s", "op_overhead": "2 us", "step_overhead": "5 ms"})"), "");
  EXPECT_EQ(with(R"({"name": "s", "op_overhead": "2 us"})"),
            "--set software: the key \"step_overhead\" is missing");
  EXPECT_EQ(with(R"({"name": "s", "op_overhead": 2, "step_overhead": "5 ms"})"),
            "--set software.op_overhead: 2 has no unit; write for example \"1.5 us\"");
  EXPECT_EQ(with(R"({"name": "s", "op_overhead": "2 us", "step_overhed": "5 ms"})"),
            "--set software.step_overhed: unknown key; did you mean \"step_overhead\"?");
}

TEST(ReadLayout, RefusesWhatThisVersionCannotDo) {
  const auto with = [](const std::string& set) {
    return complaint(small_layout, set, [](const JsonReader& json) { read_layout(json); });
  };
  EXPECT_EQ(with(""), "");
  EXPECT_EQ(with("tensor=2"), "");
  EXPECT_EQ(with("zero_stage=1"), "");
  EXPECT_EQ(with("zero_stage=4"), "--set zero_stage: 4 must be a whole number from 0 to 3");
  EXPECT_EQ(with("bucket=200"), "--set bucket: 200 has no unit; write for example \"200 MB\"");
  EXPECT_EQ(with("algorithm=tree"),
            "--set algorithm: \"tree\" must be \"ring\", \"two_way_ring\", \"direct\", "
            "\"halving_doubling\", \"bruck\", \"pat\", \"double_binary_tree\", \"nvls\", \"sharp\" "
            "or \"library\"");
  EXPECT_EQ(with("prefech=2"), "--set prefech: unknown key; did you mean \"prefetch\"?");
}

}  // namespace
}  // namespace trnsim
