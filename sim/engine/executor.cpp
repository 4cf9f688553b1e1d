#include "engine/executor.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "engine/analytic_medium.h"
#include "engine/execution_state.h"
#include "engine/rendezvous.h"

namespace trnsim {
namespace {

class Executor {
 public:
  Executor(const Graph& graph, Medium& medium, Fidelity fidelity, const Interference& interference,
           const std::vector<Sink*>& sinks)
      : graph_(graph),
        plan_(*graph.plan),
        medium_(medium),
        whole_phases_(fidelity != Fidelity::message),
        tax_(interference.tax),
        no_delays_(interference.no_delays),
        sinks_(sinks),
        ranks_(graph.ranks.size()),
        rendezvous_(graph.messages.size()) {
    for (const Program& program : plan_.programs) {
      programs_.emplace_back(program, plan_.streams.size());
      entered_.push_back(0);
    }
  }

  Seconds run() {
    for (uint32_t program = 0; program < programs_.size(); ++program) unroll(program);
    begin_ready();
    medium_.run([this](const Event& event) {
      handle(event);
      begin_ready();
    });
    reject_leftovers();
    for (Sink* sink : sinks_) sink->finished();
    return finish_;
  }

 private:
  Unrolled& program_of(uint32_t rank) { return programs_[graph_.ranks[rank].program]; }

  // Makes the program's next block and readies what waits for nothing.
  void unroll(uint32_t program_index) {
    Unrolled& program = programs_[program_index];
    const Position first_new = program.end();
    if (!program.unroll()) return;
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      if (graph_.ranks[rank].program != program_index) continue;
      RankState& state = ranks_[rank];
      for (Position position = first_new; position < program.end(); ++position) {
        StepState step;
        for (const Position earlier : program.step(position).after)
          if (!state.is_done(earlier)) ++step.waits_for;
        step.blocker = program.step(position).stream;
        state.steps.push_back(step);
        if (step.waits_for > 0) continue;
        if (state.last_end < medium_.now())
          throw std::logic_error("a block was made too late: " +
                                 describe(plan_, program.step(position).label));
        ready_.emplace_back(rank, position);
      }
    }
  }

  // A queue and not recursion: a chain of steps of no duration may be long.
  void begin_ready() {
    while (!ready_.empty()) {
      const auto [rank, position] = ready_.front();
      ready_.pop_front();
      begin(rank, position);
    }
  }

  void begin(uint32_t rank, Position position) {
    Unrolled& program = program_of(rank);
    const uint32_t program_index = graph_.ranks[rank].program;
    while (entered_[program_index] <= program.block_of(position)) {
      ++entered_[program_index];
      unroll(program_index);
    }
    ranks_[rank].at(position).stage = StepState::Stage::running;
    const Step& step = program.step(position);
    if (const auto* compute = std::get_if<Compute>(&step.work)) {
      start(rank, position);
      Computation& computation = ranks_[rank].computation;
      computation = {true, position, compute->seconds / graph_.ranks[rank].speed, medium_.now(),
                     computation.foreseen};
      foresee_end(rank);
      return;
    }
    const auto* exchange = std::get_if<Exchange>(&step.work);
    if (exchange == nullptr || !exchange->posted) start_exchange(rank, position);
    if (const auto* delay = std::get_if<Delay>(&step.work))
      medium_.after(no_delays_ ? 0 : delay->seconds, {Event::Kind::delay_passed, rank, position});
    else
      begin_hop(rank, position);
  }

  // Tells that a step is under way.
  void start(uint32_t rank, Position position) {
    StepState& state = ranks_[rank].at(position);
    state.started = true;
    state.begin = medium_.now();
    const Step& step = program_of(rank).step(position);
    const Span span{rank, position, &step, state.begin, state.begin, state.blocker};
    for (Sink* sink : sinks_) sink->begun(span);
  }

  void start_exchange(uint32_t rank, Position position) {
    if (ranks_[rank].at(position).started) return;
    start(rank, position);
    settle(rank);
    ++ranks_[rank].active_exchanges;
    if (tax_ > 0) foresee_end(rank);
  }

  // A chip's rate of compute, as a part of its full speed: collectives take what the tax says.
  double rate(const RankState& rank) const { return rank.active_exchanges > 0 ? 1 - tax_ : 1; }

  // Brings what is left of a computation up to now; to be done before the rate changes.
  void settle(uint32_t rank) {
    RankState& state = ranks_[rank];
    Computation& computation = state.computation;
    computation.left -= (medium_.now() - computation.since) * rate(state);
    computation.since = medium_.now();
  }

  void foresee_end(uint32_t rank) {
    Computation& computation = ranks_[rank].computation;
    if (!computation.running) return;
    const Seconds left = std::max(0.0, computation.left) / rate(ranks_[rank]);
    medium_.after(left, {Event::Kind::computed, rank, ++computation.foreseen});
  }

