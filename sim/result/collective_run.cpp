#include "result/collective_run.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/analytic_medium.h"
#include "engine/simgrid_medium.h"
#include "plan/groups.h"
#include "result/metrics.h"
#include "result/worker.h"

namespace trnsim {
namespace {

using nlohmann::json;

json to_json(const CollectiveRow& row) {
  return {row.bytes,
          row.time,
          row.algorithm_bandwidth,
          row.bus_bandwidth,
          row.algorithm,
          row.bound,
          row.busiest.level,
          row.busiest.count,
          row.busiest.capacity,
          row.busiest.busiest_bytes,
          row.busiest.utilisation,
          row.classes,
          row.messages};
}

CollectiveRow row_of(const json& values) {
  return {values[0],
          values[1],
          values[2],
          values[3],
          values[4],
          values[5],
          {values[6], values[7], values[8], values[9], values[10]},
          values[11],
          values[12]};
}

Seconds analytic_time(CollectiveJob job) {
  job.engine.fidelity = Fidelity::analytic;
  job.engine.fold = true;
  return run_collective(job).time;
}

}  // namespace

CollectiveRow run_collective(const CollectiveJob& job) {
  const Network network(job.system);
  const Plan plan = collective_plan(job);
  const Graph graph =
      make_graph(plan, network, job.engine.fold ? refine(plan, network) : identity(plan, network));
  const auto medium = job.engine.fidelity == Fidelity::analytic ? make_analytic_medium(graph)
                                                                : make_simgrid_medium(graph);
  Metrics metrics(graph, 0);
  CollectiveRow row;
  row.bytes = job.op == CollectiveOp::barrier ? 0 : job.bytes;
  row.time = execute(graph, *medium, job.engine.fidelity, {}, {&metrics});
  RunResult run;
  metrics.write(row.time, network, job.system, run);
  const Collective& of = plan.collectives.front();
  row.algorithm = of.algorithm;
  row.bound = run.collectives.front().bound;
  if (row.time > 0 && job.op != CollectiveOp::barrier)
    row.algorithm_bandwidth = static_cast<double>(job.bytes) / row.time;
  row.bus_bandwidth = row.algorithm_bandwidth * of.bus_factor;
  for (const LinkResult& link : run.links)
    if (link.utilisation > row.busiest.utilisation) row.busiest = link;
  row.classes = static_cast<uint32_t>(graph.ranks.size());
  row.messages = run.engine.messages;
  return row;
}

std::vector<CollectiveRow> run_collectives(const std::vector<CollectiveJob>& jobs) {
  std::vector<std::function<std::string()>> tasks;
  for (const CollectiveJob& job : jobs)
    tasks.emplace_back([&job] { return to_json(run_collective(job)).dump(); });
  std::vector<CollectiveRow> rows;
  for (const std::string& text : run_in_workers(tasks)) rows.push_back(row_of(json::parse(text)));
  return rows;
}

CollectiveJob with_best_algorithms(const CollectiveJob& job, std::vector<Candidate>* tried) {
  CollectiveJob best = job;
  best.algorithms = {};
  if (!is_chosen(job.op)) return best;
  for (const Axis& axis : group_axes(job)) {
    std::vector<Candidate> candidates;
    for (const std::string& name : algorithm_names()) {
      const Algorithm algorithm = algorithm_of(name);
      if (algorithm == Algorithm::nvls || algorithm == Algorithm::sharp) continue;
      if (obstacle(algorithm, axis, job.system)) continue;
      CollectiveJob candidate = best;
      candidate.algorithms.along[axis.name] = algorithm;
      candidates.push_back({axis.name, algorithm, analytic_time(candidate)});
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.time < b.time; });
    best.algorithms.along[axis.name] = candidates.front().algorithm;
    if (tried != nullptr) tried->insert(tried->end(), candidates.begin(), candidates.end());
  }
  return best;
}

}  // namespace trnsim
