#include "engine/analytic_medium.h"

#include <optional>
#include <queue>

namespace trnsim {
namespace {

class AnalyticMedium final : public Medium {
 public:
  explicit AnalyticMedium(const Graph& graph) : graph_(graph), chips_(graph.ranks.size()) {}

  Seconds now() const override { return now_; }

  void after(Seconds seconds, const Event& event) override { add(now_ + seconds, event, never); }

  void send(uint32_t message_class, Bytes bytes, const Event& event) override {
    after(static_cast<double>(bytes) * graph_.messages[message_class].seconds_per_byte, event);
  }

  void compute(uint32_t rank_class, Seconds seconds, const Event& event) override {
    Chip& chip = chips_[rank_class];
    chip.running = event;
    chip.left = seconds;
    chip.since = now_;
    schedule(rank_class);
  }

  void set_speed(uint32_t rank_class, double speed) override {
    Chip& chip = chips_[rank_class];
    chip.left -= (now_ - chip.since) * chip.speed;
    chip.since = now_;
    chip.speed = speed;
    if (chip.running) schedule(rank_class);
  }

  void run(const std::function<void(const Event&)>& handler) override {
    while (!queue_.empty()) {
      const Entry entry = queue_.top();
      queue_.pop();
      if (entry.chip != never) {
        Chip& chip = chips_[entry.chip];
        if (entry.number != chip.scheduled) continue;  // its speed has changed since
        chip.running.reset();
      }
      now_ = entry.time;
      handler(entry.event);
    }
  }

 private:
  static constexpr uint32_t never = ~0U;

  struct Chip {
    double speed = 1;
    Seconds left = 0;   // of the running computation, at full speed
    Seconds since = 0;  // when `left` was true
    std::optional<Event> running;
    uint64_t scheduled = 0;  // number of the entry that ends it
  };
  struct Entry {
    Seconds time;
    uint64_t number;  // of equal times the earlier made goes first
    Event event;
    uint32_t chip;
    bool operator<(const Entry& other) const {
      return time != other.time ? time > other.time : number > other.number;
    }
  };

  void add(Seconds time, const Event& event, uint32_t chip) {
    queue_.push({time, ++made_, event, chip});
  }

  void schedule(uint32_t rank_class) {
    Chip& chip = chips_[rank_class];
    add(now_ + chip.left / chip.speed, *chip.running, rank_class);
    chip.scheduled = made_;
  }

  const Graph& graph_;
  std::vector<Chip> chips_;
  std::priority_queue<Entry> queue_;
  Seconds now_ = 0;
  uint64_t made_ = 0;
};

}  // namespace

std::unique_ptr<Medium> make_analytic_medium(const Graph& graph) {
  return std::make_unique<AnalyticMedium>(graph);
}

}  // namespace trnsim