  void end_computation(uint32_t rank, uint64_t number) {
    Computation& computation = ranks_[rank].computation;
    if (number != computation.foreseen) return;
    computation.running = false;
    end(rank, computation.position);
  }

  // Begins the next hop in which the rank has a part, or ends the exchange.
  void begin_hop(uint32_t rank, Position position) {
    const auto& exchange = std::get<Exchange>(program_of(rank).step(position).work);
    const std::vector<uint32_t>& touching = graph_.touching[rank][exchange.pattern];
    StepState& state = ranks_[rank].at(position);
    if (touching.empty()) state.hop = exchange.hops;
    for (; state.hop < exchange.hops; state.hop += hops_at_once(exchange)) {
      offers_.clear();
      for (const uint32_t message : touching)
        if (is_in_hop(graph_.messages[message], exchange, state.hop)) offers_.push_back(message);
      if (offers_.empty()) continue;
      state.outstanding = static_cast<uint32_t>(offers_.size());
      for (const uint32_t message : offers_) offer(message, rank, position);
      return;
    }
    end_exchange(rank, position);
  }

  bool is_in_hop(const MessageClass& message, const Exchange& exchange, uint64_t hop) const {
    return whole_phases_ ||
           (hop >= message.first_hop && hop < message.first_hop + exchange.messages());
  }

  // A message starts when both of its ends have begun the hop.
  void offer(uint32_t message, uint32_t rank, Position position) {
    const MessageClass& of = graph_.messages[message];
    if (of.from == of.to) {
      launch(message, position, position);
      return;
    }
    const auto other = rendezvous_.meet(
        message,
        {rank, position, program_of(rank).ordinal(position), ranks_[rank].at(position).hop});
    if (!other) return;
    if (of.from == rank)
      launch(message, position, other->position);
    else
      launch(message, other->position, position);
  }

  const Exchange& exchange_of(const InFlight& message) {
    const uint32_t sender = graph_.messages[message.message_class].from;
    return std::get<Exchange>(program_of(sender).step(message.sender).work);
  }

  Bytes bytes_of(const InFlight& message) {
    const Bytes own = graph_.messages[message.message_class].bytes;
    return own > 0 ? own : exchange_of(message).bytes;
  }

  // In phase fidelity one message stands for those of all hops.
  uint64_t hops_at_once(const Exchange& exchange) const {
    return whole_phases_ ? exchange.hops : 1;
  }
  uint64_t messages_at_once(const Exchange& exchange) const {
    return whole_phases_ ? exchange.messages() : 1;
  }

