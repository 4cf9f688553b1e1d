#include "plan/cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fixtures.h"
#include "workload/activations.h"
#include "workload/load.h"

namespace trnsim::test {
namespace {

Training training_of(const Architecture& model, Recompute recompute = Recompute::none) {
  Training made;
  made.sequence_length = model.convolutional ? 1 : 256;
  made.micro_batch = 2;
  made.recompute = recompute;
  return made;
}

double tokens_of(const Training& training) {
  return static_cast<double>(training.micro_batch * training.sequence_length);
}

const Operation& find(const Operations& operations, const std::string& name) {
  const auto found = std::find_if(operations.begin(), operations.end(),
                                  [&](const Operation& op) { return op.name == name; });
  EXPECT_NE(found, operations.end()) << name;
  return *found;
}

Training in(const char* precision) {
  Training made;
  made.precision = precision;
  return made;
}

uint64_t completed(const Operations& backward) {
  uint64_t sum = 0;
  for (const Operation& operation : backward) sum += operation.parameters;
  return sum;
}

TEST(Cost, CompletesTheGradientOfEveryParameterOnce) {
  for (const std::string& file : all_workloads())
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      const Architecture model = load_workload(file);
      uint64_t sum = 0;
      uint64_t parts = 0;
      uint64_t largest = 0;
      for (const PartOperations& part : model_operations(model, training_of(model, recompute))) {
        EXPECT_EQ(completed(part.backward), part.parameters) << file << ", " << part.name;
        sum += part.repeats * part.parameters;
        parts += part.repeats;
        largest = std::max(largest, part.parameters);
      }
      EXPECT_EQ(sum, model.parameters()) << file;
      EXPECT_EQ(parts, model.layers + 2) << file;
      EXPECT_EQ(largest, largest_part_parameters(model)) << file;
    }
}

// What a fused attention kernel repeats in its backward pass, 0.5 of 2.5, is no model FLOP.
TEST(Cost, DoesTheModelsFlops) {
  for (const std::string& file : all_workloads()) {
    const Architecture model = load_workload(file);
    const Training training = training_of(model);
    double flops = 0;
    for (const PartOperations& part : model_operations(model, training)) {
      double of_part = 0;
      for (const Operation& operation : part.forward) of_part += operation.flops;
      for (const Operation& operation : part.backward)
        of_part += operation.flops * (operation.kind == Operation::Kind::attention ? 2 / 2.5 : 1);
      flops += static_cast<double>(part.repeats) * of_part;
    }
    const double needed =
        model.model_flops_per_token(training.sequence_length) * tokens_of(training);
    EXPECT_NEAR(flops / needed, 1, 1e-12) << file;
  }
}

TEST(Cost, KeepsWhatTheMemoryTableSays) {
  for (const std::string& file : all_workloads())
    for (const Recompute recompute : {Recompute::none, Recompute::full}) {
      const Architecture model = load_workload(file);
      const Training training = training_of(model, recompute);
      Bytes kept = 0;
      for (const PartOperations& part : model_operations(model, training)) {
        const bool again = recompute != Recompute::none && !part.again.empty();
        kept += part.repeats * (again ? part.kept_to_recompute : part.kept);
      }
      EXPECT_EQ(kept, activation_bytes(model, training) + logits_bytes(model, training)) << file;
    }
}

TEST(Cost, RecomputesAttentionOrAllOfALayer) {
  for (const std::string& file : all_workloads()) {
    const Architecture model = load_workload(file);
    double attention = 0;
    double all = 0;
    const auto parts = model_operations(model, training_of(model));
    for (size_t i = 1; i + 1 < parts.size(); ++i)
      for (const Operation& operation : parts[i].forward) {
        const double flops = static_cast<double>(parts[i].repeats) * operation.flops;
        all += flops;
        if (operation.kind == Operation::Kind::attention) attention += flops;
      }
    EXPECT_EQ(recomputed_flops(model, training_of(model)), 0);
    EXPECT_DOUBLE_EQ(recomputed_flops(model, training_of(model, Recompute::selective)), attention);
    EXPECT_DOUBLE_EQ(recomputed_flops(model, training_of(model, Recompute::full)), all);
  }
}

// 3 layers of each of 2 stages x 2 chunks of 8 run again: 12 of 32.
TEST(Cost, RecomputesTheFirstLayersOfEachChunk) {
  const Architecture model = load_workload("llama-3.1-8b.json");
  Training training = training_of(model, Recompute::full);
  Layout layout;
  layout.pipeline = layout.virtual_stages = 2;
  layout.schedule = Schedule::interleaved;
  const double all = recomputed_flops(model, training, layout);
  training.recompute_layers = 3;
  EXPECT_DOUBLE_EQ(recomputed_flops(model, training, layout), all * 12 / 32);
  EXPECT_EQ(layers_activation_bytes(model, training, layout, 8, 8),
            3 * layer_activation_bytes(model, training, layout) +
                5 * layer_activation_bytes(model, training_of(model), layout));
}

// Llama 2 70B with rank 16 beside QKV and the attention's output, as MLPerf's LoRA benchmark has
// it: 16 (8192 + 10240 + 8192 + 8192) parameters in each of 80 layers are trained.
TEST(Cost, OfAdaptersIsTheForwardAndTheInputGradientsOfTheRest) {
  Architecture model{"Llama 2 70B", 80, 8192, 64, 8, 128, 28672, true, 32000, false};
  const uint64_t whole = model.parameters();
  const Training training = training_of(model);
  const std::vector<PartOperations> plain = model_operations(model, training);
  model.adapters = Adapters{16, true, true, false, false};
  EXPECT_EQ(model.parameters() - whole, 44'564'480);
  EXPECT_EQ(80 * model.trained_layer_parameters(), 44'564'480);
  const std::vector<PartOperations> parts = model_operations(model, training);
  uint64_t trained = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    trained += parts[i].repeats * completed(parts[i].backward);
    EXPECT_EQ(completed(parts[i].backward), parts[i].trained);
    double forward = 0;
    double backward = 0;
    for (const Operation& operation : plain[i].forward)
      if (operation.kind == Operation::Kind::matrix) forward += operation.flops;
    for (const Operation& operation : parts[i].backward)
      if (operation.kind == Operation::Kind::matrix && !operation.full_precision)
        backward += operation.flops;
    if (parts[i].name == "layer") {
      EXPECT_DOUBLE_EQ(backward, forward);
    }
  }
  EXPECT_EQ(trained, 44'564'480);
}

