#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "plan/collectives.h"
#include "plan/groups.h"
#include "plan/operation.h"
#include "plan/scenario.h"

namespace trnsim {

/// The groups, streams and names of a job's collectives, which all stages share.
class TrainingCollectives {
 public:
  /// Gives the plan its streams.
  TrainingCollectives(const Job& job, Plan& plan);

  /// The ranks that share one copy of what is sharded (all that hold the same parameters, if
  /// nothing is), and those that hold the same shard; either may have no axes.
  Group shard, across;
  /// Those that split products, and sequences. `context` runs what the layout's method needs.
  Group tensor, context;
  /// Those that share out the experts of a layer, and those that hold the same ones where these are
  /// others than hold the rest of a layer.
  Group experts, expert_replicas;
  /// Of the first those inside a unit, and those across units.
  Group experts_inside, experts_across;

  /// A collective that the plan will have; to be called before it is added.
  void announce(Plan& plan, CollectiveOp op, const std::string& what, const Group& group,
                Bytes bytes);
  /// Adds one with its label and what its first step takes and its last frees of memory.
  Position add(Unrolled& program, CollectiveOp op, const std::string& what, const Group& group,
               Bytes bytes, Label label, std::vector<Position> after, int64_t memory_at_begin = 0,
               int64_t memory_at_end = 0) const;

  const Group& over(Transfer::Over over) const;
  /// The stream on which a collective of this kind over this group runs.
  StreamId stream(CollectiveOp op, const Group& group) const;
  const Reduction& reduction() const { return reduction_; }

 private:
  using Key = std::tuple<CollectiveOp, std::string, std::string, Bytes>;

  Group make(const Job& job, const std::string& name, const std::vector<Axis>& axes,
             StreamId stream, Plan& plan);
  /// The group as collectives of this kind use it.
  const Group& variant(CollectiveOp op, const Group& group) const;

  Reduction reduction_;
  std::map<std::pair<CollectiveOp, std::string>, Group> variants_;  // by name of the group
  std::map<CollectiveOp, StreamId> streams_;                        // of shard and across
  std::map<std::string, StreamId> streams_of_groups_;               // of the others
  std::map<CollectiveOp, uint16_t> names_;
  std::map<Key, CollectiveId> ids_;
};

/// How the parameters of the first of the ranks that hold them reach the others before a job's
/// first step, as one buffer on the stream of gathers.
class ParameterBroadcast {
 public:
  /// After the plan has its streams.
  ParameterBroadcast(const Job& job, uint64_t stage, Plan& plan);

  /// Adds it at the begin of the program, if the layout wants it, and publishes its end.
  void add(Unrolled& program) const;
  static constexpr Name name{Name::What::broadcast};

 private:
  Group chains_;
  Bytes bytes_ = 0;
  CollectiveSteps steps_;
};

}  // namespace trnsim
