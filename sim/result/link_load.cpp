#include "result/link_load.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace trnsim {

LinkLoad::LinkLoad(const Graph& graph, const Network& network, size_t bins)
    : graph_(graph),
      network_(network),
      bins_(bins),
      waiting_(graph.messages.size()),
      bytes_(bins > 0 ? graph.links.size() : 0, std::vector<double>(bins)) {}

void LinkLoad::delivered(uint32_t message_class, Bytes bytes) { waiting_[message_class] += bytes; }

void LinkLoad::ended(const Span& span) {
  if (bins_ == 0) return;
  const auto* exchange = std::get_if<Exchange>(&span.step->work);
  if (exchange == nullptr) return;
  for (const uint32_t message : graph_.touching[span.rank_class][exchange->pattern])
    if (graph_.messages[message].to == span.rank_class) spread(message, span.begin, span.end);
}

// Doubles the width of the bins until they hold this time.
void LinkLoad::reach(Seconds time) {
  while (time > width_ * static_cast<double>(bins_)) {
    for (std::vector<double>& bytes : bytes_) {
      for (size_t i = 0; i < bins_; ++i)
        bytes[i] = 2 * i + 1 < bins_ ? bytes[2 * i] + bytes[2 * i + 1]
                   : 2 * i < bins_   ? bytes[2 * i]
                                     : 0;
    }
    width_ *= 2;
  }
}

void LinkLoad::spread(uint32_t message_class, Seconds begin, Seconds end) {
  const auto bytes = static_cast<double>(waiting_[message_class]);
  waiting_[message_class] = 0;
  if (bytes == 0) return;
  reach(end);
  const auto bin = [&](Seconds time) {
    return std::min(bins_ - 1, static_cast<size_t>(time / width_));
  };
  const size_t first = bin(begin), last = bin(end);
  for (size_t i = first; i <= last; ++i) {
    const double from = std::max(begin, static_cast<double>(i) * width_);
    const double to = i == last ? end : static_cast<double>(i + 1) * width_;
    const double part = first == last ? 1 : std::max(0.0, to - from) / (end - begin);
    for (const auto& [link, times] : graph_.messages[message_class].crossings)
      bytes_[link][i] += part * bytes * static_cast<double>(times);
  }
}

nlohmann::ordered_json LinkLoad::json(Seconds step) {
  using Json = nlohmann::ordered_json;
  Json levels = Json::array();
  if (bins_ > 0 && step > 0) {
    // What no receiver's exchange has taken up came at the end.
    for (uint32_t message = 0; message < waiting_.size(); ++message) spread(message, step, step);
    struct Busiest {
      size_t link = 0;
      double utilisation = -1;
    };
    std::map<Link, Busiest> busiest;  // by the level's first link
    for (size_t i = 0; i < bytes_.size(); ++i) {
      const double utilisation =
          std::accumulate(bytes_[i].begin(), bytes_[i].end(), 0.0) / graph_.links[i].capacity;
      for (const Link representative : graph_.links[i].representatives) {
        Busiest& of = busiest[network_.level(representative).first];
        if (utilisation > of.utilisation) of = {i, utilisation};
      }
    }
    const auto used = static_cast<size_t>(std::ceil(step / width_));
    for (const auto& [first, of] : busiest) {
      Json utilisation = Json::array();
      for (size_t i = 0; i < std::min(used, bins_); ++i) {
        // The last bin ends with the step.
        const Seconds width = std::min(width_, step - static_cast<double>(i) * width_);
        const double mean = bytes_[of.link][i] / (graph_.links[of.link].capacity * width);
        utilisation.push_back(std::round(mean * 1e6) / 1e6);
      }
      levels.push_back({{"level", network_.level(first).name}, {"utilisation", utilisation}});
    }
  }
  return {{"bin_us", width_ * 1e6}, {"levels", levels}};
}

}  // namespace trnsim
