#pragma once

#include <memory>
#include <vector>

#include "plan/scenario.h"
#include "plan/stage_blocks.h"
#include "plan/training_collectives.h"
#include "plan/training_parts.h"

namespace trnsim {

/// What a kind of data parallelism adds to the compute of one stage's training step. Never changes
/// once made; `blocks` and `collectives` must outlive it.
class DataParallel {
 public:
  virtual ~DataParallel() = default;
  /// Adds the gathers that may start when a block begins.
  virtual void before(size_t block, Unrolled& program) const = 0;
  /// What the compute of a block, or the optimizer, waits for beside the compute before it.
  virtual std::vector<Position> needs(size_t block, const Unrolled& program) const = 0;
  /// Adds the reductions that may start when an operation of a block's compute has ended.
  virtual void after_operation(size_t block, size_t operation, Position computed,
                               Unrolled& program) const = 0;
  /// Bytes that a block takes when its compute begins, and frees when it ends, beside activations.
  virtual int64_t taken(size_t block) const = 0;
  virtual int64_t freed(size_t block) const = 0;
};

/// DDP and ZeRO-1 and -2: gradients are reduced in buckets; with a sharded optimizer parameters are
/// gathered in buckets before the first forward pass needs them.
std::unique_ptr<const DataParallel> make_bucketed(const Job& job, const StageBlocks& blocks,
                                                  TrainingCollectives& collectives, Plan& plan);
/// ZeRO-3 and FSDP: each part of the model is gathered before it is computed and its gradient
/// reduced after.
std::unique_ptr<const DataParallel> make_fully_sharded(const Job& job, const StageBlocks& blocks,
                                                       TrainingCollectives& collectives,
                                                       Plan& plan);

}  // namespace trnsim
