#include "engine/analytic_medium.h"

#include <queue>

namespace trnsim {
namespace {

class AnalyticMedium final : public Medium {
 public:
  explicit AnalyticMedium(const Graph& graph) : graph_(graph) {}

  Seconds now() const override { return now_; }

  void after(Seconds seconds, const Event& event) override {
    queue_.push({now_ + seconds, ++made_, event});
  }

  void send(uint32_t message_class, Bytes bytes, const Event& event) override {
    after(static_cast<double>(bytes) * graph_.messages[message_class].seconds_per_byte, event);
  }

  void run(const std::function<void(const Event&)>& handler) override {
    while (!queue_.empty()) {
      const Entry entry = queue_.top();
      queue_.pop();
      now_ = entry.time;
      handler(entry.event);
    }
  }

 private:
  struct Entry {
    Seconds time;
    uint64_t number;  // of equal times the earlier made goes first
    Event event;
    bool operator<(const Entry& other) const {
      return time != other.time ? time > other.time : number > other.number;
    }
  };

  const Graph& graph_;
  std::priority_queue<Entry> queue_;
  Seconds now_ = 0;
  uint64_t made_ = 0;
};

}  // namespace

std::unique_ptr<Medium> make_analytic_medium(const Graph& graph) {
  return std::make_unique<AnalyticMedium>(graph);
}

}  // namespace trnsim
