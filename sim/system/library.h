#pragma once

#include <string>
#include <vector>

#include "base/json_reader.h"
#include "base/units.h"
#include "system/algorithm.h"

namespace trnsim {

/// How a collective library moves a buffer by one of its algorithms in one of its protocols: in
/// slices so small that all links of the way are busy at once, once the first has passed all hops.
struct LibraryWay {
  enum class Kind {
    ring,       // one through all ranks: round a unit, on to the next
    tree,       // a chain in each unit, a double binary tree over the units
    nvls,       // the switches of the one unit sum and multicast
    nvls_tree,  // the same in each unit, a double binary tree over the units
    pat,        // parallel aggregated trees over ranks of which no two share a unit
  };
  Kind kind = Kind::ring;
  std::string protocol;
  Number launch;   // seconds before anything moves
  Number inside;   // seconds of a hop inside a unit, wire included
  Number across;   // seconds of a hop to another unit, a wire of Library::wire included
  Number each;     // seconds for each rank of the group, whatever the way
  Number payload;  // part of the bytes on the wire that is data; inside units:
  Number payload_inside;
  Number most_inside;  // data that a chip's processors keep up with, bytes/s: of bus bandwidth; 0
  Number most_across;  // no limit. The second where a group has several units
};

/// From which size on a library takes which algorithm along every dimension of the fabric.
struct LibrarySize {
  Number from;  // bytes
  Algorithm algorithm = Algorithm::ring;
};

/// What a system's collective library does if nobody tells it how: the fastest of `ways` by its own
/// estimate, or the one of `sizes`. One of the two is empty; both are if no library is described.
struct Library {
  std::string name;
  Number wire;  // seconds of a network's hop that `across` contains
  Number fill;  // what a slice costs beside its bytes, as a part of the latency of all hops
  std::vector<LibraryWay> ways;
  std::vector<LibrarySize> sizes;

  bool is_described() const { return !ways.empty() || !sizes.empty(); }
};

/// "nvls_tree"
std::string name_of(LibraryWay::Kind kind);

/// Reads a "trnsim.library.v1" object; adds its numbers to `numbers`. Throws InputError.
Library read_library(JsonReader json, std::vector<Number>& numbers);

}  // namespace trnsim
