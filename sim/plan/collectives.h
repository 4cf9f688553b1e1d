#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"
#include "workload/architecture.h"
#include "workload/recipe.h"

namespace trnsim {

/// An axis of a group with what a collective does along it.
struct GroupAxis {
  Axis axis;
  Algorithm algorithm = Algorithm::ring;
  PatternId pattern = 0;  // the ring's or the direct exchange's, in Plan::patterns
};

/// The ranks of a collective: a product of axes, the fastest fabric first.
struct Group {
  std::string name;
  std::vector<GroupAxis> axes;

  Rank size() const;
};

/// How the chips sum what arrives: all but the last chunk of a message is summed while the rest is
/// still on the wire.
struct Reduction {
  double bytes_per_second = 0;  // 0: sums cost nothing
  Bytes chunk = 0;

  /// Seconds after the last byte of `messages` messages of `bytes` each.
  Seconds tail(Bytes bytes, uint64_t messages) const;
};

enum class CollectiveOp { all_gather, reduce_scatter, all_reduce, broadcast };

/// "all_gather"
std::string to_string(CollectiveOp op);

/// What every step of one collective shares.
struct CollectiveSteps {
  StreamId stream = 0;
  Label label;
  Reduction reduction;
  int64_t memory_at_begin = 0;  // of the first
  int64_t memory_at_end = 0;    // of the last
};

/// The group over `axes` that runs `algorithm` along each; adds its patterns to the plan. Axes of
/// size 1 are left out.
Group make_group(Plan& plan, const std::string& name, const std::vector<Axis>& axes,
                 Algorithm algorithm);

/// Each of these adds the steps of one collective over a buffer of `bytes` to a program and returns
/// its last step, or the only one of `after` where the group has one rank (`after` must then not be
/// empty). Shards are rounded up to whole bytes, so that all ranks send alike.

/// Reduce-scatter: along each axis in turn, every rank sums the shard that has its own coordinate.
Position reduce_scatter(Unrolled& program, const Group& group, Bytes bytes,
                        const CollectiveSteps& steps, std::vector<Position> after);
/// All-gather: the same way back. `bytes` is the gathered buffer.
Position all_gather(Unrolled& program, const Group& group, Bytes bytes,
                    const CollectiveSteps& steps, std::vector<Position> after);
/// All-reduce: a reduce-scatter and then an all-gather.
Position all_reduce(Unrolled& program, const Group& group, Bytes bytes,
                    const CollectiveSteps& steps, std::vector<Position> after);

/// The chains of a broadcast over `axes` (the fastest fabric first) from the rank with coordinate 0
/// on each of them; adds its patterns to the plan. Along the last axis first, each among those that
/// have the data already.
Group make_chains(Plan& plan, const std::string& name, const std::vector<Axis>& axes);
/// Broadcast over chains, as NCCL's: along one axis of `n` ranks the buffer goes in 16 (n - 1)
/// messages from each rank to the next, (n - 2) more than that one after another.
Position broadcast(Unrolled& program, const Group& chains, Bytes bytes,
                   const CollectiveSteps& steps, std::vector<Position> after);

/// Bytes that one rank sends in a reduce-scatter (or all-gather) of `bytes`, shards rounded up.
Bytes sent_in_one_pass(const Group& group, Bytes bytes);
/// Bytes of the shard that one rank holds after a reduce-scatter of `bytes`, rounded up.
Bytes shard_bytes(const Group& group, Bytes bytes);
/// What a report says of collectives of this kind over this group; `bytes` is the whole buffer.
Collective collective_info(CollectiveOp op, const std::string& what, const Group& group,
                           Bytes bytes);
/// "ring sled 4, plane 18": how a report names what the group's collectives do.
std::string describe(const Group& group);

}  // namespace trnsim
