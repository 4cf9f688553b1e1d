#pragma once

#include <cstdint>
#include <vector>

#include "workload/recipe.h"

namespace trnsim {

/// One chunk of a stage, forward or backward, for one microbatch.
struct Pass {
  uint64_t microbatch = 0;
  uint64_t chunk = 0;
  bool backward = false;

  bool operator==(const Pass&) const = default;
};

/// The order in which a stage runs its passes (Narayanan et al., arXiv:2104.04473, figures 3 and
/// 4). GPipe: all forward, then all backward. 1F1B: as many forward as stages follow, then one of
/// each in turn. Interleaved: the same with passes of chunks; microbatches go through all chunks in
/// groups of as many as there are stages, of which their number must be a multiple. Without a
/// pipeline each microbatch runs forward and backward before the next.
std::vector<Pass> schedule(const Layout& layout, uint64_t stage, uint64_t microbatches);

}  // namespace trnsim
