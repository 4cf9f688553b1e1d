#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/units.h"
#include "engine/graph.h"

namespace trnsim {

/// What the executor wants to hear of when something that it started has ended.
struct Event {
  enum class Kind : uint8_t { computed, delay_passed, latency_passed, delivered, reduced };
  Kind kind = Kind::computed;
  uint32_t index = 0;   // a rank class, or a message in flight
  uint64_t detail = 0;  // the executor's own
};

/// Simulated time, and what passes in it: delays, and messages that share links. Ends are told to
/// the handler given to run(), in order of time.
class Medium {
 public:
  virtual ~Medium() = default;

  virtual Seconds now() const = 0;
  /// Tells `event` after `seconds`.
  virtual void after(Seconds seconds, const Event& event) = 0;
  /// Sends one message of a class (bytes above 0, no latency) and tells `event` at its end.
  virtual void send(uint32_t message_class, Bytes bytes, const Event& event) = 0;
  /// Runs until nothing is left. What the handler throws comes out of here.
  virtual void run(const std::function<void(const Event&)>& handler) = 0;
};

}  // namespace trnsim
