#include "result/metrics.h"

#include <algorithm>
#include <map>

#include "plan/bounds.h"

namespace trnsim {
namespace {
constexpr StreamId compute_stream = 0;
}

Metrics::Metrics(const Graph& graph, Bytes resident_bytes)
    : graph_(graph),
      ranks_(graph.ranks.size()),
      message_bytes_(graph.messages.size()),
      message_hops_(graph.messages.size()) {
  const size_t kinds = graph.plan->collectives.size();
  for (RankSums& rank : ranks_) {
    rank.memory = rank.peak_memory = static_cast<int64_t>(resident_bytes);
    rank.collective_begin.resize(kinds);
    rank.collective_time.resize(kinds);
    rank.collective_count.resize(kinds);
  }
}

void Metrics::advance(RankSums& sums, Seconds now) {
  const Seconds passed = now - sums.since;
  sums.since = now;
  if (sums.busy_exchanges == 0) return;
  sums.communication += passed;
  if (sums.busy_compute > 0) sums.overlapped += passed;
}

void Metrics::begun(const Span& span) {
  RankSums& rank = ranks_[span.rank_class];
  const Label& label = span.step->label;
  advance(rank, span.begin);
  if (span.step->stream == compute_stream) {
    ++rank.busy_compute;
    const Seconds wait = span.begin - rank.compute_free;
    (span.blocker == compute_stream ? rank.breakdown.other
                                    : rank.breakdown.exposed_communication) += wait;
  } else {
    ++rank.busy_exchanges;
  }
  if (label.first_of_collective)
    rank.collective_begin[static_cast<size_t>(label.collective)] = span.begin;
  rank.memory += span.step->memory_at_begin;
  rank.peak_memory = std::max(rank.peak_memory, rank.memory);
}

void Metrics::ended(const Span& span) {
  RankSums& rank = ranks_[span.rank_class];
  const Label& label = span.step->label;
  advance(rank, span.end);
  rank.last_ended = span.step->stream;
  if (span.step->stream == compute_stream) {
    --rank.busy_compute;
    rank.compute_free = span.end;
    (label.kind == Label::Kind::optimizer ? rank.breakdown.optimizer : rank.breakdown.compute) +=
        span.end - span.begin;
  } else {
    --rank.busy_exchanges;
  }
  if (label.last_of_collective) {
    const auto kind = static_cast<size_t>(label.collective);
    rank.collective_time[kind] += span.end - rank.collective_begin[kind];
    ++rank.collective_count[kind];
  }
  rank.memory += span.step->memory_at_end;
}

void Metrics::delivered(uint32_t message_class, Bytes bytes, uint64_t hops) {
  message_bytes_[message_class] += bytes;
  message_hops_[message_class] += hops;
  ++messages_;
}

void Metrics::write(Seconds step_time, const Network& network, const System& system,
                    RunResult& run) const {
  run.step_time = step_time;
  double all_ranks = 0;
  for (const RankClass& rank : graph_.ranks) all_ranks += rank.size;
  const size_t kinds = graph_.plan->collectives.size();
  std::vector<Seconds> collective_time(kinds);
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const RankSums& sums = ranks_[i];
    const double share = graph_.ranks[i].size / all_ranks;
    const Seconds tail = step_time - sums.compute_free;
    run.breakdown.compute += share * sums.breakdown.compute;
    run.breakdown.optimizer += share * sums.breakdown.optimizer;
    run.breakdown.other += share * sums.breakdown.other;
    run.breakdown.exposed_communication += share * sums.breakdown.exposed_communication;
    (sums.last_ended == compute_stream ? run.breakdown.other
                                       : run.breakdown.exposed_communication) += share * tail;
    run.communication += share * sums.communication;
    run.overlapped += share * sums.overlapped;
    run.peak_bytes = std::max(run.peak_bytes, static_cast<Bytes>(sums.peak_memory));
    for (size_t kind = 0; kind < kinds; ++kind)
      if (sums.collective_count[kind] > 0)
        collective_time[kind] +=
            share * sums.collective_time[kind] / static_cast<double>(sums.collective_count[kind]);
  }
  for (size_t kind = 0; kind < kinds; ++kind) {
    const Collective& of = graph_.plan->collectives[kind];
    const Seconds time = collective_time[kind];
    const double bandwidth = time > 0 ? static_cast<double>(of.bytes) / time : 0;
    run.collectives.push_back({of.op, of.what, of.group, of.algorithm, of.ranks, of.bytes,
                               of.sent_per_rank, ranks_.front().collective_count[kind], time,
                               collective_bound(of, system), bandwidth, bandwidth * of.bus_factor});
  }
  std::vector<Bytes> carried(graph_.links.size());  // by one link of each class
  for (size_t m = 0; m < graph_.messages.size(); ++m) {
    for (const auto& [link, times] : graph_.messages[m].crossings)
      carried[link] += times * message_bytes_[m];
    run.engine.represented_messages += message_hops_[m] * graph_.represented(graph_.messages[m]);
  }
  run.engine.messages = messages_;
  std::map<Link, LinkResult> levels;  // by the level's first link
  for (size_t i = 0; i < carried.size(); ++i) {
    const LinkClass& link = graph_.links[i];
    const double utilisation = static_cast<double>(carried[i]) / (link.capacity * step_time);
    for (const Link representative : link.representatives) {
      const LinkLevel& level = network.level(representative);
      LinkResult& result = levels[level.first];
      if (result.level.empty() || utilisation > result.utilisation)
        result = {level.name, level.count, link.capacity, carried[i], utilisation};
    }
  }
  for (const auto& [first, level] : levels) run.links.push_back(level);
}

}  // namespace trnsim
