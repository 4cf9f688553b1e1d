#pragma once

// An independent solver of max-min fair sharing, for small cases: progressive filling (Bertsekas
// and Gallager, Data Networks, section 6.5.2), event by event. Shares no code with the engine.

#include <algorithm>
#include <limits>
#include <vector>

namespace trnsim::test {

struct ReferenceFlow {
  double start = 0;
  double bytes = 0;
  std::vector<size_t> links;  // a link that stands k times is consumed k times over
};

/// The rates of the running flows: all rise together until a link is full, whose flows then stay.
inline std::vector<double> fair_rates(const std::vector<const ReferenceFlow*>& flows,
                                      const std::vector<double>& capacities) {
  std::vector<double> rates(flows.size(), 0);
  std::vector<bool> frozen(flows.size(), false);
  std::vector<double> left = capacities;
  double level = 0;
  while (true) {
    std::vector<double> load(capacities.size(), 0);
    for (size_t f = 0; f < flows.size(); ++f)
      if (!frozen[f])
        for (const size_t link : flows[f]->links) load[link] += 1;
    double rise = std::numeric_limits<double>::infinity();
    for (size_t l = 0; l < capacities.size(); ++l)
      if (load[l] > 0) rise = std::min(rise, left[l] / load[l]);
    if (rise == std::numeric_limits<double>::infinity()) return rates;
    level += rise;
    for (size_t l = 0; l < capacities.size(); ++l) left[l] -= rise * load[l];
    for (size_t f = 0; f < flows.size(); ++f) {
      if (frozen[f]) continue;
      rates[f] = level;
      for (const size_t link : flows[f]->links)
        if (left[link] <= 1e-9 * capacities[link]) frozen[f] = true;
    }
  }
}

/// When each flow ends.
inline std::vector<double> finish_times(const std::vector<ReferenceFlow>& flows,
                                        const std::vector<double>& capacities) {
  std::vector<double> left;
  for (const ReferenceFlow& flow : flows) left.push_back(flow.bytes);
  std::vector<double> ends(flows.size(), -1);
  double now = 0;
  while (true) {
    std::vector<const ReferenceFlow*> running;
    std::vector<size_t> index;
    double next = std::numeric_limits<double>::infinity();
    for (size_t f = 0; f < flows.size(); ++f) {
      if (ends[f] >= 0) continue;
      if (flows[f].start <= now) {
        running.push_back(&flows[f]);
        index.push_back(f);
      } else {
        next = std::min(next, flows[f].start);
      }
    }
    if (running.empty() && next == std::numeric_limits<double>::infinity()) return ends;
    const std::vector<double> rates = fair_rates(running, capacities);
    for (size_t i = 0; i < running.size(); ++i)
      next = std::min(next, now + left[index[i]] / rates[i]);
    for (size_t i = 0; i < running.size(); ++i) {
      left[index[i]] -= (next - now) * rates[i];
      if (left[index[i]] <= 1e-9 * flows[index[i]].bytes) ends[index[i]] = next;
    }
    now = next;
  }
}

}  // namespace trnsim::test
