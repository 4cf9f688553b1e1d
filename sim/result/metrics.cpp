#include "result/metrics.h"

#include <algorithm>
#include <map>

#include "plan/bounds.h"

namespace trnsim {
namespace {
constexpr StreamId compute_stream = 0;
}

Metrics::Metrics(const Graph& graph, const std::vector<Bytes>& resident_bytes)
    : graph_(graph),
      ranks_(graph.ranks.size()),
      message_bytes_(graph.messages.size()),
      message_hops_(graph.messages.size()) {
  const size_t kinds = graph.plan->collectives.size();
  for (size_t i = 0; i < ranks_.size(); ++i) {
    RankSums& rank = ranks_[i];
    rank.memory = rank.peak_memory =
        static_cast<int64_t>(resident_bytes.at(graph.ranks[i].program));
    rank.bubble_until.resize(graph.plan->streams.size());
    rank.collective_begin.resize(kinds);
    rank.collective_time.resize(kinds);
    rank.collective_count.resize(kinds);
    rank.by_collective.resize(kinds);
    rank.by_pattern.resize(graph.plan->patterns.size());
  }
}

// Where several collectives are in progress, each counts for its part of the time.
void Metrics::advance(RankSums& sums, Seconds now) {
  const Seconds passed = now - sums.since;
  sums.since = now;
  if (sums.exchanges.empty()) return;
  const bool hidden = sums.busy_compute > 0;
  sums.communication += passed;
  if (hidden) sums.overlapped += passed;
  const Seconds part = passed / static_cast<double>(sums.exchanges.size());
  for (const Active& active : sums.exchanges) {
    Communication& along = sums.by_pattern[active.pattern];
    (hidden ? along.hidden : along.exposed) += part;
    if (active.collective == Label::none) continue;
    Communication& of = sums.by_collective[static_cast<size_t>(active.collective)];
    (hidden ? of.hidden : of.exposed) += part;
  }
}

// What compute waits for, up to the begin of a message from another stage, is a bubble.
void Metrics::add_wait(RankSums& sums, const Span& span) {
  const Seconds wait = span.begin - sums.compute_free;
  if (span.blocker == compute_stream) {
    sums.breakdown.other += wait;
    return;
  }
  const Seconds bubble =
      std::clamp(sums.bubble_until[span.blocker] - sums.compute_free, 0.0, std::max(0.0, wait));
  sums.breakdown.bubble += bubble;
  sums.breakdown.exposed_communication += wait - bubble;
}

void Metrics::begun(const Span& span) {
  RankSums& rank = ranks_[span.rank_class];
  const Label& label = span.step->label;
  advance(rank, span.begin);
  if (span.step->stream == compute_stream) {
    ++rank.busy_compute;
    add_wait(rank, span);
  } else {
    const auto* exchange = std::get_if<Exchange>(&span.step->work);
    const PatternId along =
        exchange != nullptr ? exchange->pattern : std::get<Delay>(span.step->work).along;
    rank.exchanges.push_back({span.position, along, span.step->label.collective});
    const bool posted = exchange != nullptr && exchange->posted;
    const bool queued = span.blocker == span.step->stream;
    rank.bubble_until[span.step->stream] = posted   ? span.begin
                                           : queued ? 0
                                                    : rank.bubble_until[span.blocker];
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
  rank.last_end = span.end;
  if (span.step->stream == compute_stream) {
    --rank.busy_compute;
    rank.compute_free = span.end;
    (label.kind == Label::Kind::optimizer ? rank.breakdown.optimizer : rank.breakdown.compute) +=
        span.end - span.begin;
  } else {
    std::erase_if(rank.exchanges,
                  [&](const Active& active) { return active.position == span.position; });
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

// The part of all ranks that a class is.
double Metrics::share(size_t rank_class) const {
  double all = 0;
  for (const RankClass& rank : graph_.ranks) all += rank.size;
  return graph_.ranks[rank_class].size / all;
}

void Metrics::write(Seconds step_time, const Network& network, const System& system,
                    RunResult& run) const {
  run.step_time = step_time;
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const RankSums& sums = ranks_[i];
    const double part = share(i);
    // A stage that is done waits for the others.
    const Seconds done = graph_.plan->programs.size() > 1 ? sums.last_end : step_time;
    const Seconds tail = done - sums.compute_free;
    run.breakdown.bubble += part * (sums.breakdown.bubble + step_time - done);
    run.breakdown.compute += part * sums.breakdown.compute;
    run.breakdown.optimizer += part * sums.breakdown.optimizer;
    run.breakdown.other += part * sums.breakdown.other;
    run.breakdown.exposed_communication += part * sums.breakdown.exposed_communication;
    (sums.last_ended == compute_stream ? run.breakdown.other
                                       : run.breakdown.exposed_communication) += part * tail;
    run.communication += part * sums.communication;
    run.overlapped += part * sums.overlapped;
    run.peak_bytes = std::max(run.peak_bytes, static_cast<Bytes>(sums.peak_memory));
  }
  write_collectives(system, run);
  write_levels(run);
  write_links(network, run);
  run.engine.messages = messages_;
  for (size_t m = 0; m < graph_.messages.size(); ++m)
    run.engine.represented_messages += message_hops_[m] * graph_.represented(graph_.messages[m]);
}

void Metrics::write_collectives(const System& system, RunResult& run) const {
  for (size_t kind = 0; kind < graph_.plan->collectives.size(); ++kind) {
    const Collective& of = graph_.plan->collectives[kind];
    CollectiveResult made{of.op,    of.what,  of.group,        of.algorithm,
                          of.ranks, of.bytes, of.sent_per_rank};
    double without = 0;  // part of the ranks that have none
    for (size_t i = 0; i < ranks_.size(); ++i) {
      const RankSums& sums = ranks_[i];
      made.count = std::max(made.count, sums.collective_count[kind]);
      if (sums.collective_count[kind] == 0) without += share(i);
      made.exposed += share(i) * sums.by_collective[kind].exposed;
      made.hidden += share(i) * sums.by_collective[kind].hidden;
      if (sums.collective_count[kind] > 0)
        made.time += share(i) * sums.collective_time[kind] /
                     static_cast<double>(sums.collective_count[kind]);
    }
    if (without < 1) made.time /= 1 - without;
    made.bound = collective_bound(of, system);
    made.algorithm_bandwidth = made.time > 0 ? static_cast<double>(of.bytes) / made.time : 0;
    made.bus_bandwidth = made.algorithm_bandwidth * of.bus_factor;
    run.collectives.push_back(std::move(made));
  }
}

void Metrics::write_levels(RunResult& run) const {
  for (size_t p = 0; p < graph_.plan->patterns.size(); ++p) {
    const std::string& name = graph_.plan->patterns[p].axis.name;
    auto level = std::find_if(run.levels.begin(), run.levels.end(),
                              [&](const LevelResult& known) { return known.name == name; });
    if (level == run.levels.end()) level = run.levels.insert(level, {name, 0, 0});
    for (size_t i = 0; i < ranks_.size(); ++i) {
      level->exposed += share(i) * ranks_[i].by_pattern[p].exposed;
      level->hidden += share(i) * ranks_[i].by_pattern[p].hidden;
    }
  }
}

void Metrics::write_links(const Network& network, RunResult& run) const {
  std::vector<Bytes> carried(graph_.links.size());  // by one link of each class
  for (size_t m = 0; m < graph_.messages.size(); ++m)
    for (const auto& [link, times] : graph_.messages[m].crossings)
      carried[link] += times * message_bytes_[m];
  std::map<Link, LinkResult> levels;  // by the level's first link
  for (size_t i = 0; i < carried.size(); ++i) {
    const LinkClass& link = graph_.links[i];
    const double utilisation = static_cast<double>(carried[i]) / (link.capacity * run.step_time);
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
