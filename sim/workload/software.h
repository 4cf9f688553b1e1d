#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_reader.h"

namespace trnsim {

/// What the software of a training run costs beside the chip's work: how launches are made, and
/// what a step spends on the host.
struct Software {
  std::string name;
  Number op_overhead;    // seconds that a chip idles between two kernels; replaces the chip's
  Number step_overhead;  // seconds of a step in which chips wait for the host
  /// Seconds in each forward pass of a layer with experts in which chips wait for the host.
  Number routing_overhead;
  std::optional<Number> grouped_efficiency;  // of products of several experts; replaces the chip's
  /// How often its kernels pass over the tokens of experts, over what plan/transformer_cost counts.
  std::optional<Number> token_passes;
  std::vector<Number> numbers;  // every sourced number above, as read
};

/// Reads a "trnsim.software.v1" object. Throws InputError.
Software read_software(JsonReader json);

}  // namespace trnsim