TEST(Cost, OfBidirectionalAttentionIsTwiceThatOfCausal) {
  Architecture model = load_workload("gpt3-125m.json");
  const Training training = training_of(model);
  const double tokens = 2 * 256;
  const auto flops = [&] {
    return find(model_operations(model, training)[1].forward, "attention").flops;
  };
  EXPECT_DOUBLE_EQ(flops(), 2 * tokens * 256 * 768);
  model.attention = Attention::bidirectional;
  EXPECT_DOUBLE_EQ(flops(), 4 * tokens * 256 * 768);
}

TEST(Cost, FollowsTheVariant) {
  const auto names = [](const char* file, size_t part) {
    const Architecture model = load_workload(file);
    const std::vector<PartOperations> parts = model_operations(model, training_of(model));
    std::vector<std::string> all;
    for (const Operation& operation : parts[part].forward) all.push_back(operation.name);
    return all;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("llama-3.1-8b.json", 1),
            (Names{"attention norm", "qkv", "rotary embedding", "attention", "attention output",
                   "mlp norm", "mlp up", "activation", "mlp down"}));
  EXPECT_EQ(names("qwen3-32b.json", 1),
            (Names{"attention norm", "qkv", "query and key norm", "rotary embedding", "attention",
                   "attention output", "mlp norm", "mlp up", "activation", "mlp down"}));
  EXPECT_EQ(names("mpt-7b.json", 1),
            (Names{"attention norm", "qkv", "attention", "attention output", "mlp norm", "mlp up",
                   "activation", "mlp down"}));
  EXPECT_EQ(names("llama-3.1-8b.json", 2), (Names{"final norm", "logits", "loss"}));
  EXPECT_EQ(names("bert-large.json", 0), (Names{"embedding", "embedding norm"}));
  EXPECT_EQ(names("bert-large.json", 2), (Names{"pooler", "next sentence", "head transform",
                                                "head activation", "head norm", "logits", "loss"}));
  EXPECT_EQ(names("resnet-50.json", 0), (Names{"stem convolution", "batch norm", "pooling"}));
}

