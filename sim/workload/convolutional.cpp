#include "workload/convolutional.h"

#include <algorithm>

namespace trnsim {
namespace {

uint64_t count(const JsonReader& json, int64_t high) {
  return static_cast<uint64_t>(json.as_integer(1, high));
}

uint64_t count_or_one(JsonReader& json, const char* key, int64_t high) {
  const auto found = json.find(key);
  return found ? count(*found, high) : 1;
}

// A convolution of `in` channels of maps of `size`.
Convolution read_convolution(JsonReader& json, uint64_t in, uint64_t size) {
  Convolution made{.in = in, .in_size = size};
  made.out = count(json.at("out"), 100'000);
  made.kernel = count(json.at("kernel"), 1000);
  made.stride = count_or_one(json, "stride", 1000);
  return made;
}

// A block of which the convolutions are `items`. Only the first block of a stage has their strides.
ResidualBlock read_block(std::vector<JsonReader> items, uint64_t in, uint64_t size, bool first) {
  ResidualBlock block;
  uint64_t channels = in;
  uint64_t smaller = size;
  for (JsonReader& item : items) {
    Convolution made = read_convolution(item, channels, smaller);
    item.reject_unknown_keys();
    if (!first) made.stride = 1;
    block.convolutions.push_back(made);
    channels = made.out;
    smaller = made.out_size();
  }
  if (channels != in || smaller != size) {
    uint64_t stride = 1;
    for (const Convolution& made : block.convolutions) stride *= made.stride;
    block.projection =
        Convolution{.in = in, .out = channels, .kernel = 1, .stride = stride, .in_size = size};
  }
  return block;
}

void add_stage(ConvolutionalNetwork& network, JsonReader stage, uint64_t in, uint64_t size,
               const std::string& name) {
  const uint64_t repeats = count(stage.at("repeat"), 10'000);
  const JsonReader convolutions = stage.at("convolutions");
  stage.reject_unknown_keys();
  if (convolutions.items().empty()) convolutions.fail("a block needs at least one convolution");
  network.blocks.push_back(read_block(convolutions.items(), in, size, true));
  network.blocks.back().name = name + ", first block";
  if (repeats == 1) return;
  const Convolution last = network.last();
  network.blocks.push_back(read_block(convolutions.items(), last.out, last.out_size(), false));
  network.blocks.back().name = name + ", later block";
  network.blocks.back().repeats = repeats - 1;
}

}  // namespace

uint64_t ResidualBlock::parameters() const {
  uint64_t sum = projection ? projection->parameters() : 0;
  for (const Convolution& convolution : convolutions) sum += convolution.parameters();
  return sum;
}

double ResidualBlock::multiply_adds() const {
  double sum = projection ? projection->multiply_adds() : 0;
  for (const Convolution& convolution : convolutions) sum += convolution.multiply_adds();
  return sum;
}

uint64_t ConvolutionalNetwork::block_count() const {
  uint64_t sum = 0;
  for (const ResidualBlock& block : blocks) sum += block.repeats;
  return sum;
}

uint64_t ConvolutionalNetwork::block_parameters() const {
  uint64_t sum = 0;
  for (const ResidualBlock& block : blocks) sum += block.repeats * block.parameters();
  return sum;
}

uint64_t ConvolutionalNetwork::largest_block_parameters() const {
  uint64_t largest = 0;
  for (const ResidualBlock& block : blocks) largest = std::max(largest, block.parameters());
  return largest;
}

double ConvolutionalNetwork::multiply_adds() const {
  double sum = stem.multiply_adds() + static_cast<double>(last().out * classes);
  for (const ResidualBlock& block : blocks)
    sum += static_cast<double>(block.repeats) * block.multiply_adds();
  return sum;
}

ConvolutionalNetwork read_convolutional_network(JsonReader& json) {
  ConvolutionalNetwork network;
  const uint64_t size = count(json.at("image_size"), 100'000);
  const uint64_t channels = count(json.at("image_channels"), 1000);
  JsonReader stem = json.at("stem");
  network.stem = read_convolution(stem, channels, size);
  network.pool = count_or_one(stem, "pool", 1000);
  stem.reject_unknown_keys();
  const JsonReader stages = json.at("stages");
  if (stages.items().empty()) stages.fail("a network needs at least one stage");
  uint64_t in = network.stem.out;
  uint64_t in_size = network.pooled_size();
  size_t number = 0;
  for (const JsonReader& stage : stages.items()) {
    add_stage(network, stage, in, in_size, "stage " + std::to_string(++number));
    in = network.last().out;
    in_size = network.last().out_size();
  }
  network.classes = count(json.at("classes"), 100'000'000);
  return network;
}

}  // namespace trnsim
