#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/folding.h"
#include "plan/plan.h"
#include "system/network.h"

namespace trnsim {

/// The ranks of one colour; what one of them does, all do at the same time.
struct RankClass {
  Rank representative = 0;
  Rank size = 1;
  uint32_t program = 0;
  double speed = 1;  // of compute
};

/// The links of one colour that messages cross. They may be of several levels: in a healthy ring a
/// port out of a chip carries what a port into it does.
struct LinkClass {
  std::vector<Link> representatives;  // one of each level
  Link size = 0;
  BytesPerSecond capacity = 0;
};

/// The messages that a rank of one class sends, in one pattern, to ranks of one class over links of
/// the same classes. Numbered once for a pattern; every step that uses the pattern sends one of
/// each.
struct MessageClass {
  uint32_t from = 0;  // rank class
  uint32_t to = 0;
  PatternId pattern = 0;
  Rank first_hop = 0;         // of the exchange in which there is one
  Bytes bytes = 0;            // if above 0, in place of the exchange's
  uint64_t multiplicity = 1;  // messages of one sender
  Seconds latency = 0;
  /// How many of all messages of the class cross one link of each link class: exact whole numbers.
  std::vector<std::pair<uint32_t, uint64_t>> crossings;
  /// Seconds a byte while only its own pattern is on the wire: the fullest of its links.
  double seconds_per_byte = 0;
};

/// One representative of everything that is alike: what the executor plays.
struct Graph {
  const Plan* plan = nullptr;
  std::vector<RankClass> ranks;
  std::vector<LinkClass> links;
  std::vector<MessageClass> messages;
  /// touching[rank class][pattern]: the message classes that it sends or receives, each once.
  std::vector<std::vector<std::vector<uint32_t>>> touching;
  /// receives[rank class][pattern]: whether one of them is received.
  std::vector<std::vector<bool>> receives;

  /// Messages that one message of this class stands for.
  uint64_t represented(const MessageClass& message) const {
    return message.multiplicity * ranks[message.from].size;
  }
};

/// Sets each message's `seconds_per_byte` from the capacities of the links.
void set_phase_times(Graph& graph);

/// Sets `touching` and `receives` from the messages.
void set_touching(Graph& graph);

/// The graph of a sound folding. Throws std::logic_error where a weight is no whole number, which
/// proves the folding wrong.
Graph make_graph(const Plan& plan, const Network& network, const Folding& folding);

}  // namespace trnsim
