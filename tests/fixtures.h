#pragma once

// Small systems, plans of one collective, and runs in a process of their own.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/executor.h"
#include "plan/collectives.h"
#include "plan/scenario.h"

namespace trnsim::test {

/// A published number, as far as a test is concerned.
Number exactly(double value);

/// One unit of which all chips hang on one switch, with nothing that costs time but the links.
System one_switch(Rank chips, BytesPerSecond port, Seconds latency);

/// A dimension of a scale-up fabric without losses.
FabricDimension dimension(const std::string& name, FabricDimension::Kind kind, Rank size,
                          BytesPerSecond bandwidth, Seconds latency);

/// A job over a small model that runs in no time.
Job small_job(const System& system);

/// A plan in which all ranks of a system run one collective over `bytes` at once.
Plan collective_plan(const System& system, CollectiveOp op, Algorithm algorithm, Bytes bytes,
                     const Reduction& reduction = {});

/// When each step of each rank ended.
struct Played {
  Seconds step = 0;
  uint32_t classes = 0;
  uint64_t messages = 0;
  std::map<std::pair<Rank, Position>, Seconds> ends;
  std::string error;  // what the executor threw
};

struct PlayOptions {
  Fidelity fidelity = Fidelity::message;
  bool fold = true;
  double tax = 0;
};

/// Between which times a step with one fault lies, by engine/whole_class.
struct StepBounds {
  Seconds least = 0;
  Seconds most = 0;
};
/// Those of a job with one fault; nothing where they do not hold.
std::optional<StepBounds> bounds_of_fault(const Job& job);

/// Plays a plan in a process of its own.
Played play(const Plan& plan, const Network& network, const PlayOptions& options = {});

}  // namespace trnsim::test
