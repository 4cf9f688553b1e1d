#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.h"

namespace trnsim {

/// Where the two ends of messages meet: a message may start when the step that sends it and the
/// step that receives it have both begun the same hop. Steps match by how many exchanges on the
/// pattern stood before them, so the two ends may run different programs.
class Rendezvous {
 public:
  explicit Rendezvous(size_t message_classes) : waiting_(message_classes) {}

  /// One end of a message of this class: which rank class and step, and which hop of which exchange
  /// on the pattern.
  struct End {
    uint32_t rank_class = 0;
    Position position = 0;
    uint64_t ordinal = 0;
    uint64_t hop = 0;
  };

  /// Offers one end; returns the other if it was waiting, and forgets both.
  std::optional<End> meet(uint32_t message_class, const End& mine) {
    std::vector<End>& waiting = waiting_[message_class];
    const auto partner = std::find_if(waiting.begin(), waiting.end(), [&](const End& other) {
      return other.ordinal == mine.ordinal && other.hop == mine.hop &&
             other.rank_class != mine.rank_class;
    });
    if (partner == waiting.end()) {
      waiting.push_back(mine);
      return std::nullopt;
    }
    const End theirs = *partner;
    waiting.erase(partner);
    return theirs;
  }

 private:
  std::vector<std::vector<End>> waiting_;  // by message class; rarely more than one
};

}  // namespace trnsim
