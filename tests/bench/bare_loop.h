#pragma once

#include <cstdint>
#include <vector>

#include "engine/graph.h"

namespace trnsim::bench {

/// The messages of a plan and nothing else of it: what every rank (or representative of a class)
/// sends, hop after hop.
struct Traffic {
  /// The hops of one exchange. A hop begins when all messages of the one before have arrived and
  /// `pause` (a reduction) has passed.
  struct Exchange {
    uint32_t pattern = 0;
    uint64_t hops = 1;
    Bytes bytes = 0;
    Seconds delay = 0;  // of each message, beside the route's
    Seconds pause = 0;
  };
  /// One message of each hop.
  struct Message {
    std::vector<uint32_t> links;  // a link stands as often as it is crossed
    Seconds latency = 0;
  };
  /// Exchanges that a rank does one after another.
  struct Chain {
    uint32_t exchanges = 0;  // which of the lists
    std::vector<std::vector<Message>> by_pattern;
  };
  std::vector<BytesPerSecond> links;
  std::vector<std::vector<Exchange>> lists;
  std::vector<Chain> chains;
};

Traffic traffic_of(const Graph& graph);

struct BareRun {
  uint64_t messages = 0;
  Seconds simulated = 0;
  double cpu_s = 0;  // of the loop alone, without the making of its platform
};

/// Sends all of it on SimGrid, with what that takes and no more: a timer for each latency, then a
/// flow. Knows neither plan nor executor. Only one can run in a process.
BareRun run_bare(const Traffic& traffic);

}  // namespace trnsim::bench
