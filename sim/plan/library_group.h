#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/collectives.h"

namespace trnsim {

/// The ranks of a collective as the system's collective library sees them: so many in each unit, in
/// so many units.
struct LibraryGroup {
  Library library;
  LibraryChoice told;
  Rank inside = 1;                 // ranks of the group in each unit
  Rank across = 1;                 // units
  bool in_switch = true;           // what joins the ranks of a unit is a switch, not a mesh
  BytesPerSecond inside_port = 0;  // of a rank; in a mesh, to each other one
  BytesPerSecond across_port = 0;  // of a rank: its part of a NIC
  Seconds network = 0;             // of a message to another unit
  Axis inside_axis, across_axis;
  std::optional<PatternId> round;   // inside, each rank to the next; in a mesh, to all others
  std::optional<PatternId> chain;   // inside, to the next and to the one before
  std::optional<PatternId> onward;  // across, each unit to the next
  std::vector<PatternId> trees;     // across, to parents and to children; where a collective is one
  std::vector<PatternId> heard;     // after these, every rank has heard of every other
  /// Of libraries that choose by size: the group for each of Library::sizes.
  std::vector<std::pair<Bytes, Group>> by_size;

  Rank size() const { return inside * across; }
};

/// How one collective passes: after `latency` all flows at once, each of them slices in a row.
struct Streaming {
  const LibraryWay* way = nullptr;
  Seconds latency = 0;
  Seconds estimate = 0;  // of the whole, with nothing else on the links
  Bytes inside = 0;      // data that a rank sends inside its unit
  Bytes across = 0;      // and to other units; where units differ, what an average one does
};

/// Why the library cannot run the group, or what it is told is not there, if so.
std::optional<std::string> obstacle(const LibraryChoice& told, const System& system,
                                    const std::vector<Axis>& axes);

/// The group over `axes`, whose all-gathers, reduce-scatters and all-reduces go as the system's
/// library has them go; adds a stream for what moves between units to the plan. `stream` is that of
/// the collectives. Throws std::logic_error if there is an obstacle().
Group make_library_group(Plan& plan, const System& system, const std::string& name,
                         const std::vector<Axis>& axes, const LibraryChoice& told, StreamId stream);
/// Of a library that chooses by size: the group for a buffer of `bytes`.
const Group& group_for(const LibraryGroup& library, Bytes bytes);
/// Adds the patterns that a collective over a library's group needs; to be called before it is
/// added to a program.
void prepare(Plan& plan, const Group& group, CollectiveOp op, Bytes bytes);

/// All ways in which `op` can pass, the fastest by estimate first; at least one.
std::vector<Streaming> streamings_of(const LibraryGroup& group, CollectiveOp op, Bytes bytes);
/// Adds the steps of one collective; as add_collective().
Position add_streaming(Unrolled& program, const Group& group, CollectiveOp op, Bytes bytes,
                       const CollectiveSteps& steps, std::vector<Position> after);
/// Bytes on the wire that a rank sends, and "NCCL tree, LL128 protocol".
std::pair<Bytes, std::string> describe_streaming(const Plan& plan, const LibraryGroup& group,
                                                 CollectiveOp op, Bytes bytes);

}  // namespace trnsim
