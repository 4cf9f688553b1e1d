#include "workload/architecture.h"

#include <gtest/gtest.h>

#include <limits>

#include "errors.h"
#include "workload/load.h"

namespace trnsim {
namespace {

using test::error_of;
using test::load_workload;

// The sums of the tensors in the published checkpoints; for MPT NumParams of its benchmarks.
TEST(Architecture, HasAsManyParametersAsThePublishedModels) {
  const std::vector<std::pair<const char*, uint64_t>> published = {
      {"llama-3.1-8b.json", 8030261248},     {"llama-3.1-70b.json", 70553706496},
      {"llama-3.1-405b.json", 405853388800}, {"qwen2.5-7b.json", 7615616512},
      {"qwen3-32b.json", 32762123264},       {"mpt-125m.json", 125311488},
      {"mpt-350m.json", 355985408},          {"mpt-760m.json", 760470528},
      {"mpt-1b.json", 1315950592},           {"mpt-3b.json", 2651837440},
      {"mpt-7b.json", 6658859008},           {"mpt-13b.json", 12853954560},
      {"mpt-30b.json", 29975214080},         {"mpt-70b.json", 64862437376},
      {"bert-large.json", 336226108},        {"resnet-50.json", 25557032}};
  for (const auto& [file, parameters] : published)
    EXPECT_EQ(load_workload(file).parameters(), parameters) << file;
}

// Table D.1 of arXiv:2005.14165, in millions; the larger ones are rounded to tens and hundreds.
TEST(Architecture, HasAsManyParametersAsTheGpt3Paper) {
  const std::vector<std::tuple<const char*, double, double>> published = {
      {"gpt3-125m.json", 125, 1},   {"gpt3-350m.json", 356, 1},    {"gpt3-760m.json", 760, 1},
      {"gpt3-1.3b.json", 1320, 10}, {"gpt3-2.7b.json", 2650, 10},  {"gpt3-6.7b.json", 6660, 10},
      {"gpt3-13b.json", 12850, 10}, {"gpt3-175b.json", 174600, 10}};
  for (const auto& [file, millions, unit] : published)
    EXPECT_NEAR(static_cast<double>(load_workload(file).parameters()) / 1e6, millions, unit / 2)
        << file;
}

// MPT's benchmarks state a count for each length of sequence: each position is a row.
TEST(Architecture, HasARowForEachLearnedPosition) {
  const auto with = [](const char* positions, const char* parameters) {
    return load_workload("mpt-7b.json",
                         {{"architecture.max_positions", positions}, {"parameters", parameters}})
        .longest_sequence();
  };
  EXPECT_EQ(with("1024", "6654664704"), 1024);
  EXPECT_EQ(with("65536", "6918905856"), 65536);
  EXPECT_EQ(load_workload("llama-3.1-8b.json").longest_sequence(),
            std::numeric_limits<uint64_t>::max());
}

TEST(Architecture, HasTheVariantsOfOtherPublishedModels) {
  // Checkpoints of openai-community/gpt2, bigscience/bloom, FacebookAI/roberta-large (its masked
  // language model) and meta-llama/Llama-3.2-1B.
  Architecture gpt2{"GPT-2", 12, 768, 12, 12, 64, 3072, false, 50257, true};
  gpt2.positions = Positions::learned;
  gpt2.max_positions = 1024;
  gpt2.biases = Biases::all;
  gpt2.norm = Norm::layer;
  EXPECT_EQ(gpt2.parameters(), 124439808);

  Architecture bloom{"BLOOM", 70, 14336, 112, 112, 128, 57344, false, 250880, true};
  bloom.positions = Positions::alibi;
  bloom.biases = Biases::all;
  bloom.norm = Norm::layer;
  bloom.embedding_norm = true;
  EXPECT_EQ(bloom.parameters(), 176247271424);

  Architecture roberta = load_workload("bert-large.json");
  roberta.vocabulary = 50265;
  roberta.max_positions = 514;
  roberta.segments = 1;
  roberta.next_sentence_head = false;
  EXPECT_EQ(roberta.parameters(), 355412057);

  const Architecture llama{"1B", 16, 2048, 32, 8, 64, 8192, true, 128256, true};
  EXPECT_EQ(llama.parameters(), 1235814400);
}

TEST(Architecture, CountsTwoMatricesWithoutAGate) {
  // A layer by hand: Q and output 2 x 8 x 8, K and V 2 x 8 x 4, MLP 2 x 8 x 32, two norms of 8.
  const Architecture small{"small", 3, 8, 4, 2, 2, 32, false, 10, false};
  EXPECT_EQ(small.layer_parameters(), 128 + 64 + 512 + 16);
  EXPECT_EQ(small.parameters(), 3 * 720 + 10 * 8 + 8 + 10 * 8);
  EXPECT_EQ(largest_part_parameters(small), 720);
}

// A layer by hand: Q has 8, K and V 4 each, the output 8, gate and up 32 each, down 8.
TEST(Architecture, CountsBiases) {
  Architecture small{"small", 3, 8, 4, 2, 2, 32, true, 10, false};
  const uint64_t none = small.layer_parameters();
  small.biases = Biases::qkv;
  EXPECT_EQ(small.layer_parameters(), none + 8 + 4 + 4);
  small.biases = Biases::all;
  EXPECT_EQ(small.layer_parameters(), none + 8 + 4 + 4 + 8 + 32 + 32 + 8);
}

// PaLM (arXiv:2204.02311), appendix B: 6 FLOPs for each parameter of a matrix and 12 L h d s for
// attention; causal attention needs half of that.
TEST(Architecture, NeedsTheFlopsOfPalm) {
  for (const char* file : {"llama-3.1-8b.json", "llama-3.1-70b.json", "gpt3-13b.json"}) {
    Architecture model = load_workload(file);
    const auto l = static_cast<double>(model.layers);
    const auto h = static_cast<double>(model.hidden);
    const auto q = static_cast<double>(model.heads * model.head_dim);
    const auto kv = static_cast<double>(model.kv_heads * model.head_dim);
    const auto f = static_cast<double>(model.ffn) * (model.gated_mlp ? 3 : 2);
    const auto v = static_cast<double>(model.vocabulary);
    for (const double s : {1.0, 2048.0, 131072.0}) {
      const double matrices = 6 * (l * (2 * h * q + 2 * h * kv + h * f) + v * h);
      model.attention = Attention::causal;
      EXPECT_DOUBLE_EQ(model.model_flops_per_token(static_cast<uint64_t>(s)),
                       matrices + 6 * l * s * q);
      model.attention = Attention::bidirectional;
      EXPECT_DOUBLE_EQ(model.model_flops_per_token(static_cast<uint64_t>(s)),
                       matrices + 12 * l * s * q);
    }
  }
}

// TorchTitan counts 217,675,069,440 FLOPs a token of Qwen3-32B at sequence 4096: the same but for
// the other half of attention, and 6 for each parameter of a norm (also those of Q and K).
TEST(Architecture, NeedsTheFlopsOfTorchTitan) {
  const Architecture qwen = load_workload("qwen3-32b.json");
  const double other_half = 6.0 * 64 * 64 * 128 * 4096;
  const double norms = 6.0 * (64 * (2 * 5120 + 2 * 128) + 5120);
  EXPECT_DOUBLE_EQ(qwen.model_flops_per_token(4096) + other_half + norms, 217675069440.0);
}

// Model FLOPs of a token that follow from published rates, all with the whole attention matrix,
// from arXiv:2205.05198, table 5 (MFU of 312 TFLOP/s, iteration time, batch, GPUs), and from the
// benchmarks of MPT (TFLOP/s and tokens/s of a GPU). Both are rounded to three digits.
TEST(Architecture, NeedsTheFlopsOfPublishedRates) {
  const auto megatron = [](double mfu, double seconds, double batch, double gpus) {
    return mfu * 312e12 * gpus * seconds / (batch * 2048);
  };
  const auto gpt = [](uint64_t layers, uint64_t hidden, uint64_t heads) {
    return Architecture{"GPT",          layers,     hidden, heads, heads,
                        hidden / heads, 4 * hidden, false,  51200, true};
  };
  const std::vector<std::pair<Architecture, double>> published = {
      {gpt(48, 6144, 64), megatron(0.415, 1.10, 4, 8)},
      {gpt(96, 12288, 96), megatron(0.514, 13.75, 64, 64)},
      {gpt(105, 20480, 128), megatron(0.560, 37.83, 280, 280)},
      {gpt(128, 25600, 160), megatron(0.563, 71.49, 512, 512)},
      {load_workload("mpt-7b.json"), 452e12 / 10475},
      {load_workload("mpt-70b.json"), 428e12 / 1058}};
  for (const auto& [stated, flops] : published) {
    Architecture model = stated;
    model.attention = Attention::bidirectional;
    EXPECT_NEAR(model.model_flops_per_token(2048) / flops, 1, 0.005) << model.layers;
  }
}

// The square layer of the masked language model counts for each token, that of the next sentence
// once in a sequence, with its two classes.
TEST(Architecture, NeedsTheFlopsOfItsHeads) {
  const Architecture bert = load_workload("bert-large.json");
  Architecture bare = bert;
  bare.masked_lm_head = bare.next_sentence_head = false;
  EXPECT_DOUBLE_EQ(bert.model_flops_per_token(128) - bare.model_flops_per_token(128),
                   6.0 * 1024 * 1024 + 6.0 * (1024 + 2) * 1024 / 128);
  EXPECT_DOUBLE_EQ(bare.model_flops_per_token(128),
                   6.0 * (24 * 12 * 1024.0 * 1024 + 30522.0 * 1024) + 12.0 * 24 * 128 * 1024);
}

constexpr const char* small_model = R"({
  "format": "trnsim.workload.v1", "name": "small", "source": "a test",
  "architecture": {"layers": 3, "hidden": 8, "heads": 4, "kv_heads": 2, "head_dim": 2, "ffn": 32,
                   "gated_mlp": false, "vocabulary": 10, "tied_embeddings": false}})";

