#include "workload/activations.h"

#include <gtest/gtest.h>

#include "workload/load.h"

namespace trnsim {
namespace {

using test::load_workload;

Training images(uint64_t count, Recompute recompute) {
  Training made;
  made.micro_batch = count;
  made.recompute = recompute;
  return made;
}

TEST(Activations, OfATransformerAreThoseOfItsLayers) {
  const Architecture model = load_workload("llama-3.1-8b.json");
  Training training;
  training.sequence_length = 1000;
  for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
    training.recompute = recompute;
    EXPECT_EQ(activation_bytes(model, training), 32 * layer_activation_bytes(model, training));
  }
}

// Q has 64 x 128 elements and K 8 x 128, in bf16; both are kept before and after their norms.
TEST(Activations, HoldQueriesAndKeysTwiceIfTheyAreNormalised) {
  const Architecture model = load_workload("qwen3-32b.json");
  Architecture plain = model;
  plain.qk_norm = false;
  const Training training;
  EXPECT_EQ(layer_activation_bytes(model, training) - layer_activation_bytes(plain, training),
            2 * (64 * 128 + 8 * 128));
}

// Of a token: what the norm of the embedding reads, and in the head three times 1024 elements.
TEST(Activations, OfTheEndsOfBert) {
  const Architecture model = load_workload("bert-large.json");
  const Training training;
  EXPECT_EQ(embedding_activation_bytes(model, training), 2 * 1024);
  EXPECT_EQ(logits_bytes(model, training), 30522 * (2 + 4) + 3 * 2 * 1024);
}

// The first block of stage 2 of ResNet-50, by hand, elements of an image: the input of 256 maps of
// 56 x 56; 128 of 56 x 56 and 128 of 28 x 28, each before and after its normalisation; 512 of 28 x
// 28 before it; and the projection, 512 of 28 x 28, before it.
TEST(Activations, OfAResidualBlockByHand) {
  const ConvolutionalNetwork network = *load_workload("resnet-50.json").convolutional;
  const ResidualBlock& block = network.blocks[2];
  const Bytes input = 256 * 56 * 56;
  const Bytes all = input + 2 * 128 * 56 * 56 + 2 * 128 * 28 * 28 + 512 * 28 * 28 + 512 * 28 * 28;
  EXPECT_EQ(block_activation_bytes(block, images(1, Recompute::none)), 2 * all);
  EXPECT_EQ(block_activation_bytes(block, images(32, Recompute::none)), 32 * 2 * all);
  EXPECT_EQ(block_activation_bytes(block, images(1, Recompute::selective)), 2 * all);
  EXPECT_EQ(block_activation_bytes(block, images(1, Recompute::full)), 2 * input);
}

TEST(Activations, OfAConvolutionalNetworkAreThoseOfStemAndBlocks) {
  const Architecture model = load_workload("resnet-50.json");
  const Training training = images(4, Recompute::none);
  Bytes sum = 4 * 2 * (3 * 224 * 224 + 2 * 64 * 112 * 112);  // image, stem before and after norm
  Bytes most = 0;
  for (const ResidualBlock& block : model.convolutional->blocks) {
    sum += block.repeats * block_activation_bytes(block, training);
    most = std::max(most, block_activation_bytes(block, training));
  }
  EXPECT_EQ(activation_bytes(model, training), sum);
  EXPECT_EQ(layer_activation_bytes(model, training), most);
  EXPECT_EQ(logits_bytes(model, training), 4 * (1000 * (2 + 4) + 2 * 2048));
}

}  // namespace
}  // namespace trnsim
