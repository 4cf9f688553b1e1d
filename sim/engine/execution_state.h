#pragma once

#include <cstdint>
#include <deque>

#include "plan/plan.h"

namespace trnsim {

/// One step on one rank class.
struct StepState {
  enum class Stage : uint8_t { waiting, running, done };
  Stage stage = Stage::waiting;
  bool started = false;  // its begin has been told; later than running where it is posted
  StreamId blocker = 0;
  uint32_t waits_for = 0;    // steps that have not ended
  uint32_t outstanding = 0;  // messages of the current hop
  uint64_t hop = 0;
  Seconds begin = 0;
};

/// What a chip computes. Its rate changes while it runs, so an end that was foreseen may be void.
struct Computation {
  bool running = false;
  Position position = 0;
  Seconds left = 0;       // at full speed
  Seconds since = 0;      // when `left` was true
  uint64_t foreseen = 0;  // number of the event that ends it; earlier ones are void
};

/// A rank class and the steps that it has not forgotten.
struct RankState {
  Computation computation;
  std::deque<StepState> steps;  // from the program's first that is not done
  Position first = 0;           // position of steps.front()
  uint32_t active_exchanges = 0;
  Seconds last_end = 0;  // of any of its steps

  StepState& at(Position position) { return steps[position - first]; }
  bool is_done(Position position) {
    return position < first || at(position).stage == StepState::Stage::done;
  }
};

/// A message between its two steps.
struct InFlight {
  uint32_t message_class = 0;
  Position sender = 0;
  Position receiver = 0;
};

}  // namespace trnsim
