#include "result/prepare.h"

#include <cmath>
#include <utility>

#include "engine/analytic_medium.h"
#include "engine/executor.h"
#include "engine/whole_class.h"

namespace trnsim {
namespace {

// Above this, ranks are not told apart around a fault if bounds are known.
constexpr Rank most_told_apart = 4096;

constexpr double same = 1e-9;  // relative

bool only_one_slowdown(const Job& job) {
  return job.faults.size() == 1 && job.faults.front().factor < 1;
}

Seconds play_analytic(const Graph& graph) {
  const auto medium = make_analytic_medium(graph);
  return execute(graph, *medium, Fidelity::analytic, {}, {});
}

// The fault on its whole class. A tax on compute would tie it to when exactly messages pass.
std::optional<Prepared> whole_class(const Job& job, const Plan& plan, const Network& faulty) {
  if (!only_one_slowdown(job) || job.system.chip.collective_tax > 0) return std::nullopt;
  Prepared made;
  Plan healthy = plan;
  healthy.speed.clear();
  made.healthy = std::make_unique<const Plan>(std::move(healthy));
  const Network network(job.system);
  const Folding folding = refine(*made.healthy, network);
  const Fault& fault = job.faults.front();
  const std::optional<Link> slow =
      fault.link ? std::optional(network.find(*fault.link).link) : std::nullopt;
  if (folding.rank_colours != 1 || !shares_most_in_step(*made.healthy, network, slow))
    return std::nullopt;
  made.graph = make_graph(*made.healthy, network, folding);
  if (slow)
    slow_all_links(made.graph, folding, *slow, faulty.capacity(*slow) / network.capacity(*slow));
  else
    slow_all_chips(made.graph, fault.factor);
  Graph alone = made.graph;
  leave_alone(alone, network, folding);
  made.at_least = play_analytic(alone);
  // In analytic fidelity ranks are in step too, so that this is what will be played.
  const bool exact = *made.at_least >= play_analytic(made.graph) * (1 - same);
  if (!exact && job.system.chips() <= most_told_apart) return std::nullopt;
  return made;
}

}  // namespace

Prepared prepare(const Job& job, const Plan& plan, const Network& network) {
  Prepared made;
  if (!job.engine.fold) {
    made.graph = make_graph(plan, network, identity(plan, network));
    made.method = "every rank and link by itself";
    return made;
  }
  if (auto all_slow = whole_class(job, plan, network)) return std::move(*all_slow);
  made.graph = make_graph(plan, network, refine(plan, network));
  made.method = "exact: colour refinement of ranks and links";
  return made;
}

std::string method_of(const Prepared& prepared, Seconds step) {
  if (!prepared.at_least) return prepared.method;
  const std::string whose = ", all as slow as the faulty one, whose figures these are";
  if (*prepared.at_least >= step * (1 - same)) return "exact step time" + whose;
  return "the step takes between " + format_quantity(*prepared.at_least, Unit::seconds, 6) +
         " and " + format_quantity(step, Unit::seconds, 6) + ", rigorously; shown is the longer" +
         whose;
}

}  // namespace trnsim
