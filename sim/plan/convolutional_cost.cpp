#include "plan/convolutional_cost.h"

#include <algorithm>

#include "workload/activations.h"

namespace trnsim {
namespace {

constexpr double bf16 = 2;  // bytes
constexpr double fp32 = 4;

// The elements that a convolution reads: all, unless its stride steps over whole rows and columns.
double elements_read(const Convolution& convolution) {
  const uint64_t size = std::min(convolution.in_size, convolution.out_size() * convolution.kernel);
  return static_cast<double>(convolution.in * size * size);
}

void add_convolution(const std::string& name, const Convolution& convolution, double images,
                     bool shortcut, Operations& operations) {
  const auto outputs = images * static_cast<double>(convolution.outputs());
  Operation made{.name = name, .kind = Operation::Kind::matrix};
  made.flops = 2 * images * convolution.multiply_adds();
  made.bytes = bf16 * (images * elements_read(convolution) +
                       static_cast<double>(convolution.weights()) + outputs);
  made.parameters = convolution.weights();
  operations.push_back(made);
  operations.push_back(
      memory_operation("batch norm", (shortcut ? 4 : 3) * bf16 * outputs, 2 * convolution.out));
}

Operations stem(const ConvolutionalNetwork& network, double images) {
  Operations made;
  add_convolution("stem convolution", network.stem, images, /*shortcut=*/false, made);
  made.front().input_gradient = false;
  const auto pooled =
      static_cast<double>(network.stem.out * network.pooled_size() * network.pooled_size());
  const auto read = static_cast<double>(network.stem.outputs());
  if (network.pool > 1)
    made.push_back(memory_operation("pooling", bf16 * images * (read + pooled)));
  return made;
}

Operations block_forward(const ResidualBlock& block, double images) {
  Operations made;
  if (block.projection)
    add_convolution("projection", *block.projection, images, /*shortcut=*/false, made);
  for (size_t i = 0; i < block.convolutions.size(); ++i)
    add_convolution("convolution", block.convolutions[i], images,
                    /*shortcut=*/i + 1 == block.convolutions.size(), made);
  return made;
}

// All but the loss.
Operations head(const ConvolutionalNetwork& network, double images) {
  const auto features = static_cast<double>(network.last().out);
  const auto averaged = static_cast<double>(network.last().outputs());
  Operation classifier =
      matrix_product("classifier", images, features, static_cast<double>(network.classes));
  classifier.parameters += network.classes;
  classifier.full_precision = true;
  return {memory_operation("average", bf16 * images * (averaged + features)), classifier};
}

}  // namespace

std::vector<PartOperations> convolutional_operations(const Architecture& model,
                                                     const Training& training) {
  const ConvolutionalNetwork& network = *model.convolutional;
  const auto images = static_cast<double>(training.micro_batch * training.sequence_length);
  std::vector<PartOperations> parts;
  const auto add = [&](const std::string& name, Operations forward, uint64_t parameters,
                       Bytes kept) -> PartOperations& {
    PartOperations part{.name = name, .forward = std::move(forward)};
    part.backward = backward_of(part.forward);
    part.parameters = part.trained = parameters;
    part.kept = kept;
    return parts.emplace_back(std::move(part));
  };
  add("stem", stem(network, images), network.stem.parameters(),
      embedding_activation_bytes(model, training));
  for (const ResidualBlock& block : network.blocks) {
    PartOperations& made = add(block.name, block_forward(block, images), block.parameters(),
                               block_activation_bytes(block, training.keeping_all()));
    made.repeats = block.repeats;
    made.kept_to_recompute = block_activation_bytes(block, training);
  }
  PartOperations& last = add("head", head(network, images), network.classifier_parameters(),
                             logits_bytes(model, training));
  const double classes = images * static_cast<double>(network.classes);
  last.forward.push_back(memory_operation("loss", (bf16 + 2 * fp32 + bf16) * classes));
  return parts;
}

}  // namespace trnsim
