#pragma once

// Small jobs on small systems, of every kind that a training step can be; the same for one seed.

#include <random>

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
/// One slow chip or one slow link.
void break_symmetry(Random& random, Job& job);

}  // namespace trnsim::test