// Two read and written halves of 4 bytes an element, and one weight, or a weight and a bias.
TEST(Cost, OfANormReadsItsParameters) {
  const auto bytes = [](const char* file) {
    const Architecture model = load_workload(file);
    return find(model_operations(model, training_of(model))[1].forward, "mlp norm").bytes;
  };
  EXPECT_DOUBLE_EQ(bytes("llama-3.1-8b.json"), 8.0 * 512 * 4096 + 2 * 4096);
  EXPECT_DOUBLE_EQ(bytes("mpt-7b.json"), 8.0 * 512 * 4096 + 2 * 2 * 4096);
}

// The 3 x 3 convolution in the first block of stage 2 of ResNet-50, two images: 128 maps of 56 x 56
// become 128 of 28 x 28.
TEST(Cost, OfAConvolutionByHand) {
  const Architecture model = load_workload("resnet-50.json");
  const auto parts = model_operations(model, training_of(model));
  const Operations& block = parts[3].forward;
  ASSERT_EQ(parts[3].name, "stage 2, first block");
  ASSERT_EQ(block.size(), 8);  // projection and three convolutions, each with a norm
  const double weights = 9 * 128 * 128;
  EXPECT_DOUBLE_EQ(block[4].flops, 2 * 2 * 28 * 28 * weights);
  EXPECT_DOUBLE_EQ(block[4].bytes, 2 * (2 * 128 * 56 * 56 + weights + 2 * 128 * 28 * 28));
  EXPECT_DOUBLE_EQ(block[5].bytes, 3 * 2.0 * 2 * 128 * 28 * 28);
  EXPECT_EQ(block[5].parameters, 2 * 128);
  // The projection's stride of 2 reads a quarter of 256 maps; the last norm reads the shortcut too.
  EXPECT_DOUBLE_EQ(block[0].bytes, 2 * (2 * 256 * 28 * 28 + 256 * 512 + 2.0 * 512 * 28 * 28));
  EXPECT_DOUBLE_EQ(block[7].bytes, 4 * 2.0 * 2 * 512 * 28 * 28);
}

TEST(Cost, OfTheBackwardPass) {
  const Operations forward = {matrix_product("a", 2, 3, 5), memory_operation("b", 100, 7)};
  const Operations backward = backward_of(forward);
  ASSERT_EQ(backward.size(), 3);
  EXPECT_EQ(backward[0].name, "b");
  EXPECT_EQ(backward[0].bytes, 150);
  EXPECT_EQ(backward[0].parameters, 7);
  EXPECT_EQ(backward[1].name, "a input gradient");
  EXPECT_EQ(backward[1].parameters, 0);
  EXPECT_EQ(backward[2].name, "a weight gradient");
  EXPECT_EQ(backward[2].parameters, 15);
  EXPECT_EQ(backward[2].flops, 2 * 2 * 3 * 5);
  EXPECT_EQ(backward[2].bytes, 2 * (2 * 3 + 3 * 5 + 2 * 5));
}

TEST(Cost, OfTheOptimizer) {
  Training training;
  EXPECT_DOUBLE_EQ(optimizer_step(1000, training).front().bytes, 1000 * (4 + 2 * 3 * 4 + 2));
  training.optimizer = Optimizer::sgd;
  training.gradient_precision = "bf16";
  EXPECT_DOUBLE_EQ(optimizer_step(1000, training).front().bytes, 1000 * (2 + 2 * 2 * 4 + 2));
}

