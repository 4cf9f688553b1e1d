#pragma once

#include <cstdint>
#include <queue>

#include "engine/medium.h"

namespace trnsim {

/// Events that wait for their time. Of equal times the one that was pushed first comes first.
class EventQueue {
 public:
  void push(Seconds time, const Event& event) { entries_.push({time, ++pushed_, event}); }
  bool empty() const { return entries_.empty(); }
  /// When the next is due; there must be one, as for pop().
  Seconds next() const { return entries_.top().time; }
  Event pop() {
    const Event event = entries_.top().event;
    entries_.pop();
    return event;
  }

 private:
  struct Entry {
    Seconds time;
    uint64_t number;
    Event event;
    bool operator<(const Entry& other) const {
      return time != other.time ? time > other.time : number > other.number;
    }
  };

  std::priority_queue<Entry> entries_;
  uint64_t pushed_ = 0;
};

}  // namespace trnsim
