#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_reader.h"

namespace trnsim {

/// A convolution of square maps without bias, batch normalisation after it. Padding keeps the size
/// of a map; the stride divides it, rounded up.
struct Convolution {
  uint64_t in = 1;   // channels
  uint64_t out = 1;  // channels
  uint64_t kernel = 1;
  uint64_t stride = 1;
  uint64_t in_size = 1;  // height, and width, of a map

  uint64_t out_size() const { return (in_size + stride - 1) / stride; }
  uint64_t weights() const { return kernel * kernel * in * out; }
  /// The weights, and a scale and a shift for each channel that comes out.
  uint64_t parameters() const { return weights() + 2 * out; }
  /// Elements of all maps, of one image.
  uint64_t inputs() const { return in * in_size * in_size; }
  uint64_t outputs() const { return out * out_size() * out_size(); }
  /// Of one image.
  double multiply_adds() const {
    return static_cast<double>(weights()) * static_cast<double>(out_size() * out_size());
  }
};

/// Residual blocks, alike, in a row: convolutions one after another, and around them a shortcut: a
/// projection where the shapes at its ends differ, else nothing but a wire.
struct ResidualBlock {
  std::string name;
  uint64_t repeats = 1;
  std::vector<Convolution> convolutions;  // of one block; at least one
  std::optional<Convolution> projection;

  uint64_t parameters() const;   // of one block
  double multiply_adds() const;  // of one block and one image
};

/// A residual network (He et al., arXiv:1512.03385): a convolution and a pooling, the stem; blocks;
/// the average of each map and a linear layer with bias, the classifier.
struct ConvolutionalNetwork {
  Convolution stem;
  uint64_t pool = 1;  // stride of the pooling after it
  std::vector<ResidualBlock> blocks;
  uint64_t classes = 1;

  /// Height, and width, of a map when the stem has done with it.
  uint64_t pooled_size() const { return (stem.out_size() + pool - 1) / pool; }
  uint64_t block_count() const;
  uint64_t block_parameters() const;  // of all blocks
  uint64_t largest_block_parameters() const;
  /// The last convolution: its maps are what the classifier averages.
  const Convolution& last() const { return blocks.back().convolutions.back(); }
  uint64_t classifier_parameters() const { return (last().out + 1) * classes; }
  /// Multiplications with an addition in one forward pass of one image.
  double multiply_adds() const;
  /// FLOPs of one image, forward and backward: 6 for each multiply_adds(), but 4 in the stem, as
  /// nobody needs the gradient of an image.
  double flops() const { return 6 * multiply_adds() - 2 * stem.multiply_adds(); }
};

/// Reads the "architecture" of kind "convolutional", but for keys that it does not know. Throws
/// InputError.
ConvolutionalNetwork read_convolutional_network(JsonReader& json);

}  // namespace trnsim