TEST(Duration, IsTheRooflineAndAnOverhead) {
  Chip chip;
  chip.peak = {{"bf16", exactly(100)}, {"fp8", exactly(200)}};
  chip.gemm_efficiency = chip.gemm_efficiency_fp8 = exactly(0.5);
  chip.attention_efficiency = exactly(0.25);
  chip.hbm_bandwidth = exactly(10);
  chip.hbm_efficiency = exactly(0.5);
  chip.op_overhead = exactly(3);
  Operation operation{.name = "a", .kind = Operation::Kind::matrix, .flops = 1000, .bytes = 50};
  EXPECT_DOUBLE_EQ(duration(operation, chip, in("bf16")), 1000 / 50.0 + 3);
  EXPECT_DOUBLE_EQ(duration(operation, chip, in("fp8")), 1000 / 100.0 + 3);
  operation.full_precision = true;
  EXPECT_DOUBLE_EQ(duration(operation, chip, in("fp8")), 1000 / 50.0 + 3);
  operation.kind = Operation::Kind::attention;
  EXPECT_DOUBLE_EQ(duration(operation, chip, in("fp8")), 1000 / 25.0 + 3);
  operation.bytes = 500;
  EXPECT_DOUBLE_EQ(duration(operation, chip, in("bf16")), 500 / 5.0 + 3);
}

// A chip of 10 processors that make tiles of 4 x 8, without limits of memory but for results.
Chip tiled_chip() {
  Chip chip;
  chip.peak = {{"bf16", exactly(100)}, {"fp8", exactly(200)}};
  chip.gemm_efficiency = chip.gemm_efficiency_fp8 = exactly(0.5);
  chip.attention_efficiency = exactly(0.25);
  chip.tiles = {exactly(10), exactly(4), exactly(8)};
  chip.hbm_bandwidth = exactly(1e9);
  chip.hbm_efficiency = exactly(1);
  chip.op_overhead = exactly(0);
  return chip;
}

// 20 x 40 are 5 x 5 = 25 tiles of 4 x 8: three waves of 10, of which 25 of 30 are filled. As 8 x 4
// they are 3 x 10 = 30 tiles, a fifth of which lie outside. An inner dimension split in 2 makes 50
// tiles: five full waves.
TEST(Duration, OfAProductIsWholeWavesOfTiles) {
  Operation product = matrix_product("a", 20, 1000, 40);
  product.bytes = 0;
  const double busy = 2.0 * 20 * 1000 * 40 / (100 * 0.5);
  EXPECT_NEAR(duration(product, tiled_chip(), in("bf16")), busy, 1e-4);
  Chip slow_memory = tiled_chip();
  slow_memory.hbm_bandwidth = exactly(1);
  // To write and read 16 bytes of partial sums for each result takes longer than the idle sixth.
  EXPECT_NEAR(duration(product, slow_memory, in("bf16")), busy * 1.2 + 2 * 800, 1e-9);
}

TEST(Duration, OfAProductNeverBeatsItsProcessors) {
  const Chip chip = tiled_chip();
  for (const double rows : {1.0, 7.0, 64.0, 1000.0})
    for (const double columns : {1.0, 13.0, 80.0}) {
      const Operation product = matrix_product("a", rows, 50, columns);
      EXPECT_GE(duration(product, chip, in("bf16")), product.flops / 50);
    }
}

