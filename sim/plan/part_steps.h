#pragma once

#include <functional>
#include <vector>

#include "plan/training_collectives.h"
#include "plan/training_parts.h"

namespace trnsim {

/// The stream of a chip's compute, in every plan.
constexpr StreamId compute_stream = 0;

/// What stands around the operations of a part in one pass.
struct PartSteps {
  bool backward = false;
  Label label = {};
  std::vector<Position> begin = {};   // what its collectives and its compute wait for
  std::vector<Position> needed = {};  // and what its compute waits for beside
  int64_t memory_at_begin = 0;        // of its first compute
  int64_t memory_at_end = 0;          // of its last
  /// Is told of each operation's last step.
  std::function<void(size_t operation, Position last)> after_operation = {};
};

/// Tells of the collectives between operations; to be called before they are added.
void announce(const std::vector<TimedOperation>& operations, TrainingCollectives& collectives,
              Plan& plan);
/// Adds the steps of a part's operations, and returns the last.
Position add_operations(const std::vector<TimedOperation>& operations, const PartSteps& steps,
                        const TrainingCollectives& collectives, Unrolled& program);

}  // namespace trnsim
