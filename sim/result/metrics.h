#pragma once

#include <vector>

#include "engine/executor.h"
#include "result/result.h"

namespace trnsim {

/// Sums up what happens into the figures of a RunResult, without keeping spans.
class Metrics final : public Sink {
 public:
  /// `resident_bytes`: what a chip holds before the step begins, by program of the plan.
  Metrics(const Graph& graph, const std::vector<Bytes>& resident_bytes);

  void begun(const Span& span) override;
  void ended(const Span& span) override;
  void delivered(uint32_t message_class, Bytes bytes, uint64_t hops) override;

  /// Writes the times, collectives, links and messages into `run`, once the step has ended.
  void write(Seconds step_time, const Network& network, const System& system, RunResult& run) const;

 private:
  // Of a collective, or of an axis of the fabric: when it was in progress, beside compute or not.
  struct Communication {
    Seconds exposed = 0;
    Seconds hidden = 0;
  };
  struct Active {
    Position position = 0;
    PatternId pattern = 0;
    int32_t collective = Label::none;
  };
  struct RankSums {
    Breakdown breakdown;
    Seconds compute_free = 0;  // when the compute stream's last step ended
    StreamId last_ended = 0;   // the stream of what ended last
    Seconds last_end = 0;
    // By stream: until when what runs there, and what waits for it, waited for another stage.
    std::vector<Seconds> bubble_until;
    // Union and overlap of the streams' busy time, advanced whenever one becomes busy or idle.
    std::vector<Active> exchanges;
    uint32_t busy_compute = 0;
    Seconds since = 0;
    Seconds communication = 0;
    Seconds overlapped = 0;
    int64_t memory = 0;
    int64_t peak_memory = 0;
    std::vector<Seconds> collective_begin;  // by kind; those of one kind do not overlap on a rank
    std::vector<Seconds> collective_time;
    std::vector<uint64_t> collective_count;
    std::vector<Communication> by_collective;
    std::vector<Communication> by_pattern;
  };

  static void advance(RankSums& sums, Seconds now);
  static void add_wait(RankSums& sums, const Span& span);
  void write_collectives(const System& system, RunResult& run) const;
  void write_levels(RunResult& run) const;
  void write_links(const Network& network, RunResult& run) const;
  double share(size_t rank_class) const;

  const Graph& graph_;
  std::vector<RankSums> ranks_;
  std::vector<Bytes> message_bytes_;  // by message class
  std::vector<uint64_t> message_hops_;
  uint64_t messages_ = 0;
};

}  // namespace trnsim