// Half of the efficiency at `half` tokens, all of it without a mask, 0.9 of it at heads of 64 and
// 0.9 of that at 32.
TEST(Duration, OfAttentionFollowsTheKernel) {
  Chip chip = tiled_chip();
  chip.attention["k"] = {{exactly(0.8), exactly(300)}, {exactly(0.4), exactly(100)}, exactly(0.9)};
  Operation operation{.name = "a", .kind = Operation::Kind::attention, .flops = 1000};
  Training training;
  EXPECT_DOUBLE_EQ(duration(operation, chip, training), 1000 / 25.0);
  training.attention_kernel = "k";
  EXPECT_DOUBLE_EQ(duration(operation, chip, training), 1000 / 80.0);
  operation.sequence = 300;
  EXPECT_DOUBLE_EQ(duration(operation, chip, training), 1000 / 40.0);
  operation.head_dim = 64;
  EXPECT_DOUBLE_EQ(duration(operation, chip, training), 1000 / 36.0);
  operation.head_dim = 32;
  EXPECT_DOUBLE_EQ(duration(operation, chip, training), 1000 / 32.4);
  operation.head_dim = 256;
  operation.backward = true;
  EXPECT_DOUBLE_EQ(duration(operation, chip, training), 1000 / (40 * 0.75));
}

// 8 queries and 8 keys of 2 heads of 16: 128 scores, masked or not. Two products forward and four
// backward of 2 x 16 FLOPs a score; 13 and 19 bytes of HBM a score.
TEST(Duration, OfUnfusedAttentionIsThatOfItsProductsAndOfPassesOverAllScores) {
  Chip chip = tiled_chip();
  chip.hbm_bandwidth = exactly(10);
  chip.hbm_efficiency = exactly(0.5);
  Operation operation{.name = "a", .kind = Operation::Kind::attention, .flops = 1000};
  operation.head_dim = 16;
  operation.scores = 128;
  Training training;
  training.attention_kernel = "unfused";
  EXPECT_DOUBLE_EQ(duration(operation, chip, training), 128 * (2 * 32 / 50.0 + 13 / 5.0));
  operation.backward = true;
  EXPECT_DOUBLE_EQ(duration(operation, chip, training), 128 * (4 * 32 / 50.0 + 19 / 5.0));
}

// 300 of 300 + 100 columns, sqrt(20 x 45) = 30 of 30 + 10 results.
TEST(Duration, OfASmallProductLosesItsEnds) {
  Chip chip = tiled_chip();
  chip.tiles = {};
  Operation product = matrix_product("a", 20, 300, 45);
  product.bytes = 0;
  const double whole = 2.0 * 20 * 300 * 45 / 50;
  EXPECT_DOUBLE_EQ(duration(product, chip, in("bf16")), whole);
  chip.fill = {exactly(100), exactly(10)};
  EXPECT_DOUBLE_EQ(duration(product, chip, in("bf16")), whole / (0.75 * 0.75));
}

// A piece takes its part of the whole product's time, and an overhead of its own.
TEST(Duration, OfAPieceIsAPartOfTheWhole) {
  Chip chip = tiled_chip();
  chip.fill = {exactly(100), exactly(10)};
  chip.op_overhead = exactly(3);
  Operation product = matrix_product("a", 20, 300, 45);
  const double whole = duration(product, chip, in("bf16")) - 3;
  product.part = 0.25;
  EXPECT_DOUBLE_EQ(duration(product, chip, in("bf16")), whole / 4 + 3);
}

TEST(Duration, TakesTheOverheadOfTheSoftwareInPlaceOfTheChips) {
  Chip chip = tiled_chip();
  chip.op_overhead = exactly(3);
  Operation product = matrix_product("a", 20, 300, 45);
  Training training;
  const double busy = duration(product, chip, training) - 3;
  training.software = Software{};
  training.software->op_overhead = exactly(7);
  EXPECT_NEAR(duration(product, chip, training), busy + 7, 1e-9);
}

