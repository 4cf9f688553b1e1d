#include "result/timeline.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "result/link_load.h"

namespace trnsim {
namespace {

using Json = nlohmann::ordered_json;

// What spans may have in common.
struct Operation {
  uint16_t name = 0;
  Label::Kind kind = Label::Kind::forward;
  int32_t collective = Label::none;
  int64_t pattern = Label::none;  // of an exchange or a delay
  uint64_t hops = 0;              // of an exchange
  Bytes bytes = 0;

  auto operator<=>(const Operation&) const = default;
};

// One span, or several drawn as one, named after the longest.
struct Drawn {
  Seconds begin = 0, end = 0, longest = 0;
  uint32_t operation = 0, count = 1;
  int32_t layer = Label::none, microbatch = Label::none;
};

struct Total {
  uint64_t count = 0;
  Seconds seconds = 0;
};

struct Track {
  std::vector<Drawn> drawn;
  std::map<uint32_t, Total> totals;  // by operation
};

// To the nanosecond: more digits would say nothing that can be seen.
double microseconds(Seconds value) { return std::round(value * 1e9) / 1e3; }

class Timeline final : public Sink {
 public:
  Timeline(const Graph& graph, const Network& network, const UnnamedFile& file,
           const TimelineLimits& limits)
      : graph_(graph),
        file_(file),
        limits_(limits),
        streams_(graph.plan->streams.size()),
        tracks_(std::min(graph.ranks.size(), limits.rank_classes) * streams_),
        load_(graph, network, graph.links.size() <= limits.link_classes ? limits.bins : 0) {}

  void begun(const Span&) override {}

  void delivered(uint32_t message_class, Bytes bytes, uint64_t) override {
    load_.delivered(message_class, bytes);
  }

  void ended(const Span& span) override {
    load_.ended(span);
    step_ = std::max(step_, span.end);
    if (span.rank_class * streams_ >= tracks_.size()) return;
    Track& track = tracks_[span.rank_class * streams_ + span.step->stream];
    const uint32_t operation = number_of(*span.step);
    const Label& label = span.step->label;
    const Seconds took = span.end - span.begin;
    Total& total = track.totals[operation];
    ++total.count;
    total.seconds += took;
    track.drawn.push_back(
        {span.begin, span.end, took, operation, 1, label.layer, label.microbatch});
    if (++spans_ > limits_.spans) thin();
  }

  void finished() override {
    Json tracks = Json::array();
    Json totals = Json::array();
    Json at = Json::array(), operation = Json::array(), begin = Json::array(),
         duration = Json::array(), layer = Json::array(), microbatch = Json::array(),
         count = Json::array();
    for (size_t i = 0; i < tracks_.size(); ++i) {
      if (tracks_[i].drawn.empty()) continue;
      for (const Drawn& of : tracks_[i].drawn) {
        at.push_back(tracks.size());
        operation.push_back(of.operation);
        begin.push_back(microseconds(of.begin));
        duration.push_back(microseconds(of.end - of.begin));
        layer.push_back(of.layer);
        microbatch.push_back(of.microbatch);
        if (resolution_ > 0) count.push_back(of.count);
      }
      for (const auto& [number, total] : tracks_[i].totals)
        totals.push_back({tracks.size(), number, total.count, total.seconds});
      const RankClass& rank = graph_.ranks[i / streams_];
      tracks.push_back({{"rank", rank.representative},
                        {"stands_for", rank.size},
                        {"stream", graph_.plan->streams[i % streams_]}});
    }
    Json events = {{"track", at},       {"operation", operation},
                   {"begin_us", begin}, {"duration_us", duration},
                   {"layer", layer},    {"microbatch", microbatch}};
    if (resolution_ > 0) events["count"] = count;
    file_.write(Json{{"tracks", tracks},
                     {"operations", operations_json()},
                     {"events", events},
                     {"totals", totals},
                     {"merged_below_us", resolution_ * 1e6},
                     {"classes_left_out", graph_.ranks.size() - tracks_.size() / streams_},
                     {"links", load_.json(step_)}}
                    .dump());
  }

