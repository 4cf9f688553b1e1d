#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "engine/executor.h"
#include "system/network.h"

namespace trnsim {

/// What links carry over time, in bins whose width doubles whenever the step outgrows them. The
/// bytes of a message lie evenly over the span of the exchange that received it.
class LinkLoad {
 public:
  /// With no bins nothing is kept.
  LinkLoad(const Graph& graph, const Network& network, size_t bins);

  void delivered(uint32_t message_class, Bytes bytes);
  void ended(const Span& span);
  /// {"bin_us", "levels": [{"level", "utilisation": [...]}]}: of each kind of link the one that
  /// carries most, a mean over each bin. Levels in the order of the network.
  nlohmann::ordered_json json(Seconds step);

 private:
  void spread(uint32_t message_class, Seconds begin, Seconds end);
  void reach(Seconds time);

  const Graph& graph_;
  const Network& network_;
  size_t bins_;
  Seconds width_ = 1e-6;
  std::vector<Bytes> waiting_;              // by message class: delivered, not yet spread
  std::vector<std::vector<double>> bytes_;  // by link class and bin, of one link
};

}  // namespace trnsim
