#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "plan/collectives.h"
#include "plan/scenario.h"
#include "plan/training_parts.h"

namespace trnsim {

/// The blocks of a training step: for each microbatch one for each part of the model forward and
/// one for each backward; then the optimizer.
struct StepBlocks {
  size_t parts = 1;
  size_t microbatches = 1;

  struct Place {
    size_t part;
    bool backward;
    size_t microbatch;
  };

  size_t count() const { return microbatches * 2 * parts + 1; }
  size_t optimizer() const { return count() - 1; }
  Place place(size_t block) const;
};

/// The name under which a block publishes a step.
Name name_of(Name::What what, size_t block);

/// The groups, streams and names of a job's collectives.
class DataCollectives {
 public:
  DataCollectives(const Job& job, Plan& plan);

  /// The ranks that share one copy of what is sharded (all, if nothing is), and those that hold the
  /// same shard; either may have no axes.
  Group shard, replicas;

  /// A collective that the plan will have; to be called before it is added.
  void announce(Plan& plan, CollectiveOp op, const std::string& what, const Group& group,
                Bytes bytes);
  /// Adds one with its label and what its first step takes and its last frees of memory.
  Position add(Unrolled& program, CollectiveOp op, const std::string& what, const Group& group,
               Bytes bytes, Label label, std::vector<Position> after, int64_t memory_at_begin = 0,
               int64_t memory_at_end = 0) const;

 private:
  using Key = std::tuple<CollectiveOp, std::string, std::string, Bytes>;

  /// The group as collectives of this kind use it.
  const Group& variant(CollectiveOp op, const Group& group) const;

  Reduction reduction_;
  std::map<std::pair<CollectiveOp, std::string>, Group> variants_;  // by name of the group
  std::map<CollectiveOp, StreamId> streams_;
  std::map<CollectiveOp, uint16_t> names_;
  std::map<Key, CollectiveId> ids_;
};

/// How the parameters of rank 0 reach all others before a job's first step, as one buffer on the
/// stream of gathers.
class ParameterBroadcast {
 public:
  /// After the plan has its streams.
  ParameterBroadcast(const Job& job, Plan& plan);

  /// Adds it at the begin of the program, if the layout wants it, and publishes its end.
  void add(Unrolled& program) const;
  static constexpr Name name{Name::What::broadcast};

 private:
  Group chains_;
  Bytes bytes_ = 0;
  CollectiveSteps steps_;
};

/// What a kind of data parallelism adds to the compute of a training step. Never changes once made.
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
std::unique_ptr<const DataParallel> make_bucketed(const Job& job, const ModelParts& parts,
                                                  Plan& plan);
/// ZeRO-3 and FSDP: each part of the model is gathered before it is computed and its gradient
/// reduced after.
std::unique_ptr<const DataParallel> make_fully_sharded(const Job& job, const ModelParts& parts,
                                                       Plan& plan);

}  // namespace trnsim
