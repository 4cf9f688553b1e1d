// What a message costs trnsim, beside a bare loop on SimGrid that sends the same messages.

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bare_loop.h"
#include "cases.h"
#include "cpu_time.h"
#include "engine/executor.h"
#include "engine/simgrid_medium.h"
#include "result/metrics.h"
#include "result/table.h"
#include "result/worker.h"

namespace trnsim::bench {
namespace {

using nlohmann::json;

Graph graph_of(const Case& of, const Subject& subject) {
  return make_graph(
      subject.plan, subject.network,
      of.fold ? refine(subject.plan, subject.network) : identity(subject.plan, subject.network));
}

class Messages final : public Sink {
 public:
  void begun(const Span&) override {}
  void ended(const Span&) override {}
  void delivered(uint32_t, Bytes, uint64_t) override { ++count; }

  uint64_t count = 0;
};

// All that `trnsim run` does but reading and writing files.
std::string play_trnsim(const Case& of) {
  const auto start = std::chrono::steady_clock::now();
  const Subject subject = of.make();
  const Graph graph = graph_of(of, subject);
  const auto medium = make_simgrid_medium(graph);
  Metrics metrics(graph, {Bytes{0}});
  Messages messages;
  const double loop_start = cpu_seconds();
  const Seconds step = execute(graph, *medium, Fidelity::message, {}, {&metrics, &messages});
  const double loop = cpu_seconds() - loop_start;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return json{{"loop_cpu_s", loop},          {"wall_s", wall.count()},
              {"cpu_s", cpu_seconds()},      {"peak_rss_bytes", usage.ru_maxrss * 1024},
              {"ranks", subject.plan.ranks}, {"classes", graph.ranks.size()},
              {"messages", messages.count},  {"simulated_s", step}}
      .dump();
}

std::string play_bare(const Case& of) {
  Traffic traffic;
  {
    const Subject subject = of.make();
    traffic = traffic_of(graph_of(of, subject));
  }
  const BareRun run = run_bare(traffic);
  return json{{"loop_cpu_s", run.cpu_s}, {"messages", run.messages}, {"simulated_s", run.simulated}}
      .dump();
}

json in_a_process(const Case& of, std::string (*play)(const Case&)) {
  return json::parse(run_in_workers({[&] { return play(of); }}).front());
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Both in turns, so that what else the machine does meets both.
json measure(const Case& of, int runs) {
  std::vector<json> ours;
  std::vector<json> bare;
  for (int run = 0; run < runs; ++run) {
    ours.push_back(in_a_process(of, play_trnsim));
    bare.push_back(in_a_process(of, play_bare));
  }
  const json& first = ours.front();
  if (first["messages"] != bare.front()["messages"])
    throw std::logic_error("the bare loop sent other messages than trnsim");
  const auto middle = [](const std::vector<json>& of_runs, const char* key) {
    std::vector<double> values;
    for (const json& run : of_runs) values.push_back(run[key]);
    return median(values);
  };
  std::vector<double> ratios;
  for (size_t run = 0; run < ours.size(); ++run)
    ratios.push_back(ours[run]["loop_cpu_s"].get<double>() / bare[run]["loop_cpu_s"].get<double>());
  const double messages = first["messages"];
  json result{{"case", of.name},
              {"folded", of.fold},
              {"ranks", first["ranks"]},
              {"classes", first["classes"]},
              {"messages", first["messages"]},
              {"us_per_message", middle(ours, "loop_cpu_s") / messages * 1e6},
              {"bare_us_per_message", middle(bare, "loop_cpu_s") / messages * 1e6},
              {"ratio", median(ratios)},
              {"ratio_least", *std::min_element(ratios.begin(), ratios.end())},
              {"ratio_most", *std::max_element(ratios.begin(), ratios.end())},
              {"wall_s", middle(ours, "wall_s")},
              {"cpu_s", middle(ours, "cpu_s")},
              {"peak_rss_bytes", middle(ours, "peak_rss_bytes")},
              {"simulated_s", first["simulated_s"]},
              {"bare_simulated_s", bare.front()["simulated_s"]},
              {"peers", json::array()}};
  for (const Peer& peer : of.peers)
    result["peers"].push_back({{"name", peer.name}, {"measured", peer.figures}});
  return result;
}

std::string fixed(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::vector<std::string> row(const json& of) {
  std::string peers;
  for (const json& peer : of["peers"])
    peers += peer["name"].get<std::string>() + ": " + peer["measured"].get<std::string>();
  const double wall = of["wall_s"];
  return {of["case"].get<std::string>() + (of["folded"] ? ", folded" : ", unfolded"),
          std::to_string(of["classes"].get<uint64_t>()) + " of " +
              std::to_string(of["ranks"].get<uint64_t>()),
          std::to_string(of["messages"].get<uint64_t>()),
          fixed(of["us_per_message"], 2),
          fixed(of["bare_us_per_message"], 2),
          fixed(of["ratio"], 2),
          fixed(of["ratio_least"], 2) + "-" + fixed(of["ratio_most"], 2),
          fixed(wall, wall < 1 ? 3 : 1) + " s",
          fixed(of["peak_rss_bytes"].get<double>() / (1024 * 1024), 0) + " MiB",
          peers};
}

int run(int argc, char** argv) {
  CLI::App app{"Prints what a message costs trnsim, beside a bare loop on SimGrid"};
  bool long_too = false;
  bool as_json = false;
  int runs = 5;
  std::string only;
  app.add_flag("--long", long_too, "also the cases that take minutes");
  app.add_flag("--json", as_json, "print one JSON object");
  app.add_option("--runs", runs, "how often each case is run; the medians are printed")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--only", only, "only the cases whose name contains this");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  json measured = json::array();
  std::vector<std::vector<std::string>> table{{"", "ranks", "messages", "us/message", "bare",
                                               "ratio", "spread", "wall", "peak RSS",
                                               "measured for a peer"}};
  for (const Case& of : cases()) {
    if (of.is_long && !long_too) continue;
    if (of.name.find(only) == std::string::npos) continue;
    std::cerr << of.name << (of.fold ? ", folded" : ", unfolded") << " ...\n";
    measured.push_back(measure(of, runs));
    table.push_back(row(measured.back()));
  }
  if (as_json)
    std::cout << json{{"simgrid", simgrid_version()}, {"runs", runs}, {"cases", measured}}.dump(2)
              << '\n';
  else
    std::cout << aligned(table);
  return 0;
}

}  // namespace
}  // namespace trnsim::bench

int main(int argc, char** argv) {
  try {
    return trnsim::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}