  void launch(uint32_t message, Position sender, Position receiver) {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(in_flight_.size()));
      in_flight_.emplace_back();
    }
    const uint32_t slot = free_.back();
    free_.pop_back();
    in_flight_[slot] = {message, sender, receiver};
    const Exchange& exchange = exchange_of(in_flight_[slot]);
    if (exchange.posted) {
      start_exchange(graph_.messages[message].from, sender);
      start_exchange(graph_.messages[message].to, receiver);
    }
    const Seconds of_route = exchange.no_latency ? 0 : graph_.messages[message].latency;
    const Seconds latency =
        (of_route + exchange.delay) * static_cast<double>(hops_at_once(exchange));
    if (latency > 0)
      medium_.after(latency, {Event::Kind::latency_passed, slot, 0});
    else
      put_on_wire(slot);
  }

  void put_on_wire(uint32_t slot) {
    const Exchange& exchange = exchange_of(in_flight_[slot]);
    const Bytes bytes = bytes_of(in_flight_[slot]) * hops_at_once(exchange);
    const Event arrival{Event::Kind::delivered, slot, 0};
    if (bytes > 0)
      medium_.send(in_flight_[slot].message_class, bytes, arrival);
    else
      medium_.after(0, arrival);
  }

  void deliver(uint32_t slot) {
    const InFlight message = in_flight_[slot];
    const Exchange& exchange = exchange_of(message);
    const MessageClass& of = graph_.messages[message.message_class];
    const uint64_t messages = messages_at_once(exchange);
    for (Sink* sink : sinks_)
      sink->delivered(message.message_class, bytes_of(message) * messages, messages);
    free_.push_back(slot);
    arrived(of.from, message.sender);
    if (of.to != of.from) arrived(of.to, message.receiver);
  }

  void arrived(uint32_t rank, Position position) {
    StepState& state = ranks_[rank].at(position);
    if (--state.outstanding > 0) return;
    const auto& exchange = std::get<Exchange>(program_of(rank).step(position).work);
    const Seconds reduction = exchange.reduction * static_cast<double>(hops_at_once(exchange));
    if (reduction > 0 && graph_.receives[rank][exchange.pattern])
      medium_.after(reduction, {Event::Kind::reduced, rank, position});
    else
      end_hop(rank, position);
  }

  void end_hop(uint32_t rank, Position position) {
    const auto& exchange = std::get<Exchange>(program_of(rank).step(position).work);
    ranks_[rank].at(position).hop += hops_at_once(exchange);
    begin_hop(rank, position);
  }

  void end_exchange(uint32_t rank, Position position) {
    settle(rank);
    --ranks_[rank].active_exchanges;
    if (tax_ > 0) foresee_end(rank);
    end(rank, position);
  }

  void end(uint32_t rank, Position position) {
    RankState& rank_state = ranks_[rank];
    StepState& state = rank_state.at(position);
    state.stage = StepState::Stage::done;
    finish_ = std::max(finish_, medium_.now());
    rank_state.last_end = medium_.now();
    Unrolled& program = program_of(rank);
    const Step& step = program.step(position);
    const Span span{rank, position, &step, state.begin, medium_.now(), state.blocker};
    for (Sink* sink : sinks_) sink->ended(span);
    for (const Position later : program.dependents(position)) {
      StepState& waiting = rank_state.at(later);
      waiting.blocker = step.stream;
      if (--waiting.waits_for == 0) ready_.emplace_back(rank, later);
    }
    while (!rank_state.steps.empty() && rank_state.steps.front().stage == StepState::Stage::done) {
      rank_state.steps.pop_front();
      ++rank_state.first;
    }
    forget(graph_.ranks[rank].program);
  }

  // Drops the steps that every rank has done, once a good number of them has come together.
  void forget(uint32_t program_index) {
    constexpr uint64_t often = 4096;
    if (++ends_ % often != 0) return;
    Unrolled& program = programs_[program_index];
    Position needed = program.end();
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank)
      if (graph_.ranks[rank].program == program_index)
        needed = std::min(needed, ranks_[rank].first);
    program.forget_before(needed);
  }

  void handle(const Event& event) {
    switch (event.kind) {
      case Event::Kind::computed:
        end_computation(event.index, event.detail);
        return;
      case Event::Kind::delay_passed:
        end_exchange(event.index, event.detail);
        return;
      case Event::Kind::latency_passed:
        put_on_wire(event.index);
        return;
      case Event::Kind::delivered:
        deliver(event.index);
        return;
      case Event::Kind::reduced:
        end_hop(event.index, event.detail);
        return;
    }
  }

  void reject_leftovers() {
    size_t left = 0;
    std::string named;
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      Unrolled& program = program_of(rank);
      RankState& state = ranks_[rank];
      for (Position at = state.first; at < program.end(); ++at) {
        if (state.is_done(at)) continue;
        constexpr size_t shown = 4;
        if (++left <= shown) named += "\n  " + describe_leftover(rank, at);
      }
    }
    size_t unwritten = 0;
    for (size_t i = 0; i < programs_.size(); ++i)
      unwritten += plan_.programs[i].blocks - programs_[i].blocks();
    if (left == 0 && unwritten == 0) return;
    throw Stuck(std::to_string(left) + " operations never ended" +
                (unwritten > 0 ? ", " + std::to_string(unwritten) + " blocks never began" : "") +
                named);
  }

  std::string describe_leftover(uint32_t rank, Position position) {
    Unrolled& program = program_of(rank);
    RankState& state = ranks_[rank];
    const Step& step = program.step(position);
    std::string text = "rank " + std::to_string(graph_.ranks[rank].representative) + ": " +
                       describe(plan_, step.label);
    if (state.at(position).stage == StepState::Stage::running)
      return text + ", hop " + std::to_string(state.at(position).hop) + ", waits for " +
             std::to_string(state.at(position).outstanding) + " messages";
    for (const Position earlier : step.after)
      if (!state.is_done(earlier))
        return text + " waits for: " + describe(plan_, program.step(earlier).label);
    return text;
  }

  const Graph& graph_;
  const Plan& plan_;
  Medium& medium_;
  const bool whole_phases_;
  const double tax_;
  const bool no_delays_;
  const std::vector<Sink*>& sinks_;
  std::vector<Unrolled> programs_;
  std::vector<size_t> entered_;  // blocks of each program that some rank has begun
  std::vector<RankState> ranks_;
  Rendezvous rendezvous_;
  std::vector<InFlight> in_flight_;
  std::vector<uint32_t> free_;
  std::vector<uint32_t> offers_;  // of the hop that begins
  std::deque<std::pair<uint32_t, Position>> ready_;
  uint64_t ends_ = 0;
  Seconds finish_ = 0;
};

}  // namespace

Seconds execute(const Graph& graph, Medium& medium, Fidelity fidelity,
                const Interference& interference, const std::vector<Sink*>& sinks) {
  return Executor(graph, medium, fidelity, interference, sinks).run();
}

Seconds execute_with_free_communication(Graph graph, const std::vector<Sink*>& sinks) {
  for (MessageClass& message : graph.messages) message.latency = message.seconds_per_byte = 0;
  for (std::vector<bool>& receives : graph.receives) receives.assign(receives.size(), false);
  const std::unique_ptr<Medium> medium = make_analytic_medium(graph);
  return execute(graph, *medium, Fidelity::analytic, {.no_delays = true}, sinks);
}

}  // namespace trnsim
