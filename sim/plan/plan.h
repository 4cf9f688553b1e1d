#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/units.h"
#include "system/algorithm.h"
#include "system/system.h"

namespace trnsim {

using PatternId = uint32_t;
using StreamId = uint32_t;
using CollectiveId = uint32_t;
/// A step's place in its program; the same on every rank that runs the program.
using Position = uint64_t;

/// A way to move through the ranks: those that differ only in this coordinate, which is
/// rank / stride % size. A group of ranks is a product of axes.
struct Axis {
  std::string name;
  Rank stride = 1;
  Rank size = 1;

  Rank coordinate(Rank rank) const { return rank / stride % size; }
  /// The rank whose coordinate is `by` further round (0 <= by < size).
  Rank shifted(Rank rank, Rank by) const {
    const Rank at = coordinate(rank);
    return rank - at * stride + (at + by) % size * stride;
  }
};

/// Who sends to whom: every rank sends to those that are `shifts` further along the axis. {1} is
/// the next in a ring, {1, ..., size - 1} all peers.
struct Pattern {
  Axis axis;
  std::vector<Rank> shifts;
  /// In which hop of an exchange `rank` sends its first message along `shift`, for what is passed
  /// on must have arrived; nothing if it sends none. Empty if all ranks send along all shifts from
  /// hop 0 on, so that none is special.
  std::function<std::optional<Rank>(Rank rank, Rank shift)> first_hop = {};

  /// Bytes of the messages that `rank` sends along `shift`, above 0, where they differ; else those
  /// that the exchange says.
  std::function<Bytes(Rank rank, Rank shift)> bytes = {};

  std::optional<Rank> sent(Rank rank, Rank shift) const {
    return first_hop ? first_hop(rank, shift) : 0;
  }
};

/// Time that passes on a stream of collectives and that nothing slows: what a collective library
/// takes before data moves. The rank is in an exchange meanwhile.
struct Delay {
  Seconds seconds = 0;
  PatternId along = 0;  // whose messages it is spent on
};

/// What the messages of a pass of a collective hold (block_of() in plan/passes), so that the
/// schedule can be proved by moving sets of chunks. A chunk has one coordinate for each axis of the
/// group: on axes before this one a message holds those of the sender's own coordinate, on later
/// ones all.
struct Region {
  int8_t axis = -1;  // of the group
  Algorithm algorithm = Algorithm::ring;
  Rank distance = 0;  // of algorithms that go over several
};

/// Work of the chip itself: seconds at full speed.
struct Compute {
  Seconds seconds = 0;
};

/// `hops` exchanges, one after another. In each a rank sends `bytes` to each peer of the pattern
/// and receives as much from each rank of which it is a peer. A message starts when both its ends
/// have begun the hop (receiver-ready); a rank ends the hop when all that it sent and received has
/// arrived and, where the data is summed, `reduction` later.
///
/// Along a chain or tree data is passed on: `relays` is the last first_hop() of the pattern, and a
/// rank sends along each shift in all but `relays` hops. As one phase, all ranks begin at once and
/// have the wire for all hops, which is exact where nothing else is on it.
struct Exchange {
  PatternId pattern = 0;
  uint64_t hops = 1;
  uint64_t relays = 0;
  Bytes bytes = 0;    // on the wire, of one message
  Bytes payload = 0;  // of these, what the collective's user asked to move
  Seconds delay = 0;  // beside the route's latency, of each message
  Seconds reduction = 0;
  bool reduces = false;
  bool no_latency = false;  // of the route: a Delay before contains it
  /// On a chip it counts as begun when its message starts, not while it waits for the other end: of
  /// two that run different programs, as stages of a pipeline do. It has one message.
  bool posted = false;
  Region region;

  /// Messages to each peer.
  uint64_t messages() const { return hops - relays; }
};

/// What a step belongs to, for traces, reports and errors.
struct Label {
  enum class Kind : uint8_t { forward, backward, recompute, optimizer, collective };
  static constexpr int32_t none = -1;
  Kind kind = Kind::forward;
  uint16_t name = 0;  // in Plan::names
  int32_t layer = none;
  int32_t microbatch = none;
  int32_t bucket = none;
  /// Which of Plan::collectives; none if the step is no part of one.
  int32_t collective = none;
  bool first_of_collective = false;
  bool last_of_collective = false;
};

/// One thing that a rank does. It begins when the step before it on its stream and all of `after`
/// are done.
struct Step {
  StreamId stream = 0;
  std::variant<Compute, Exchange, Delay> work;
  std::vector<Position> after;
  int64_t memory_at_begin = 0;  // bytes taken (or, if negative, freed)
  int64_t memory_at_end = 0;
  Label label;
};

/// What a later step can refer to.
struct Name {
  enum class What : uint8_t { gathered, computed, reduced, broadcast, in_pieces, received, sent };
  What what = What::computed;
  int32_t index = 0;
  int32_t microbatch = 0;
  bool operator==(const Name&) const = default;