 private:
  uint32_t number_of(const Step& step) {
    Operation operation{step.label.name, step.label.kind, step.label.collective};
    if (const auto* exchange = std::get_if<Exchange>(&step.work)) {
      operation.pattern = exchange->pattern;
      operation.hops = exchange->hops;
      operation.bytes = exchange->bytes;
    } else if (const auto* delay = std::get_if<Delay>(&step.work)) {
      operation.pattern = delay->along;
    }
    const auto [known, made] =
        numbers_.try_emplace(operation, static_cast<uint32_t>(operations_.size()));
    if (made) operations_.push_back(operation);
    return known->second;
  }

  Json operations_json() const {
    Json all = Json::array();
    for (const Operation& of : operations_) {
      Json& made = all.emplace_back(Json::object());
      std::string name = graph_.plan->names.at(of.name);
      if (of.pattern != Label::none)
        name += " " + graph_.plan->patterns.at(static_cast<size_t>(of.pattern)).axis.name;
      made["name"] = name;
      made["kind"] = to_string(of.kind);
      if (of.collective != Label::none)
        made["what"] = graph_.plan->collectives.at(static_cast<size_t>(of.collective)).what;
      if (of.hops == 0) continue;
      made["ranks"] = graph_.plan->patterns.at(static_cast<size_t>(of.pattern)).axis.size;
      made["hops"] = of.hops;
      made["message_bytes"] = of.bytes;
    }
    return all;
  }

  // Draws neighbours that fit into an ever longer time as one, until a quarter of the room is free.
  void thin() {
    while (spans_ > limits_.spans / 4 * 3) {
      resolution_ = std::max(resolution_ * 2, step_ / static_cast<double>(limits_.spans));
      spans_ = 0;
      for (Track& track : tracks_) {
        std::vector<Drawn> kept;
        for (const Drawn& next : track.drawn) {
          if (kept.empty() ||
              std::max(kept.back().end, next.end) - std::min(kept.back().begin, next.begin) >
                  resolution_) {
            kept.push_back(next);
            continue;
          }
          Drawn merged = next.longest > kept.back().longest ? next : kept.back();
          merged.begin = std::min(kept.back().begin, next.begin);
          merged.end = std::max(kept.back().end, next.end);
          merged.count = kept.back().count + next.count;
          kept.back() = merged;
        }
        track.drawn = std::move(kept);
        spans_ += track.drawn.size();
      }
    }
  }

  const Graph& graph_;
  const UnnamedFile& file_;
  TimelineLimits limits_;
  size_t streams_;
  std::vector<Track> tracks_;  // by rank class, then by stream
  std::map<Operation, uint32_t> numbers_;
  std::vector<Operation> operations_;
  LinkLoad load_;
  size_t spans_ = 0;
  Seconds resolution_ = 0;  // 0: every span by itself
  Seconds step_ = 0;
};

}  // namespace

UnnamedFile::UnnamedFile() : file_(std::tmpfile()) {
  if (!file_) throw InputError(std::string("no temporary file: ") + std::strerror(errno));
}

void UnnamedFile::write(const std::string& text) const {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() ||
      std::fflush(file_.get()) != 0)
    throw InputError(std::string("temporary file: cannot be written: ") + std::strerror(errno));
}

std::string UnnamedFile::read() const {
  std::rewind(file_.get());
  std::string text;
  char buffer[65536];
  while (const size_t some = std::fread(buffer, 1, sizeof buffer, file_.get()))
    text.append(buffer, some);
  return text;
}

std::unique_ptr<Sink> make_timeline(const Graph& graph, const Network& network,
                                    const UnnamedFile& file, const TimelineLimits& limits) {
  return std::make_unique<Timeline>(graph, network, file, limits);
}

}  // namespace trnsim
