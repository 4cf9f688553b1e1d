#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/graph.h"
#include "plan/scenario.h"

namespace trnsim {

/// What is played, and how its ranks were put together.
struct Prepared {
  Graph graph;
  std::unique_ptr<const Plan> healthy;  // what the graph then points at
  std::string method;
  /// Where all are as slow as a faulty one: the step is no shorter than this, and no longer than
  /// what is played.
  std::optional<Seconds> at_least;
};

/// Chooses the folding. One slow chip or link among equal ranks is put on its whole class where
/// that is exact, or where there are too many ranks to tell apart and the bounds are rigorous; else
/// ranks are told apart as far as needed.
Prepared prepare(const Job& job, const Plan& plan, const Network& network);

/// How a report says it, once the step has been played.
std::string method_of(const Prepared& prepared, Seconds step);

}  // namespace trnsim
