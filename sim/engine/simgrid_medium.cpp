#include "engine/simgrid_medium.h"

#include <exception>
#include <numeric>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <string>

// These need macros that only the headers above define.
#include <simgrid/version.h>
#include <xbt/log.h>

#include "engine/event_queue.h"

namespace trnsim {
namespace {

namespace s4u = simgrid::s4u;

class SimgridMedium final : public Medium {
 public:
  SimgridMedium(const Graph& graph, const SimgridSettings& settings);

  Seconds now() const override { return s4u::Engine::get_clock(); }
  void after(Seconds seconds, const Event& event) override;
  void send(uint32_t message_class, Bytes bytes, const Event& event) override;
  void run(const std::function<void(const Event&)>& handler) override;

 private:
  struct Path {
    s4u::Host* from = nullptr;
    s4u::Host* to = nullptr;
  };
  struct Flow {
    s4u::CommPtr comm;  // SimGrid 3.32 crashes if nobody holds a communication until it has ended
    Event event;
  };

  void make_links();
  Path make_path(const std::string& name, const std::vector<const s4u::Link*>& links);
  void make_paths();
  void set_timer();
  void end_delays();
  void tell(const Event& event);
  void ended(const s4u::Activity& activity);

  const Graph& graph_;
  std::unique_ptr<s4u::Engine> engine_;
  s4u::NetZone* root_ = nullptr;
  std::vector<const s4u::Link*> links_;
  std::vector<uint64_t> common_weight_;  // by which a link's capacity and weights are divided
  std::vector<Path> paths_;
  std::vector<Flow> flows_;
  std::vector<size_t> free_flows_;
  std::vector<s4u::CommPtr> ended_;  // a comm must outlive its own completion callback
  EventQueue delays_;
  std::vector<Seconds> timers_;  // of SimGrid, not yet rung; each is earlier than the one before it
  const std::function<void(const Event&)>* handler_ = nullptr;
  std::exception_ptr failure_;
};

SimgridMedium::SimgridMedium(const Graph& graph, const SimgridSettings& settings) : graph_(graph) {
  xbt_log_control_set("xbt_cfg.thresh:warning");
  engine_ = std::make_unique<s4u::Engine>("trnsim");
  // SimGrid's defaults model TCP over Ethernet; these leave pure fair sharing.
  s4u::Engine::set_config("network/model:CM02");
  s4u::Engine::set_config("network/crosstraffic:0");
  s4u::Engine::set_config("network/TCP-gamma:0");
  // What ends within this many seconds ends at once. By default a nanosecond, which out of step
  // ranks would gain anew with every message.
  s4u::Engine::set_config("surf/precision:1e-14");
  for (const auto& [key, value] : settings) s4u::Engine::set_config(key + ':' + value);
  // An empty root keeps no table of its children, which would grow with their square.
  root_ = s4u::create_empty_zone("cluster");
  make_links();
  make_paths();
  s4u::Activity::on_completion_cb([this](const s4u::Activity& activity) { ended(activity); });
}

void SimgridMedium::make_links() {
  common_weight_.assign(graph_.links.size(), 0);
  for (const MessageClass& message : graph_.messages)
    for (const auto& [link, times] : message.crossings)
      common_weight_[link] = std::gcd(common_weight_[link], times);
  for (size_t i = 0; i < graph_.links.size(); ++i) {
    const double capacity = graph_.links[i].capacity / static_cast<double>(common_weight_[i]);
    links_.push_back(root_->create_link("link " + std::to_string(i), capacity)->seal());
  }
}

// A zone of two hosts and one route. A link that stands in it several times is consumed as often,
// which is how one message stands for several that share a link.
SimgridMedium::Path SimgridMedium::make_path(const std::string& name,
                                             const std::vector<const s4u::Link*>& links) {
  s4u::NetZone* zone = s4u::create_full_zone(name);
  zone->set_parent(root_);
  Path path{zone->create_host(name + " from", 1.0), zone->create_host(name + " to", 1.0)};
  path.from->seal();
  path.to->seal();
  std::vector<s4u::LinkInRoute> route;
  route.reserve(links.size());
  for (const s4u::Link* link : links) route.emplace_back(link);
  zone->add_route(path.from->get_netpoint(), path.to->get_netpoint(), nullptr, nullptr, route,
                  /*symmetrical=*/false);
  zone->seal();
  return path;
}

// SimGrid seals the platform when it starts, so all that may be used is made before.
void SimgridMedium::make_paths() {
  for (size_t i = 0; i < graph_.messages.size(); ++i) {
    std::vector<const s4u::Link*> links;
    for (const auto& [link, times] : graph_.messages[i].crossings)
      links.insert(links.end(), times / common_weight_[link], links_[link]);
    paths_.push_back(make_path("path " + std::to_string(i), links));
  }
}

void SimgridMedium::after(Seconds seconds, const Event& event) {
  delays_.push(now() + seconds, event);
  set_timer();
}

// One timer for all that end at the same time: where all ranks are in step, one for all of them.
void SimgridMedium::set_timer() {
  if (delays_.empty() || (!timers_.empty() && timers_.back() <= delays_.next())) return;
  timers_.push_back(delays_.next());
  simgrid::kernel::timer::Timer::set(timers_.back(), [this] { end_delays(); });
}

void SimgridMedium::end_delays() {
  while (!delays_.empty() && delays_.next() <= now()) tell(delays_.pop());
  timers_.pop_back();
  set_timer();
}

void SimgridMedium::send(uint32_t message_class, Bytes bytes, const Event& event) {
  if (free_flows_.empty()) {
    free_flows_.push_back(flows_.size());
    flows_.emplace_back();
  }
  const size_t slot = free_flows_.back();
  free_flows_.pop_back();
  // All but the last are out of their callbacks. One goes as one comes, which then finds its memory
  // free and warm.
  if (ended_.size() > 1) ended_.erase(ended_.end() - 2);
  const Path& path = paths_[message_class];
  s4u::CommPtr comm = s4u::Comm::sendto_init(path.from, path.to);
  comm->set_payload_size(bytes);
  comm->set_data(reinterpret_cast<void*>(slot));  // NOLINT(performance-no-int-to-ptr): an index
  flows_[slot] = {comm, event};
  comm->start();
}

void SimgridMedium::ended(const s4u::Activity& activity) {
  const auto slot = reinterpret_cast<size_t>(activity.get_data<void>());
  ended_.push_back(std::move(flows_[slot].comm));
  free_flows_.push_back(slot);
  const Event event = flows_[slot].event;  // the handler may use the slot again
  tell(event);
}

void SimgridMedium::tell(const Event& event) {
  // An exception must not cross SimGrid's frames: keep the first, start nothing more.
  if (failure_ != nullptr) return;
  try {
    (*handler_)(event);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void SimgridMedium::run(const std::function<void(const Event&)>& handler) {
  handler_ = &handler;
  engine_->run();
  ended_.clear();
  if (failure_ != nullptr) std::rethrow_exception(failure_);
}

}  // namespace

std::unique_ptr<Medium> make_simgrid_medium(const Graph& graph, const SimgridSettings& settings) {
  return std::make_unique<SimgridMedium>(graph, settings);
}

std::string simgrid_version() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  return "SimGrid " + std::to_string(major) + '.' + std::to_string(minor) + '.' +
         std::to_string(patch);
}

}  // namespace trnsim