// The expected largest of n standard normal values: 1 / sqrt(pi) of 2, 3 / (2 sqrt(pi)) of 3; of
// 10, 100 and 1,000 as tabulated (Harter, Biometrika 48, 1961; Teichroew, Annals of Math. Stat. 27,
// 1956).
TEST(SlowestOf, IsTheExpectedLargestOfNormalValues) {
  EXPECT_EQ(slowest_of(1, 0.1), 1);
  EXPECT_EQ(slowest_of(1000, 0), 1);
  EXPECT_NEAR(slowest_of(2, 0.1), 1 + 0.1 / std::sqrt(M_PI), 1e-9);
  EXPECT_NEAR(slowest_of(3, 0.1), 1 + 0.15 / std::sqrt(M_PI), 1e-9);
  EXPECT_NEAR(slowest_of(10, 0.1), 1.153875, 1e-6);
  EXPECT_NEAR(slowest_of(100, 0.1), 1.250759, 1e-6);
  EXPECT_NEAR(slowest_of(1000, 0.1), 1.324144, 1e-6);
}

// 4 bytes for each element of what is new: both inputs forward, the output's gradient backward.
TEST(Duration, OfFp8IncludesItsCasts) {
  Chip chip = tiled_chip();
  chip.tiles = {};
  chip.hbm_bandwidth = exactly(1);
  Operation product = matrix_product("a", 2, 3, 5);
  product.bytes = 0;
  product.casts = true;
  const Operations backward = backward_of({product});
  EXPECT_DOUBLE_EQ(duration(product, chip, in("bf16")), 60 / 50.0);
  EXPECT_DOUBLE_EQ(duration(product, chip, in("fp8")), 60 / 100.0 + 4 * (2 * 3 + 3 * 5));
  EXPECT_DOUBLE_EQ(duration(backward[0], chip, in("fp8")), 60 / 100.0);
  EXPECT_DOUBLE_EQ(duration(backward[1], chip, in("fp8")), 60 / 100.0 + 4 * 2 * 5);
  // A scale of a byte for each 32 elements; for each 16, and one more look at all of them.
  EXPECT_DOUBLE_EQ(duration(product, chip, in("mxfp8")), 60 / 100.0 + (4 + 2.0 / 32) * 21);
  chip.peak["fp4"] = exactly(400);
  chip.gemm_efficiency_fp4 = exactly(0.5);
  EXPECT_DOUBLE_EQ(duration(product, chip, in("fp4")), 60 / 200.0 + (5 + 2.0 / 16) * 21);
  product.frozen = true;
  const Operations frozen = backward_of({product});
  ASSERT_EQ(frozen.size(), 1);
  EXPECT_DOUBLE_EQ(duration(frozen[0], chip, in("fp8")), 60 / 100.0 + 4 * 2 * 5);
}

// What PyTorch's kernels read and write, by hand, for one token of a hidden size of 2: a layer norm
// 4 and 10 bytes an element, its residual 6 and 6; biases of 3 x 2, 2, 1 and 2 outputs.
TEST(Cost, OfEagerExecutionIsThatOfItsKernels) {
  Architecture model{"small", 1, 2, 1, 1, 2, 1, false, 10, true};
  model.norm = Norm::layer;
  model.biases = Biases::all;
  Training training;
  training.execution = Execution::eager;
  const PartOperations layer = model_operations(model, training)[1];
  EXPECT_EQ(find(layer.forward, "mlp norm").bytes, 4 * 2);
  EXPECT_EQ(find(layer.backward, "mlp norm").bytes, 10 * 2);
  EXPECT_EQ(find(layer.forward, "residual").bytes, 6 * 2);
  EXPECT_EQ(find(layer.backward, "residual").bytes, 6 * 2);
  EXPECT_EQ(find(layer.backward, "qkv bias gradient").bytes, 2 * 6);
  EXPECT_EQ(find(layer.backward, "mlp down bias gradient").bytes, 2 * 2);
}

TEST(Cost, OfAFusedLossIsBf16) {
  const Architecture model{"small", 1, 2, 1, 1, 2, 1, false, 10, true};
  Training training;
  EXPECT_EQ(find(model_operations(model, training)[2].forward, "loss").bytes, 12 * 10);
  training.loss = Loss::fused;
  EXPECT_EQ(find(model_operations(model, training)[2].forward, "loss").bytes, 6 * 10);
  EXPECT_EQ(logits_bytes(model, training), 4 * 10);
}

}  // namespace
}  // namespace trnsim::test
