#include "bare_loop.h"

#include <deque>
#include <numeric>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <string>

#include "cpu_time.h"

// These need macros that only the headers above define.
#include <xbt/log.h>

namespace trnsim::bench {
namespace {

namespace s4u = simgrid::s4u;

class BareLoop {
 public:
  explicit BareLoop(const Traffic& traffic) : traffic_(traffic) {
    xbt_log_control_set("xbt_cfg.thresh:warning");
    s4u::Engine::set_config("network/model:CM02");
    s4u::Engine::set_config("network/crosstraffic:0");
    s4u::Engine::set_config("network/TCP-gamma:0");
    root_ = s4u::create_empty_zone("bare");
    for (const BytesPerSecond capacity : traffic.links)
      links_.push_back(
          root_->create_link("link " + std::to_string(links_.size()), capacity)->seal());
    for (const Traffic::Chain& chain : traffic.chains) add_chain(chain);
    s4u::Activity::on_completion_cb(
        [this](const s4u::Activity& activity) { arrived(*activity.get_data<Message>()); });
  }

  BareRun run() {
    const double start = cpu_seconds();
    for (Chain& chain : chains_) begin_hop(chain);
    engine_.run();
    ended_.clear();
    return {messages_, s4u::Engine::get_clock(), cpu_seconds() - start};
  }

 private:
  struct Chain;
  struct Message {
    Chain* chain = nullptr;
    s4u::Host* from = nullptr;
    s4u::Host* to = nullptr;
    Seconds latency = 0;
    s4u::CommPtr comm;  // must be held until it has ended
  };
  struct Chain {
    const std::vector<Traffic::Exchange>* exchanges = nullptr;
    std::vector<std::vector<Message>> by_pattern;
    size_t exchange = 0;
    uint64_t hop = 0;
    size_t outstanding = 0;
  };

  void add_chain(const Traffic::Chain& wanted) {
    Chain& chain = chains_.emplace_back();
    chain.exchanges = &traffic_.lists[wanted.exchanges];
    for (const auto& messages : wanted.by_pattern) {
      auto& made = chain.by_pattern.emplace_back();
      for (const Traffic::Message& message : messages) {
        made.push_back({&chain, nullptr, nullptr, message.latency, nullptr});
        add_path(made.back(), message.links);
      }
    }
  }

  void add_path(Message& message, const std::vector<uint32_t>& links) {
    const std::string name = "path " + std::to_string(paths_++);
    s4u::NetZone* zone = s4u::create_full_zone(name);
    zone->set_parent(root_);
    message.from = zone->create_host(name + " from", 1.0)->seal();
    message.to = zone->create_host(name + " to", 1.0)->seal();
    std::vector<s4u::LinkInRoute> route;
    for (const uint32_t link : links) route.emplace_back(links_[link]);
    zone->add_route(message.from->get_netpoint(), message.to->get_netpoint(), nullptr, nullptr,
                    route, /*symmetrical=*/false);
    zone->seal();
  }

  template <typename What>
  void after(Seconds seconds, What what) {
    simgrid::kernel::timer::Timer::set(s4u::Engine::get_clock() + seconds, [this, what] {
      ended_.clear();
      what();
    });
  }

  void begin_hop(Chain& chain) {
    if (chain.exchange == chain.exchanges->size()) return;
    const Traffic::Exchange& exchange = (*chain.exchanges)[chain.exchange];
    std::vector<Message>& messages = chain.by_pattern[exchange.pattern];
    chain.outstanding = messages.size();
    for (Message& message : messages) {
      const Seconds latency = message.latency + exchange.delay;
      if (latency > 0)
        after(latency, [this, &message, &exchange] { send(message, exchange.bytes); });
      else
        send(message, exchange.bytes);
    }
  }

  void send(Message& message, Bytes bytes) {
    message.comm = s4u::Comm::sendto_init(message.from, message.to);
    message.comm->set_payload_size(bytes);
    message.comm->set_data(&message);
    message.comm->start();
  }

  void arrived(Message& message) {
    ended_.push_back(std::move(message.comm));
    ++messages_;
    Chain& chain = *message.chain;
    if (--chain.outstanding > 0) return;
    const Traffic::Exchange& exchange = (*chain.exchanges)[chain.exchange];
    if (++chain.hop == exchange.hops) {
      chain.hop = 0;
      ++chain.exchange;
    }
    if (exchange.pause > 0)
      after(exchange.pause, [this, &chain] { begin_hop(chain); });
    else
      begin_hop(chain);
  }

  s4u::Engine engine_{"bare"};
  const Traffic& traffic_;
  s4u::NetZone* root_ = nullptr;
  std::vector<const s4u::Link*> links_;
  std::deque<Chain> chains_;  // messages point at them
  size_t paths_ = 0;
  std::vector<s4u::CommPtr> ended_;
  uint64_t messages_ = 0;
};

// The exchanges of one stream of a program, in order.
std::vector<Traffic::Exchange> exchanges_of(const Unrolled& program, StreamId stream) {
  std::vector<Traffic::Exchange> found;
  for (Position position = program.begin(); position < program.end(); ++position) {
    const Step& step = program.step(position);
    const auto* exchange = std::get_if<Exchange>(&step.work);
    if (exchange != nullptr && step.stream == stream)
      found.push_back({exchange->pattern, exchange->hops, exchange->bytes, exchange->delay,
                       exchange->reduction});
  }
  return found;
}

}  // namespace

Traffic traffic_of(const Graph& graph) {
  Traffic traffic;
  // A link and what crosses it may be divided by what the weights have in common.
  std::vector<uint64_t> common(graph.links.size(), 0);
  for (const MessageClass& message : graph.messages)
    for (const auto& [link, times] : message.crossings)
      common[link] = std::gcd(common[link], times);
  for (size_t i = 0; i < graph.links.size(); ++i)
    traffic.links.push_back(graph.links[i].capacity / static_cast<double>(common[i]));

  std::vector<std::vector<std::vector<Traffic::Message>>> sent(
      graph.ranks.size(), std::vector<std::vector<Traffic::Message>>(graph.plan->patterns.size()));
  for (const MessageClass& message : graph.messages) {
    auto& made = sent[message.from][message.pattern].emplace_back();
    made.latency = message.latency;
    for (const auto& [link, times] : message.crossings)
      made.links.insert(made.links.end(), times / common[link], link);
  }

  const auto streams = static_cast<StreamId>(graph.plan->streams.size());
  for (const Program& program : graph.plan->programs) {
    Unrolled steps(program, streams);
    while (steps.unroll()) {
    }
    for (StreamId stream = 0; stream < streams; ++stream)
      traffic.lists.push_back(exchanges_of(steps, stream));
  }
  for (size_t rank = 0; rank < graph.ranks.size(); ++rank)
    for (StreamId stream = 0; stream < streams; ++stream) {
      const uint32_t list = graph.ranks[rank].program * streams + stream;
      if (!traffic.lists[list].empty()) traffic.chains.push_back({list, sent[rank]});
    }
  return traffic;
}

BareRun run_bare(const Traffic& traffic) { return BareLoop(traffic).run(); }

}  // namespace trnsim::bench
