#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plan/passes.h"
#include "plan/plan.h"
#include "system/algorithm.h"

namespace trnsim {

/// In the words of nccl-tests. Roots are the rank with coordinate 0 on every axis.
enum class CollectiveOp {
  all_gather,
  reduce_scatter,
  all_reduce,
  all_to_all,
  broadcast,
  reduce,
  gather,
  scatter,
  send_recv,  // every rank to the next, and the last to the first
  barrier,
};

/// "all_gather"
std::string to_string(CollectiveOp op);
/// The one of that name, which must be one of them.
CollectiveOp collective_op_of(const std::string& name);
/// All of them.
std::vector<CollectiveOp> collective_ops();
/// Whether several algorithms can do it: all-gather, reduce-scatter and all-reduce.
bool is_chosen(CollectiveOp op);

struct LibraryGroup;

/// The ranks of a collective: a product of axes, the fastest fabric first.
struct Group {
  std::string name;
  std::vector<GroupAxis> axes;
  /// A collective's buffer goes in so many pieces, each along one axis while others are on others.
  uint32_t pieces = 1;
  std::vector<StreamId> streams = {};  // of each axis, if there are several pieces
  /// If there, the system's collective library decides how (plan/library_group.h): `axes` then have
  /// no patterns, and the streams are for what moves inside units and between them.
  std::shared_ptr<LibraryGroup> library = {};

  Rank size() const;
};

/// Has the group's collectives pass in `pieces`, with a stream for each axis: `first` for the
/// fastest, new ones of the plan for the others.
void pipeline(Plan& plan, Group& group, uint32_t pieces, StreamId first);

/// What every step of one collective shares.
struct CollectiveSteps {
  StreamId stream = 0;
  Label label;
  Reduction reduction;
  int64_t memory_at_begin = 0;  // of the first
  int64_t memory_at_end = 0;    // of the last
};

/// The group over `axes` for collectives of this kind; adds its patterns to the plan. Axes of size
/// 1 are left out. All-gather, reduce-scatter and all-reduce can share a group, and only they run
/// `algorithms`; the others have one of their own (docs/model.md). Throws std::logic_error if an
/// algorithm has an obstacle().
Group make_group(Plan& plan, CollectiveOp op, const std::string& name,
                 const std::vector<Axis>& axes, const Algorithms& algorithms);

/// What the ranks exchange, one after another, for one piece. `bytes` is nccl-tests' size: the
/// whole buffer of an all-gather, reduce-scatter, gather or scatter, what each rank holds else.
/// Shards are rounded up to whole bytes, so that all ranks send alike.
///
/// Reduce-scatter: along each axis in turn every rank sums the shard that has its own coordinate.
/// All-gather: the same way back. All-reduce: both; an axis whose algorithm reduces all at once has
/// only its own pass on the way out.
std::vector<Exchange> exchanges_of(const Group& group, CollectiveOp op, Bytes bytes,
                                   const Reduction& reduction);

/// Adds the steps of one collective to a program and returns its last step, or the only one of
/// `after` where the group has one rank (`after` must then not be empty). In several pieces each
/// begins when the one before is through with the first axis; a collective begins when the one that
/// was added before it has ended, as on one stream.
Position add_collective(Unrolled& program, const Group& group, CollectiveOp op, Bytes bytes,
                        const CollectiveSteps& steps, std::vector<Position> after);

/// Bytes of the shard that one rank holds after a reduce-scatter of `bytes`, rounded up.
Bytes shard_bytes(const Group& group, Bytes bytes);
/// What a report says of collectives of this kind over this group, whose patterns are the plan's.
Collective collective_info(const Plan& plan, CollectiveOp op, const std::string& what,
                           const Group& group, Bytes bytes);
/// "direct sled 4, ring plane 18": how a report names what the group's collectives do.
std::string describe(const Group& group, CollectiveOp op);

}  // namespace trnsim
