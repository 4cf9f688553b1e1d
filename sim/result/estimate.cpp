#include "result/estimate.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/analytic_medium.h"
#include "engine/executor.h"
#include "engine/in_step.h"
#include "plan/training_step.h"
#include "workload/memory.h"

namespace trnsim {
namespace {

// When the steps of each layer have ended.
class Ends final : public Sink {
 public:
  explicit Ends(size_t layers) : ends_(layers) {}

  void begun(const Span&) override {}
  void ended(const Span& span) override {
    Seconds& end = ends_.at(static_cast<size_t>(span.step->label.layer));
    end = std::max(end, span.end);
  }
  void delivered(uint32_t, Bytes, uint64_t) override {}
  const std::vector<Seconds>& ends() const { return ends_; }

 private:
  std::vector<Seconds> ends_;
};

enum class Communication { timed, free };

Seconds play(const Job& job, const Plan& plan, const Network& network, Communication communication,
             const std::vector<Sink*>& sinks) {
  Graph graph = in_step(plan, network);
  if (communication == Communication::free)
    return execute_with_free_communication(std::move(graph), sinks);
  const std::unique_ptr<Medium> medium = make_analytic_medium(graph);
  return execute(graph, *medium, Fidelity::analytic, {job.system.chip.collective_tax}, sinks);
}

std::vector<PartTimes> part_times(const Job& job, const Network& network,
                                  Communication communication) {
  const Plan plan = parts_alone(job);
  Ends ends(plan.programs.front().blocks);
  play(job, plan, network, communication, {&ends});
  std::vector<PartTimes> times;
  Seconds before = 0;
  const auto next = [&](size_t block) {
    // What is empty ends with what stands before it.
    const Seconds end = std::max(before, ends.ends()[block]);
    return end - std::exchange(before, end);
  };
  for (size_t i = 0; i < ends.ends().size(); i += 3) {
    PartTimes of;
    of.forward = next(i);
    of.again = next(i + 1);
    of.backward = next(i + 2);
    times.push_back(of);
  }
  return times;
}

Seconds estimate(const Job& job, Communication communication) {
  if (total(memory_parts(job.model, job.training, job.layout)) >
      static_cast<Bytes>(job.system.chip.hbm_capacity.value))
    return std::numeric_limits<double>::infinity();
  const Network network(job.system);
  Job healthy = job;
  healthy.faults.clear();
  const Plan plan = training_step(healthy, part_times(healthy, network, communication));
  return play(job, plan, network, communication, {});
}

}  // namespace

Seconds estimated_step(const Job& job) { return estimate(job, Communication::timed); }

Seconds estimated_step_with_free_communication(const Job& job) {
  return estimate(job, Communication::free);
}

}  // namespace trnsim
