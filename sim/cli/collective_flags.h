#pragma once

#include <string>
#include <vector>

#include "plan/collective_job.h"
#include "result/collective_run.h"

namespace trnsim {

/// The flags of `trnsim collective`, as given.
struct CollectiveFlags {
  std::string system;
  Rank units = 1;
  std::string op = "all_reduce";
  std::vector<std::string> algorithms;
  std::string min = "8";
  std::string max = "128M";
  double factor = 2;
  Rank count = 0;  // all chips
  Rank stride = 1;
  Rank offset = 0;
  bool everywhere = false;
  uint32_t pieces = 1;
  std::string fidelity = "message";
  bool unfolded = false;
  bool explain = false;
  bool json = false;
  std::string sizes;  // a file
  double skew = 0;    // 0: not given
  std::vector<std::string> with;
  bool quiet = false;
  std::vector<std::string> settings;
  std::vector<std::string> sets;
};

/// One collective that is asked for.
struct AskedCollective {
  CollectiveJob job;  // without its bytes
  bool best = false;  // the fastest algorithms are to be found
  Bytes bytes = 0;    // of those that are always of one size; 0: of the row's
  double skew = 0;    // of an all_to_all_v that follows the rule of skewed_sizes()

  /// The job with its size, and what it leaves open chosen; `tried` as with_best_algorithms().
  CollectiveJob of_size(Bytes of_row, std::vector<Candidate>* tried) const;
};

/// The sizes of the rows. Throws InputError.
std::vector<Bytes> sizes_of(const CollectiveFlags& flags);
/// The collective that the flags describe, then those of --with. Throws InputError.
std::vector<AskedCollective> read_collectives(const CollectiveFlags& flags);

}  // namespace trnsim
