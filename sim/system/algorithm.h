#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_reader.h"

namespace trnsim {

/// What a collective does along one dimension of the fabric (docs/model.md has all of them).
enum class Algorithm {
  ring,
  two_way_ring,        // half of the data each way round: for tori
  direct,              // with all peers at once
  halving_doubling,    // with the peer whose number differs in one bit; powers of two
  bruck,               // near peers first, doubling the distance; any number
  pat,                 // far peers first, halving the distance (NCCL's PAT); any number
  double_binary_tree,  // all-reduce up and down two trees; else a ring
  nvls,                // switches of the scale-up domain sum and multicast
  sharp,               // switches of the network sum and multicast, all-reduce alone; else a ring
};

/// "two_way_ring"
std::string to_string(Algorithm algorithm);
/// All names.
std::vector<std::string> algorithm_names();
/// The algorithm of that name, which must be one of them.
Algorithm algorithm_of(const std::string& name);

/// What the system's collective library is told; what is empty, it chooses.
struct LibraryChoice {
  std::string algorithm = {};
  std::string protocol = {};
  bool operator==(const LibraryChoice&) const = default;
};

/// One algorithm for all dimensions but those that have one of their own; or the library's.
struct Algorithms {
  Algorithm everywhere = Algorithm::ring;
  std::map<std::string, Algorithm> along = {};  // by name of the dimension
  std::optional<LibraryChoice> library = {};

  Algorithm of(const std::string& dimension) const {
    const auto found = along.find(dimension);
    return found == along.end() ? everywhere : found->second;
  }
  bool operator==(const Algorithms&) const = default;
};

/// "ring", "ring; plane: direct", "library" or "library: tree, LL".
std::string to_string(const Algorithms& algorithms);

/// Reads a name; an object of names by dimension with "other" for the rest (a ring, if it is not
/// there); "library", or an object with "library" and perhaps "protocol". Throws InputError.
Algorithms read_algorithms(JsonReader json);

}  // namespace trnsim
