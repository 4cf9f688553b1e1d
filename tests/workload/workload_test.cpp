#include <gtest/gtest.h>

#include <filesystem>

#include "errors.h"
#include "workload/architecture.h"
#include "workload/recipe.h"

namespace trnsim {
namespace {

using test::error_of;

Architecture load(const std::string& file) {
  const auto path = std::filesystem::path(TRNSIM_SOURCE_DIR) / "workloads" / file;
  const Document document = Document::load(path, {});
  return read_architecture(JsonReader(document));
}

// The sizes of the tensors in the published checkpoints, as their index files state the sum.
TEST(Architecture, HasAsManyParametersAsThePublishedModels) {
  EXPECT_EQ(load("llama-3.1-8b.json").parameters(), 8030261248);
  EXPECT_EQ(load("llama-3.1-70b.json").parameters(), 70553706496);
  const Architecture llama_405b{"405B", 126, 16384, 128, 8, 128, 53248, true, 128256, false};
  EXPECT_EQ(llama_405b.parameters(), 405853388800);
  const Architecture llama_32_1b{"1B", 16, 2048, 32, 8, 64, 8192, true, 128256, true};
  EXPECT_EQ(llama_32_1b.parameters(), 1235814400);
}

TEST(Architecture, CountsTwoMatricesWithoutAGate) {
  // A layer by hand: Q and output 2 x 8 x 8, K and V 2 x 8 x 4, MLP 2 x 8 x 32, two norms of 8.
  const Architecture small{"small", 3, 8, 4, 2, 2, 32, false, 10, false};
  EXPECT_EQ(small.layer_parameters(), 128 + 64 + 512 + 16);
  EXPECT_EQ(small.parameters(), 3 * 720 + 10 * 8 + 8 + 10 * 8);
}

// PaLM (arXiv:2204.02311), appendix B: 6 FLOPs for each parameter of a matrix and 12 L h d s for
// attention; causal attention needs half of that.
TEST(Architecture, NeedsTheFlopsOfPalm) {
  for (const char* file : {"llama-3.1-8b.json", "llama-3.1-70b.json"}) {
    const Architecture model = load(file);
    const auto l = static_cast<double>(model.layers);
    const auto h = static_cast<double>(model.hidden);
    const auto q = static_cast<double>(model.heads * model.head_dim);
    const auto kv = static_cast<double>(model.kv_heads * model.head_dim);
    const auto f = static_cast<double>(model.ffn);
    const auto v = static_cast<double>(model.vocabulary);
    for (const double s : {1.0, 2048.0, 131072.0})
      EXPECT_DOUBLE_EQ(model.model_flops_per_token(static_cast<uint64_t>(s)),
                       6 * (l * (2 * h * q + 2 * h * kv + 3 * h * f) + v * h) + 6 * l * s * q);
  }
}

// TorchTitan counts 217,675,069,440 FLOPs a token of Qwen3-32B at sequence 4096: the same but for
// the other half of attention, and 6 for each parameter of a norm (also those of Q and K).
TEST(Architecture, NeedsTheFlopsOfTorchTitan) {
  const Architecture qwen{"Qwen3-32B", 64, 5120, 64, 8, 128, 25600, true, 151936, false};
  const double other_half = 6.0 * 64 * 64 * 128 * 4096;
  const double norms = 6.0 * (64 * (2 * 5120 + 2 * 128) + 5120);
  EXPECT_DOUBLE_EQ(qwen.model_flops_per_token(4096) + other_half + norms, 217675069440.0);
}

constexpr const char* small_model = R"({
  "format": "trnsim.workload.v1", "name": "small", "source": "a test",
  "architecture": {"layers": 3, "hidden": 8, "heads": 4, "kv_heads": 2, "head_dim": 2, "ffn": 32,
                   "gated_mlp": false, "vocabulary": 10, "tied_embeddings": false}})";
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

TEST(ReadArchitecture, RefusesWhatDoesNotGoTogether) {
  const auto with = [](const std::string& set) {
    return complaint(small_model, set, read_architecture);
  };
  EXPECT_EQ(with(""), "");
  EXPECT_EQ(with("parameters=2328"), "");
  EXPECT_EQ(with("parameters=2329"),
            "--set parameters: 2329 is not what the architecture has (2328)");
  EXPECT_EQ(with("architecture.kv_heads=3"),
            "--set architecture.kv_heads: 3 does not divide attention heads (4)");
  EXPECT_EQ(with("architecture.kv_heads=8"),
            "--set architecture.kv_heads: 8 does not divide attention heads (4)");
  EXPECT_EQ(with("architecture.layers=0"),
            "--set architecture.layers: 0 must be a whole number from 1 to 100000");
  EXPECT_EQ(with("architecture.gated_mlp=yes"),
            "--set architecture.gated_mlp: \"yes\" must be true or false");
  EXPECT_EQ(with("architecture.head=4"),
            "--set architecture.head: unknown key; did you mean \"heads\"?");
}

TEST(ReadTraining, RefusesUnknownWords) {
  const auto with = [](const std::string& set) {
    return complaint(small_training, set, [](const JsonReader& json) { read_training(json); });
  };
  EXPECT_EQ(with(""), "");
  EXPECT_EQ(with("precision=bf32"),
            "--set precision: \"bf32\" must be \"bf16\" or \"fp8\"; did you mean \"bf16\"?");
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

TEST(ReadLayout, RefusesWhatThisVersionCannotDo) {
  const auto with = [](const std::string& set) {
    return complaint(small_layout, set, [](const JsonReader& json) { read_layout(json); });
  };
  EXPECT_EQ(with(""), "");
  EXPECT_EQ(with("tensor=2"), "--set tensor: 2 must be 1; this version splits only over \"data\"");
  EXPECT_EQ(with("zero_stage=1"), "");
  EXPECT_EQ(with("zero_stage=4"), "--set zero_stage: 4 must be a whole number from 0 to 3");
  EXPECT_EQ(with("bucket=200"), "--set bucket: 200 has no unit; write for example \"200 MB\"");
  EXPECT_EQ(with("algorithm=tree"),
            "--set algorithm: \"tree\" must be \"ring\", \"direct\" or \"best\"");
  EXPECT_EQ(with("prefech=2"), "--set prefech: unknown key; did you mean \"prefetch\"?");
}

}  // namespace
}  // namespace trnsim
