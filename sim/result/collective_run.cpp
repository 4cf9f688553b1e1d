#include "result/collective_run.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/analytic_medium.h"
#include "engine/simgrid_medium.h"
#include "plan/groups.h"
#include "result/metrics.h"
#include "result/progress.h"
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

// When each collective of a plan has ended on all ranks.
class LastEnds final : public Sink {
 public:
  explicit LastEnds(size_t collectives) : ends(collectives) {}
  void begun(const Span&) override {}
  void ended(const Span& span) override {
    if (span.step->label.collective == Label::none) return;
    Seconds& end = ends[static_cast<size_t>(span.step->label.collective)];
    end = std::max(end, span.end);
  }
  void delivered(uint32_t, Bytes, uint64_t) override {}

  std::vector<Seconds> ends;
};

// The rows of collectives that begin at once. In this process.
std::vector<CollectiveRow> play(const std::vector<CollectiveJob>& jobs, bool progress) {
  const CollectiveJob& first = jobs.front();
  const Network network(first.system);
  const Plan plan = collective_plan(jobs);
  const Graph graph = make_graph(
      plan, network, first.engine.fold ? refine(plan, network) : identity(plan, network));
  const auto medium = first.engine.fidelity == Fidelity::analytic
                          ? make_analytic_medium(graph)
                          : make_simgrid_medium(graph, first.engine.simgrid);
  Metrics metrics(graph, {Bytes{0}});
  LastEnds last(jobs.size());
  Progress said(graph);
  std::vector<Sink*> sinks{&metrics, &last};
  if (progress) sinks.push_back(&said);
  RunResult run;
  metrics.write(execute(graph, *medium, first.engine.fidelity, {}, sinks), network, first.system,
                run);
  std::vector<CollectiveRow> rows;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const CollectiveJob& job = jobs[i];
    const Collective& of = plan.collectives[i];
    CollectiveRow row;
    row.bytes = job.op == CollectiveOp::barrier ? 0 : job.bytes;
    row.time = last.ends[i];
    row.algorithm = of.algorithm;
    row.bound = run.collectives[i].bound;
    if (row.time > 0 && job.op != CollectiveOp::barrier)
      row.algorithm_bandwidth = static_cast<double>(job.bytes) / row.time;
    row.bus_bandwidth = row.algorithm_bandwidth * of.bus_factor;
    for (const LinkResult& link : run.links)
      if (link.utilisation > row.busiest.utilisation) row.busiest = link;
    row.classes = static_cast<uint32_t>(graph.ranks.size());
    row.messages = run.engine.messages;
    rows.push_back(std::move(row));
  }
  return rows;
}

Seconds analytic_time(CollectiveJob job) {
  job.engine.fidelity = Fidelity::analytic;
  job.engine.fold = true;
  return play({job}, false).front().time;
}

}  // namespace

std::vector<std::vector<CollectiveRow>> run_at_once(
    const std::vector<std::vector<CollectiveJob>>& sets, bool progress) {
  std::vector<std::function<std::string()>> tasks;
  for (const std::vector<CollectiveJob>& jobs : sets)
    tasks.emplace_back([&jobs, progress] {
      json rows = json::array();
      for (const CollectiveRow& row : play(jobs, progress)) rows.push_back(to_json(row));
      return rows.dump();
    });
  std::vector<std::vector<CollectiveRow>> all;
  for (const std::string& text : run_in_workers(tasks)) {
    all.emplace_back();
    for (const json& row : json::parse(text)) all.back().push_back(row_of(row));
  }
  return all;
}

std::vector<CollectiveRow> run_collectives(const std::vector<CollectiveJob>& jobs, bool progress) {
  std::vector<std::vector<CollectiveJob>> sets;
  for (const CollectiveJob& job : jobs) sets.push_back({job});
  std::vector<CollectiveRow> rows;
  for (std::vector<CollectiveRow>& set : run_at_once(sets, progress))
    rows.push_back(std::move(set.front()));
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