std::string complaint(const std::vector<std::string>& sets) {
  return error_of([&] {
    std::vector<Override> overrides;
    for (const std::string& set : sets) overrides.push_back(parse_override(set));
    const Document document = Document::parse(small_model, "t.json", "", overrides);
    read_architecture(JsonReader(document));
  });
}

TEST(ReadArchitecture, RefusesWhatDoesNotGoTogether) {
  EXPECT_EQ(complaint({}), "");
  EXPECT_EQ(complaint({"parameters=2328"}), "");
  EXPECT_EQ(complaint({"parameters=2329"}),
            "--set parameters: 2329 is not what the architecture has (2328)");
  EXPECT_EQ(complaint({"architecture.kv_heads=3"}),
            "--set architecture.kv_heads: 3 does not divide attention heads (4)");
  EXPECT_EQ(complaint({"architecture.kv_heads=8"}),
            "--set architecture.kv_heads: 8 does not divide attention heads (4)");
  EXPECT_EQ(complaint({"architecture.layers=0"}),
            "--set architecture.layers: 0 must be a whole number from 1 to 100000");
  EXPECT_EQ(complaint({"architecture.gated_mlp=yes"}),
            "--set architecture.gated_mlp: \"yes\" must be true or false");
  EXPECT_EQ(complaint({"architecture.head=4"}),
            "--set architecture.head: unknown key; did you mean \"heads\"?");
}

