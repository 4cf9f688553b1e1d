#pragma once

#include <optional>
#include <vector>

#include "plan/training_parts.h"
#include "workload/schedule.h"

namespace trnsim {

/// The blocks of a stage's training step: one for each part of the model in each pass of its
/// schedule; then the optimizer.
class StageBlocks {
 public:
  /// `merged`: passes beside which no collective of data parallelism runs are one block each.
  StageBlocks(const Job& job, uint64_t stage, ModelParts parts, bool merged = false);

  struct Place {
    size_t pass = 0;
    size_t part = 0;  // the first in its pass, if there are several
    size_t parts = 1;
    bool backward = false;
    size_t microbatch = 0;
    bool first_of_pass = false;
    bool last_of_pass = false;
  };

  const ModelParts& parts() const { return parts_; }
  const std::vector<Pass>& passes() const { return passes_; }
  size_t count() const { return first_block_.back() + 1; }
  size_t optimizer() const { return count() - 1; }
  /// Where a block before the optimizer's stands.
  Place place(size_t block) const;
  /// The block that ends a pass.
  size_t last_of(size_t pass) const { return first_block_[pass + 1] - 1; }
  bool is_last_microbatch(const Place& at) const { return at.microbatch + 1 == microbatches_; }
  /// Whether the forward pass of a part is followed at once by its backward pass.
  bool turns_after(size_t block) const;

 private:
  // Parts of the pass in one block.
  size_t parts_at_once(const Pass& pass) const;

  ModelParts parts_;
  bool merged_;
  bool always_busy_;  // with collectives of data parallelism
  std::vector<Pass> passes_;
  std::vector<size_t> first_block_;  // of each pass, and the optimizer's
  uint64_t microbatches_;
};

/// The name under which a block publishes a step.
Name name_of(Name::What what, size_t block);

}  // namespace trnsim
