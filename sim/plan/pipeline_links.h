#pragma once

#include <array>
#include <optional>
#include <vector>

#include "plan/plan.h"
#include "plan/scenario.h"
#include "workload/schedule.h"

namespace trnsim {

/// What the stages of a pipeline send each other: activations to the next, their gradients to the
/// one before; with several chunks a stage also between the last and the first. The k-th message
/// that a stage sends over a boundary is the k-th that the other receives, for both run the passes
/// of a direction in one order. Nothing of it is there without a pipeline.
class PipelineLinks {
 public:
  /// After the plan has its other streams; adds four.
  PipelineLinks(const Job& job, Plan& plan);

  /// Adds the receive of what a pass of a stage begins with, if it begins with something, and
  /// publishes its end under received().
  void receive(uint64_t stage, const std::vector<Pass>& passes, size_t pass,
               std::vector<Position> after, Unrolled& program) const;
  /// Adds the send of what a pass ended with, after `computed`, and publishes its end under sent().
  void send(uint64_t stage, const std::vector<Pass>& passes, size_t pass, Position computed,
            Unrolled& program) const;
  static Name received(size_t pass);
  static Name sent(size_t pass);
  /// Bytes of a microbatch's activations at a boundary, whole.
  Bytes whole_bytes() const { return whole_bytes_; }

  /// The sum of both gradients of an embedding that first and last stage hold, between these two;
  /// adds it if the stage has one, and returns its end.
  std::vector<Position> sum_embedding(uint64_t stage, std::vector<Position> after,
                                      Unrolled& program) const;

 private:
  struct Direction {
    std::vector<PatternId> patterns;  // by the stage before the boundary
    std::array<StreamId, 2> streams;  // to send, to receive
    std::array<CollectiveId, 2> collectives;
  };
  void add_direction(bool backward, Plan& plan);
  void add_embedding(const Job& job, Plan& plan);
  bool crosses(uint64_t stage, const Pass& pass, bool sends) const;
  Position add(uint64_t stage, const Pass& pass, bool sends, std::vector<Position> after,
               Unrolled& program) const;

  uint64_t stages_ = 1;
  uint64_t chunks_ = 1;
  Axis axis_;
  Bytes bytes_ = 0;
  Bytes whole_bytes_ = 0;
  uint16_t name_ = 0;
  std::array<Direction, 2> directions_;  // forward, backward
  Exchange embedding_;
  Seconds embedding_sum_ = 0;
  std::optional<CollectiveId> embedding_collective_;
};

}  // namespace trnsim
