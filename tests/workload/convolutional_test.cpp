#include "workload/convolutional.h"

#include <gtest/gtest.h>

#include "errors.h"
#include "workload/load.h"

namespace trnsim {
namespace {

using test::error_of;
using test::load_workload;

constexpr const char* basic_stages = R"([
  {"repeat": 3, "convolutions": [{"kernel": 3, "out": 64}, {"kernel": 3, "out": 64}]},
  {"repeat": 4, "convolutions": [{"kernel": 3, "out": 128, "stride": 2}, {"kernel": 3, "out": 128}]},
  {"repeat": 6, "convolutions": [{"kernel": 3, "out": 256, "stride": 2}, {"kernel": 3, "out": 256}]},
  {"repeat": 3, "convolutions": [{"kernel": 3, "out": 512, "stride": 2}, {"kernel": 3, "out": 512}]}])";

// What torchvision documents of its weights: num_params and GFLOPS, which are 10^9 multiplications
// with an addition in convolutions and linear layers.
TEST(ConvolutionalNetwork, IsThePublishedResNet) {
  struct Published {
    std::vector<Override> changes;
    uint64_t parameters;
    double multiply_adds;
  };
  const std::vector<Published> published = {
      {{}, 25557032, 4.09e9},
      {{{"architecture.stages.2.repeat", "23"}}, 44549160, 7.80e9},
      {{{"architecture.stages.1.repeat", "8"}, {"architecture.stages.2.repeat", "36"}},
       60192808,
       11.51e9},
      {{{"architecture.stages", basic_stages}}, 21797672, 3.66e9}};
  for (const Published& row : published) {
    std::vector<Override> changes = row.changes;
    changes.push_back({"parameters", std::to_string(row.parameters)});
    const Architecture model = load_workload("resnet-50.json", changes);
    EXPECT_EQ(model.parameters(), row.parameters);
    EXPECT_NEAR(model.convolutional->multiply_adds(), row.multiply_adds, 0.005e9);
  }
}

// Table 1 of arXiv:1512.03385 has 3.8 x 10^9, with the stride of a block in its first convolution.
TEST(ConvolutionalNetwork, NeedsLessWithAnEarlierStride) {
  std::vector<Override> changes;
  for (const char* stage : {"1", "2", "3"}) {
    const std::string convolutions = std::string("architecture.stages.") + stage + ".convolutions.";
    changes.push_back({convolutions + "0.stride", "2"});
    changes.push_back({convolutions + "1.stride", "1"});
  }
  const Architecture model = load_workload("resnet-50.json", changes);
  EXPECT_EQ(model.parameters(), 25557032);
  EXPECT_NEAR(model.convolutional->multiply_adds(), 3.8e9, 0.06e9);
}

// MMEngine's model analysis counts 11.115 million outputs of convolutions and of the classifier.
TEST(ConvolutionalNetwork, HasAsManyActivationsAsPublished) {
  const ConvolutionalNetwork network = *load_workload("resnet-50.json").convolutional;
  uint64_t outputs = network.stem.outputs() + network.classes;
  for (const ResidualBlock& block : network.blocks) {
    uint64_t of_block = block.projection ? block.projection->outputs() : 0;
    for (const Convolution& convolution : block.convolutions) of_block += convolution.outputs();
    outputs += block.repeats * of_block;
  }
  EXPECT_NEAR(static_cast<double>(outputs), 11.115e6, 500);
}

TEST(ConvolutionalNetwork, ExpandsStages) {
  const Architecture model = load_workload("resnet-50.json");
  const std::vector<ResidualBlock>& blocks = model.convolutional->blocks;
  EXPECT_EQ(model.layers, 16);
  ASSERT_EQ(blocks.size(), 8);
  EXPECT_EQ(blocks[2].name, "stage 2, first block");
  EXPECT_EQ(blocks[2].repeats, 1);
  ASSERT_TRUE(blocks[2].projection);
  EXPECT_EQ(blocks[2].projection->in, 256);
  EXPECT_EQ(blocks[2].projection->out, 512);
  EXPECT_EQ(blocks[2].projection->in_size, 56);
  EXPECT_EQ(blocks[2].projection->out_size(), 28);
  EXPECT_EQ(blocks[3].name, "stage 2, later block");
  EXPECT_EQ(blocks[3].repeats, 3);
  EXPECT_FALSE(blocks[3].projection);
  EXPECT_EQ(blocks[3].convolutions[1].stride, 1);
  EXPECT_EQ(blocks[3].convolutions[1].in_size, 28);
  EXPECT_EQ(model.convolutional->last().out_size(), 7);
}

// Nobody needs the gradient of an image: 118 million of 4,089 are done twice and not three times.
TEST(ConvolutionalNetwork, NeedsNoGradientOfAnImage) {
  const Architecture model = load_workload("resnet-50.json");
  const double stem = 7 * 7 * 3 * 64 * 112.0 * 112;
  EXPECT_DOUBLE_EQ(model.model_flops_per_token(1),
                   6 * model.convolutional->multiply_adds() - 2 * stem);
  EXPECT_EQ(model.longest_sequence(), 1);
}

TEST(ConvolutionalNetwork, RoundsOddSizesUp) {
  const Convolution odd{.in = 1, .out = 1, .kernel = 3, .stride = 2, .in_size = 7};
  EXPECT_EQ(odd.out_size(), 4);
  EXPECT_EQ(odd.inputs(), 49);
  EXPECT_EQ(odd.outputs(), 16);
  EXPECT_EQ(odd.parameters(), 9 + 2);
}

TEST(ReadConvolutionalNetwork, RefusesWhatIsNoNetwork) {
  const auto with = [](const std::string& path, const std::string& value) {
    return error_of([&] { load_workload("resnet-50.json", {{"architecture." + path, value}}); });
  };
  EXPECT_EQ(with("stages", "[]"), "--set architecture.stages: a network needs at least one stage");
  EXPECT_EQ(with("stages.0.convolutions", "[]"),
            "--set architecture.stages.0.convolutions: a block needs at least one convolution");
  EXPECT_EQ(with("stages.0.convolutions.1.strid", "2"),
            "--set architecture.stages.0.convolutions.1.strid: unknown key; did you mean "
            "\"stride\"?");
  EXPECT_EQ(with("stages.0.repeat", "0"),
            "--set architecture.stages.0.repeat: 0 must be a whole number from 1 to 10000");
  EXPECT_EQ(with("layers", "16"), "--set architecture.layers: unknown key");
}

}  // namespace
}  // namespace trnsim
