#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "system/network.h"

namespace trnsim::bench {

/// What is played, and on what.
struct Subject {
  Network network;
  Plan plan;
};

/// What another simulator needs for the same question.
struct Peer {
  std::string name;
  std::string figures;
};

struct Case {
  std::string name;
  bool fold = false;
  bool is_long = false;  // minutes, so only with --long
  std::function<Subject()> make;
  std::vector<Peer> peers = {};
};

std::vector<Case> cases();

}  // namespace trnsim::bench
