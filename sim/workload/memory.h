#pragma once

#include <string>
#include <vector>

#include "workload/architecture.h"
#include "workload/recipe.h"

namespace trnsim {

/// One thing that takes memory on a chip.
struct MemoryPart {
  std::string name;
  Bytes bytes = 0;
};

/// What a chip of a pipeline stage holds at the fullest moment of a step, part by part (bytes,
/// rounded up).
///
/// Parameters bf16 or fp8; AdamW holds an fp32 copy and two fp32 moments (12 bytes a parameter, as
/// in ZeRO, arXiv:1910.02054), SGD an fp32 copy and one. Activations follow "Reducing Activation
/// Recomputation" (arXiv:2205.05198) for a layer with fused attention and without dropout, for as
/// many passes as the schedule has in flight.
std::vector<MemoryPart> memory_parts(const Architecture& model, const Training& training,
                                     const Layout& layout, uint64_t stage);

/// The stage whose chips hold most, the first of equals.
uint64_t fullest_stage(const Architecture& model, const Training& training, const Layout& layout);
/// What a chip of that stage holds.
std::vector<MemoryPart> memory_parts(const Architecture& model, const Training& training,
                                     const Layout& layout);

/// The sum of the parts.
Bytes total(const std::vector<MemoryPart>& parts);

}  // namespace trnsim
