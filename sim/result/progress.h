#pragma once

#include <chrono>

#include "engine/executor.h"

namespace trnsim {

/// A sink that says on stderr how far a simulation is, every two seconds.
class Progress final : public Sink {
 public:
  explicit Progress(const Graph& graph) : graph_(graph) {}

  void begun(const Span&) override {}
  void ended(const Span& span) override;
  void delivered(uint32_t, Bytes, uint64_t) override { ++messages_; }

 private:
  const Graph& graph_;
  uint64_t messages_ = 0;
  uint64_t steps_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = start_;
};

}  // namespace trnsim
