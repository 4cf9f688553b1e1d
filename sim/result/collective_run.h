#pragma once

#include <string>
#include <vector>

#include "plan/collective_job.h"
#include "result/result.h"

namespace trnsim {

/// What nccl-tests prints of a collective of one size, and what bounds it.
struct CollectiveRow {
  Bytes bytes = 0;
  Seconds time = 0;
  BytesPerSecond algorithm_bandwidth = 0;
  BytesPerSecond bus_bandwidth = 0;
  std::string algorithm;  // what it does along each axis
  Seconds bound = 0;      // no algorithm is faster
  LinkResult busiest;     // of all links, by mean use
  uint32_t classes = 0;   // of ranks
  uint64_t messages = 0;  // that were simulated
};

/// Runs each set of collectives, which begin at once, in a process of its own. `busiest`, `classes`
/// and `messages` are of the whole set. `progress`: says on stderr how far a long run is.
std::vector<std::vector<CollectiveRow>> run_at_once(
    const std::vector<std::vector<CollectiveJob>>& sets, bool progress = false);
/// The same of collectives that each run alone.
std::vector<CollectiveRow> run_collectives(const std::vector<CollectiveJob>& jobs,
                                           bool progress = false);

/// How long the collective takes in analytic fidelity with one of the algorithms along one axis,
/// and the best along all others.
struct Candidate {
  std::string axis;
  Algorithm algorithm = Algorithm::ring;
  Seconds time = 0;
};
/// The job with the fastest algorithm along each axis, by analytic fidelity, where phases along the
/// axes follow one another, so that each axis can be chosen by itself. `tried`, if given, gets all
/// candidates, the fastest first of each axis. In switches nothing is summed unless asked for.
CollectiveJob with_best_algorithms(const CollectiveJob& job, std::vector<Candidate>* tried);

}  // namespace trnsim