  struct Hash {
    size_t operator()(const Name& name) const {
      const uint64_t both = static_cast<uint64_t>(static_cast<uint32_t>(name.index)) << 32 |
                            static_cast<uint32_t>(name.microbatch);
      return std::hash<uint64_t>{}((both + static_cast<uint64_t>(name.what)) * 0x9e3779b97f4a7c15);
    }
  };
};

class Unrolled;

/// What one rank does, written once for any rank: a loop over blocks, whose steps are made when
/// they are needed. No step of a block begins before some rank has begun one of the block before.
struct Program {
  size_t blocks = 0;
  /// Adds the steps of one block. Pure: the same block always gives the same steps.
  std::function<void(size_t block, Unrolled& program)> write;
};

/// One kind of collective of a plan; its instances differ only in when they run.
struct Collective {
  std::string op;     // "all_gather"
  std::string what;   // "layer parameters"
  std::string group;  // "data"
  std::string algorithm;
  Rank ranks = 1;
  Bytes bytes = 0;          // nccl-tests' size: the whole buffer
  Bytes sent_per_rank = 0;  // on the wire; where ranks differ, the most that one sends
  double bus_factor = 1;    // busbw / algbw, as nccl-tests defines it
};

/// What all ranks do in one training step.
struct Plan {
  Rank ranks = 1;
  std::vector<std::string> streams;  // of each chip; the first is compute
  std::vector<Pattern> patterns;
  std::vector<Program> programs;
  /// Which program a rank runs; empty if all run the first.
  std::function<uint32_t(Rank)> program_of;
  std::vector<Collective> collectives;
  std::vector<std::string> names;  // of operations
  /// Speed of the chips whose compute is not the nominal one, as a factor.
  std::map<Rank, double> speed;

  uint32_t program(Rank rank) const { return program_of ? program_of(rank) : 0; }
};

/// Throws CannotRun if a look at every route of so many ranks would take hours.
void refuse_what_never_ends(const Plan& plan, Rank ranks);

/// "forward"
const char* to_string(Label::Kind kind);
/// "backward layer 12 microbatch 0: qkv": how errors name a step.
std::string describe(const Plan& plan, const Label& label);

/// The steps of a program that have been made and not yet forgotten, each with the steps that wait
/// for it.
class Unrolled {
 public:
  explicit Unrolled(const Program& program, size_t streams);

  /// Adds a step; for programs to call while a block is written. Waits for what is in `after` (all
  /// earlier steps) and for the step before on its stream.
  Position add(Step step);
  /// Lets later blocks find `position`.
  void publish(const Name& name, Position position) { names_[name] = position; }
  /// The published position. Throws std::logic_error if nothing has that name.
  Position at(const Name& name) const;
  bool has(const Name& name) const { return names_.contains(name); }

  /// Makes one more block; false if there is none.
  bool unroll();
  size_t blocks() const { return next_block_; }
  Position begin() const { return begin_; }
  Position end() const { return begin_ + entries_.size(); }
  const Step& step(Position position) const { return entry(position).step; }
  size_t block_of(Position position) const { return entry(position).block; }
  /// How many exchanges on its pattern stand before this one: what matches both ends.
  uint64_t ordinal(Position position) const { return entry(position).ordinal; }
  const std::vector<Position>& dependents(Position position) const {
    return entry(position).dependents;
  }
  /// Drops the steps before `position`.
  void forget_before(Position position);

 private:
  struct Entry {
    Step step;
    size_t block = 0;
    uint64_t ordinal = 0;
    std::vector<Position> dependents;
  };
  const Entry& entry(Position position) const { return entries_.at(position - begin_); }

  const Program* program_;
  std::vector<Entry> entries_;
  Position begin_ = 0;
  size_t next_block_ = 0;
  std::vector<Position> last_on_stream_;
  std::vector<uint64_t> exchanges_on_pattern_;
  std::unordered_map<Name, Position, Name::Hash> names_;
};

}  // namespace trnsim
