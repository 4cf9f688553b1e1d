#pragma once

#include <memory>
#include <stdexcept>
#include <vector>

#include "engine/graph.h"
#include "engine/medium.h"
#include "plan/scenario.h"

namespace trnsim {

/// A step that ran on the representative of a rank class.
struct Span {
  uint32_t rank_class = 0;
  Position position = 0;
  const Step* step = nullptr;  // valid while the sink is told
  Seconds begin = 0;
  Seconds end = 0;  // = begin when it is told of the begin
  /// The stream of the step that ended last of those that this one waited for; its own stream if it
  /// waited for none other.
  StreamId blocker = 0;
};

/// Receives what happens, in order of time (of equal times in no order that may be relied on).
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void begun(const Span& span) = 0;
  virtual void ended(const Span& span) = 0;
  /// A message of a class has arrived; in phase fidelity `bytes` are those of all hops.
  virtual void delivered(uint32_t message_class, Bytes bytes, uint64_t hops) = 0;
  /// The last step has ended. Not told of a run that failed.
  virtual void finished() {}
};

/// Steps were left over that never became ready: a fault of the plan or of the engine. what() names
/// the first of them and what they wait for.
class Stuck : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Part of a chip's compute that is lost while a collective is in progress on it.
struct Interference {
  double tax = 0;
  bool no_delays = false;  // what a collective library takes before data moves is not waited for
};

/// Plays the graph to its end and returns the time at which the last step ended. Throws Stuck.
Seconds execute(const Graph& graph, Medium& medium, Fidelity fidelity,
                const Interference& interference, const std::vector<Sink*>& sinks);

/// The same in analytic fidelity if communication took no time: messages, sums and delays of
/// collectives have no duration and tax nothing.
Seconds execute_with_free_communication(Graph graph, const std::vector<Sink*>& sinks);

}  // namespace trnsim
