#pragma once

// Small jobs on small systems, of every kind that a training step can be; the same for one seed.

#include <random>

#include "plan/plan.h"
#include "plan/scenario.h"

namespace trnsim::test {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  unsigned from(unsigned low, unsigned high) {
    return std::uniform_int_distribution<unsigned>(low, high)(engine_);
  }
  bool chance(unsigned one_in) { return from(1, one_in) == 1; }

 private:
  std::mt19937 engine_;
};

System random_system(Random& random);
Job random_job(Random& random);
/// The same, with its ranks split over tensor, context, pipeline and data in any order.
Job random_parallel_job(Random& random);
/// One slow chip or one slow link.
void break_symmetry(Random& random, Job& job);

/// A plan that is no training step: blocks of compute and of any collectives, over groups inside
/// and across (as of tensor and data parallelism) and from each rank to the next (as of a
/// pipeline), on up to three streams; ranks may compute by two programs.
Plan random_plan(Random& random, const System& system);

/// A plan whose ranks are tensor x data x pipeline in any order of strides: stages of other layers,
/// activations and buckets each run a program of their own, send and receive in the order of GPipe
/// or 1F1B, sum over tensor after each layer and over data at the end.
Plan random_pipeline_plan(Random& random, const System& system);

/// For each axis any algorithm that can run along it.
Algorithms random_algorithms(Random& random, const std::vector<Axis>& axes);

/// How many seeds the tests of random jobs and plans take: TRNSIM_RANDOM_CASES, or 120.
unsigned random_cases();

}  // namespace trnsim::test
