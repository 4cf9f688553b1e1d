#include "engine/analytic_medium.h"

#include "engine/event_queue.h"

namespace trnsim {
namespace {

class AnalyticMedium final : public Medium {
 public:
  explicit AnalyticMedium(const Graph& graph) : graph_(graph) {}

  Seconds now() const override { return now_; }

  void after(Seconds seconds, const Event& event) override { queue_.push(now_ + seconds, event); }

  void send(uint32_t message_class, Bytes bytes, const Event& event) override {
    after(static_cast<double>(bytes) * graph_.messages[message_class].seconds_per_byte, event);
  }

  void run(const std::function<void(const Event&)>& handler) override {
    while (!queue_.empty()) {
      now_ = queue_.next();
      handler(queue_.pop());
    }
  }

 private:
  const Graph& graph_;
  EventQueue queue_;
  Seconds now_ = 0;
};

}  // namespace

std::unique_ptr<Medium> make_analytic_medium(const Graph& graph) {
  return std::make_unique<AnalyticMedium>(graph);
}

}  // namespace trnsim
