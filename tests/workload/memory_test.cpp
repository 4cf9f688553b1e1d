#include "workload/memory.h"

#include <gtest/gtest.h>

#include <map>

#include "workload/activations.h"

namespace trnsim {
namespace {

constexpr Bytes parameters_of_70b = 70553706496;  // published; see architecture_test.cpp

const Architecture llama_70b{"70B", 80, 8192, 64, 8, 128, 28672, true, 128256, false};

// One sequence of 2048 at a time, bf16 with fp32 gradients, AdamW.
Training training(Recompute recompute = Recompute::selective) {
  Training made;
  made.sequence_length = 2048;
  made.global_batch = 576;
  made.recompute = recompute;
  return made;
}

Layout layout(int zero_stage) {
  Layout made;
  made.data = 576;
  made.zero_stage = zero_stage;
  made.shard = zero_stage == 0 ? 1 : made.data;
  return made;
}

std::map<std::string, Bytes> parts(const Training& training, const Layout& layout) {
  std::map<std::string, Bytes> named;
  for (const MemoryPart& part : memory_parts(llama_70b, training, layout))
    named[part.name] = part.bytes;
  return named;
}

// 2 bytes of bf16, 4 of an fp32 gradient, 12 of fp32 copy and two moments (arXiv:1910.02054,
// section 3.1, which has 2 for a gradient).
TEST(Memory, OfDdpHoldsEverythingOnEachChip) {
  auto held = parts(training(), layout(0));
  EXPECT_EQ(held["parameters"], 2 * parameters_of_70b);
  EXPECT_EQ(held["gradients"], 4 * parameters_of_70b);
  EXPECT_EQ(held["optimizer states"], 12 * parameters_of_70b);
  EXPECT_FALSE(held.contains("gathered parameters"));
}

TEST(Memory, OfZero3IsDividedByTheRanks) {
  const Bytes shard = parameters_of_70b / 576 + 1;  // 576 does not divide it
  ASSERT_NE(parameters_of_70b % 576, 0);
  auto held = parts(training(), layout(3));
  EXPECT_EQ(held["parameters"], 2 * shard);
  EXPECT_EQ(held["gradients"], 4 * shard);
  EXPECT_EQ(held["optimizer states"], 12 * shard);
}

// Figure 1 of arXiv:1910.02054: with bf16 gradients 16 bytes a parameter; 7.5 billion parameters
// take 120 GB, and 1.9 GB if 64 ranks share them.
TEST(Memory, AgreesWithTheZeroPaper) {
  const Architecture model{"7.5B", 1, 1, 1, 1, 1, 2'499'999'998, true, 1, true};
  ASSERT_NEAR(static_cast<double>(model.parameters()), 7.5e9, 100);
  Training bf16_gradients = training();
  bf16_gradients.gradient_precision = "bf16";
  const auto states = [&](const Layout& layout) {
    const auto all = memory_parts(model, bf16_gradients, layout);
    return static_cast<double>(all[0].bytes + all[1].bytes + all[2].bytes);
  };
  EXPECT_NEAR(states(layout(0)), 120e9, 0.1e9);
  Layout shared = layout(3);
  shared.data = shared.shard = 64;
  EXPECT_NEAR(states(shared), 1.9e9, 0.05e9);
}

TEST(Memory, OfSgdHasOneMomentLess) {
  Training sgd = training();
  sgd.optimizer = Optimizer::sgd;
  EXPECT_EQ(parts(sgd, layout(0))["optimizer states"], 8 * parameters_of_70b);
}

// Llama 3.1 70B, bytes a token and layer, after arXiv:2205.05198, section 4.1, for SwiGLU and
// grouped queries: 4 inputs (two norms, QKV, MLP) of 8192 in bf16, 65,536; Q 16,384; K and V 2,048
// each; gate, up and their product 3 x 57,344; the output of attention 16,384. Without
// recomputation also an fp32 sum for each of 64 heads, 256.
TEST(Memory, OfActivationsByHand) {
  const Bytes selective = 65536 + 2 * 16384 + 2 * 2048 + 3 * 57344;
  EXPECT_EQ(selective, 274432);
  EXPECT_EQ(layer_activation_bytes(llama_70b, training()), 2048 * selective);
  EXPECT_EQ(layer_activation_bytes(llama_70b, training(Recompute::none)), 2048 * (selective + 256));
  EXPECT_EQ(layer_activation_bytes(llama_70b, training(Recompute::full)), 2048ULL * 16384);
  EXPECT_EQ(parts(training(), layout(3))["activations"], 80 * 2048 * selective);
}

// For plain attention and an MLP of 4 h the paper has 34 bytes a token and hidden unit beside the
// attention matrix, of which 2 are masks of dropout; fused attention adds an fp32 sum for each
// head.
TEST(Memory, OfActivationsAgreesWithThePaper) {
  const Architecture plain{"plain", 1, 1024, 16, 16, 64, 4096, false, 100, false};
  EXPECT_EQ(layer_activation_bytes(plain, training(Recompute::none)),
            2048 * ((34 - 2) * 1024 + 4 * 16));
}

// The paper's 5 bytes for each score: softmax, its dropped-out copy and the mask.
TEST(Memory, OfUnfusedAttentionHoldsItsScores) {
  const Architecture plain{"plain", 1, 1024, 16, 16, 64, 4096, false, 100, false};
  Training unfused = training(Recompute::none);
  unfused.attention_kernel = "unfused";
  EXPECT_EQ(layer_activation_bytes(plain, unfused), 2048 * ((34 - 2) * 1024 + 5 * 16 * 2048));
  unfused.recompute = Recompute::selective;
  EXPECT_EQ(layer_activation_bytes(plain, unfused), 2048 * (34 - 2) * 1024);
}

// Of the bytes by hand above the inputs of the products are halved: of QKV and MLP 8192 each, of
// the last product 28,672; the output of attention is kept in bf16 for its own backward pass and,
// cast, as the projection's input.
TEST(Memory, OfFp8KeepsInputsOfProductsInOneByte) {
  Training fp8 = training();
  fp8.precision = "fp8";
  EXPECT_EQ(layer_activation_bytes(llama_70b, fp8), 2048ULL * (274432 - 2 * 8192 - 28672 + 8192));
}

// Parameters that are held and gathered in fp8 take half of their bytes in bf16.
TEST(Memory, OfFp8ParametersIsHalf) {
  Training fp8 = training();
  fp8.parameter_precision = "fp8";
  for (const char* part : {"parameters", "gathered parameters"})
    EXPECT_EQ(2 * parts(fp8, layout(3))[part], parts(training(), layout(3))[part]) << part;
}

TEST(Memory, GrowsWithTokens) {
  Training twice = training();
  twice.micro_batch = 2;
  EXPECT_EQ(layer_activation_bytes(llama_70b, twice),
            2 * layer_activation_bytes(llama_70b, training()));
  EXPECT_EQ(logits_bytes(llama_70b, twice), 2 * logits_bytes(llama_70b, training()));
}

// A logit in bf16 and its gradient in fp32, for each of 128,256 words.
TEST(Memory, OfLogitsByHand) {
  EXPECT_EQ(logits_bytes(llama_70b, training()), 2048ULL * 128256 * (2 + 4));
}

TEST(Memory, FallsWithRecomputation) {
  const auto activations = [](Recompute recompute) {
    auto held = parts(training(recompute), layout(3));
    return held["activations"] + held["recomputed layer"];
  };
  EXPECT_LT(activations(Recompute::full), activations(Recompute::selective));
  EXPECT_LT(activations(Recompute::selective), activations(Recompute::none));
}

TEST(Memory, OfFullRecomputationHoldsOneLayerAgain) {
  EXPECT_EQ(parts(training(Recompute::full), layout(3))["recomputed layer"],
            layer_activation_bytes(llama_70b, training(Recompute::none)));
}

// The largest unit is the head: a final norm of 8192 and 128,256 x 8192.
TEST(Memory, HoldsTheGatheredUnitsOfZero3) {
  const Bytes head = 8192 + 128256ULL * 8192;
  auto ahead = parts(training(), layout(3));
  EXPECT_EQ(ahead["gathered parameters"], 2 * head * 2);  // bf16, this one and the next
  EXPECT_EQ(ahead["unreduced gradients"], 4 * head * 2);  // fp32, this one and the one before
  Layout alone = layout(3);
  alone.overlap_grad_reduce = alone.overlap_param_gather = false;
  EXPECT_EQ(parts(training(), alone)["gathered parameters"], 2 * head);
  EXPECT_EQ(parts(training(), alone)["unreduced gradients"], 4 * head);
}

// FSDP of PyTorch: fp32 parameters, gradients and two moments are 16 bytes; bf16 is made to gather.
TEST(Memory, WithoutALowPrecisionShardIs16BytesAParameter) {
  Layout cast = layout(3);
  cast.low_precision_shard = false;
  auto held = parts(training(), cast);
  EXPECT_EQ(held["parameters"], 0);
  EXPECT_EQ(held["gradients"] + held["optimizer states"], 16 * (parameters_of_70b / 576 + 1));
}

// Gradients wait for their reduction in the width of the wire.
TEST(Memory, OfUnreducedGradientsIsThatOfTheWire) {
  Training wire = training();
  wire.reduction_precision = "bf16";
  EXPECT_EQ(2 * parts(wire, layout(3))["unreduced gradients"],
            parts(training(), layout(3))["unreduced gradients"]);
}

TEST(Memory, IsTheSumOfItsParts) {
  const auto all = memory_parts(llama_70b, training(), layout(3));
  Bytes sum = 0;
  for (const MemoryPart& part : all) sum += part.bytes;
  EXPECT_EQ(total(all), sum);
  EXPECT_EQ(total({}), 0);
}

}  // namespace
}  // namespace trnsim
