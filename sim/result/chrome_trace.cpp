#include "result/chrome_trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/output_file.h"
#include "base/units.h"

namespace trnsim {
namespace {

using Json = nlohmann::ordered_json;

class ChromeTrace final : public Sink {
 public:
  ChromeTrace(const std::filesystem::path& path, const Graph& graph) : graph_(graph), file_(path) {
    file_.stream() << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
    for (uint32_t i = 0; i < graph.ranks.size(); ++i) {
      const RankClass& rank = graph.ranks[i];
      name(i, 0, "process_name",
           "rank " + std::to_string(rank.representative) + " (stands for " +
               std::to_string(rank.size) + ")");
      for (uint32_t stream = 0; stream < graph.plan->streams.size(); ++stream)
        name(i, stream, "thread_name", graph.plan->streams[stream]);
    }
  }

  void begun(const Span&) override {}
  void delivered(uint32_t, Bytes, uint64_t) override {}

  void ended(const Span& span) override {
    const Label& label = span.step->label;
    Json args = Json::object();
    if (label.layer != Label::none) args["layer"] = label.layer;
    if (label.microbatch != Label::none) args["microbatch"] = label.microbatch;
    if (label.bucket != Label::none) args["bucket"] = label.bucket;
    std::string title = graph_.plan->names.at(label.name);
    if (const auto* exchange = std::get_if<Exchange>(&span.step->work)) {
      const Pattern& pattern = graph_.plan->patterns[exchange->pattern];
      title += " " + pattern.axis.name;
      args["what"] = graph_.plan->collectives.at(static_cast<size_t>(label.collective)).what;
      args["ranks"] = pattern.axis.size;
      args["hops"] = exchange->hops;
      args["message_bytes"] = exchange->bytes;
      const Rank rank = graph_.ranks[span.rank_class].representative;
      const auto peers = std::count_if(pattern.shifts.begin(), pattern.shifts.end(),
                                       [&](Rank shift) { return pattern.sent(rank, shift); });
      args["sent_bytes"] = exchange->bytes * exchange->messages() * static_cast<uint64_t>(peers);
    }
    event({{"name", title},
           {"cat", to_string(label.kind)},
           {"ph", "X"},
           {"pid", span.rank_class},
           {"tid", span.step->stream},
           {"ts", span.begin * 1e6},
           {"dur", (span.end - span.begin) * 1e6},
           {"args", args}});
  }

  void finished() override {
    file_.stream() << "\n]}\n";
    file_.commit();
  }

 private:
  void name(uint32_t process, uint32_t thread, const char* what, const std::string& text) {
    event({{"name", what},
           {"ph", "M"},
           {"pid", process},
           {"tid", thread},
           {"args", {{"name", text}}}});
  }

  void event(const Json& json) {
    if (!first_) file_.stream() << ",\n";
    first_ = false;
    file_.stream() << json.dump();
  }

  const Graph& graph_;
  OutputFile file_;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<Sink> make_chrome_trace(const std::filesystem::path& path, const Graph& graph) {
  return std::make_unique<ChromeTrace>(path, graph);
}

}  // namespace trnsim