TEST(ReadArchitecture, KnowsItsVariants) {
  EXPECT_EQ(complaint({"architecture.kind=transformer"}), "");
  EXPECT_EQ(complaint({"architecture.kind=convolution"}),
            "--set architecture.kind: \"convolution\" must be \"transformer\" or "
            "\"convolutional\"; did you mean \"convolutional\"?");
  EXPECT_EQ(complaint({"architecture.positions=rope"}),
            "--set architecture.positions: \"rope\" must be \"rotary\", \"learned\", \"alibi\" or "
            "\"none\"; did you mean \"none\"?");
  EXPECT_EQ(complaint({"architecture.positions=learned"}),
            "t.json: architecture: the key \"max_positions\" is missing");
  EXPECT_EQ(complaint({"architecture.positions=learned", "architecture.max_positions=16"}), "");
  EXPECT_EQ(complaint({"architecture.max_positions=16"}),
            "--set architecture.max_positions: unknown key; did you mean \"positions\"?");
  EXPECT_EQ(complaint({"architecture.biases=true"}),
            "--set architecture.biases: true must be \"none\", \"qkv\" or \"all\"");
  EXPECT_EQ(complaint({"architecture.norm=batch"}),
            "--set architecture.norm: \"batch\" must be \"rms\" or \"layer\"");
  EXPECT_EQ(complaint({"architecture.classes=10"}), "--set architecture.classes: unknown key");
}

}  // namespace
}  // namespace trnsim
