#include <array>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/collective_flags.h"
#include "cli/verbs.h"
#include "plan/library_group.h"
#include "result/table.h"

namespace trnsim {
namespace {

std::string fixed(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

void print_table(const CollectiveJob& job, const std::vector<CollectiveRow>& rows, bool explain) {
  std::cout << name_of(job) << " over " << job.group.count << " of " << job.system.chips()
            << " chips of " << job.system.name << ", " << to_string(job.engine.fidelity)
            << " fidelity\n\n";
  std::vector<std::vector<std::string>> table{
      {"size (B)", "time (us)", "algbw (GB/s)", "busbw (GB/s)"}};
  if (explain)
    table.front().insert(table.front().end(),
                         {"bound (us)", "busiest link", "use", "classes", "messages"});
  size_t widest = 0;  // the last column is text: to the left
  for (const CollectiveRow& row : rows) widest = std::max(widest, row.algorithm.size());
  const auto to_the_left = [&](const std::string& text) {
    return "  " + text + std::string(widest - std::min(widest, text.size()), ' ');
  };
  table.front().push_back(to_the_left("algorithm"));
  for (const CollectiveRow& row : rows) {
    std::vector<std::string> cells{std::to_string(row.bytes), fixed(row.time * 1e6, 2),
                                   fixed(row.algorithm_bandwidth / 1e9, 2),
                                   fixed(row.bus_bandwidth / 1e9, 2)};
    if (explain)
      cells.insert(cells.end(), {fixed(row.bound * 1e6, 2), row.busiest.level,
                                 fixed(row.busiest.utilisation * 100, 0) + " %",
                                 std::to_string(row.classes), std::to_string(row.messages)});
    cells.push_back(to_the_left(row.algorithm));
    table.push_back(std::move(cells));
  }
  std::cout << aligned(table);
}

void print_candidates(Bytes bytes, const std::vector<Candidate>& tried) {
  std::cout << "\nchosen for " << bytes
            << " B by analytic fidelity, one dimension after another:\n";
  std::vector<std::vector<std::string>> table{{"dimension", "algorithm", "time (us)"}};
  std::string before;
  for (const Candidate& candidate : tried) {
    table.push_back({candidate.axis == before ? "" : candidate.axis, to_string(candidate.algorithm),
                     fixed(candidate.time * 1e6, 2)});
    before = candidate.axis;
  }
  std::cout << aligned(table);
}

void print_json(const CollectiveJob& job, const std::vector<CollectiveRow>& rows) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const CollectiveRow& row : rows)
    all.push_back({{"size_bytes", row.bytes},
                   {"time_us", row.time * 1e6},
                   {"algbw_gbs", row.algorithm_bandwidth / 1e9},
                   {"busbw_gbs", row.bus_bandwidth / 1e9},
                   {"algorithm", row.algorithm},
                   {"bound_us", row.bound * 1e6},
                   {"busiest_link", row.busiest.level},
                   {"busiest_link_use", row.busiest.utilisation},
                   {"classes", row.classes},
                   {"messages", row.messages}});
  const nlohmann::ordered_json whole{{"system", job.system.name},
                                     {"chips", job.system.chips()},
                                     {"op", name_of(job)},
                                     {"ranks", job.group.count},
                                     {"fidelity", to_string(job.engine.fidelity)},
                                     {"version", version()},
                                     {"rows", all}};
  std::cout << whole.dump(2) << '\n';
}

// The ways that the library had the choice of.
void print_ways(const CollectiveJob& job) {
  Plan plan;
  const Group group =
      make_library_group(plan, job.system, "ranks", group_axes(job), *job.algorithms.library, 1);
  if (!group.library || group.size() == 1 || !group.library->by_size.empty()) return;
  std::cout << "\nchosen for " << job.bytes << " B by what " << job.system.library.name
            << " expects of its algorithms and protocols:\n";
  std::vector<std::vector<std::string>> table{{"algorithm", "protocol", "latency (us)", "in all"}};
  for (const Streaming& way : streamings_of(*group.library, job.op, job.bytes))
    table.push_back({name_of(way.way->kind), way.way->protocol, fixed(way.latency * 1e6, 2),
                     fixed(way.estimate * 1e6, 2)});
  std::cout << aligned(table);
}

std::string group_text(const GroupShape& group) {
  std::string text = std::to_string(group.count);
  if (group.stride > 1) text += " x " + std::to_string(group.stride);
  return group.everywhere
             ? text + ", everywhere"
             : text + (group.offset > 0 ? " from " + std::to_string(group.offset) : "");
}

// Collectives that begin at once: each alone, and what the others cost it.
int together(const CollectiveFlags& flags, const std::vector<std::vector<CollectiveJob>>& sets) {
  std::vector<CollectiveJob> one_by_one;
  for (const auto& set : sets) one_by_one.insert(one_by_one.end(), set.begin(), set.end());
  const std::vector<CollectiveRow> alone = run_collectives(one_by_one, !flags.quiet);
  const std::vector<std::vector<CollectiveRow>> rows = run_at_once(sets, !flags.quiet);
  std::vector<std::vector<std::string>> table{{"collective", "group", "size (B)", "alone (us)",
                                               "together (us)", "slower", "busbw (GB/s)",
                                               "  algorithm"}};
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (size_t row = 0; row < sets.size(); ++row) {
    nlohmann::ordered_json set = nlohmann::ordered_json::array();
    for (size_t i = 0; i < sets[row].size(); ++i) {
      const CollectiveJob& job = sets[row][i];
      const CollectiveRow& one = rows[row][i];
      const Seconds before = alone[row * sets[row].size() + i].time;
      table.push_back({name_of(job), group_text(job.group), std::to_string(one.bytes),
                       fixed(before * 1e6, 2), fixed(one.time * 1e6, 2),
                       before > 0 ? fixed(one.time / before, 2) + " x" : "",
                       fixed(one.bus_bandwidth / 1e9, 2), "  " + one.algorithm});
      set.push_back({{"op", name_of(job)},
                     {"ranks", job.group.count},
                     {"stride", job.group.stride},
                     {"offset", job.group.offset},
                     {"everywhere", job.group.everywhere},
                     {"size_bytes", one.bytes},
                     {"alone_us", before * 1e6},
                     {"time_us", one.time * 1e6},
                     {"algbw_gbs", one.algorithm_bandwidth / 1e9},
                     {"busbw_gbs", one.bus_bandwidth / 1e9},
                     {"algorithm", one.algorithm},
                     {"bound_us", one.bound * 1e6}});
    }
    all.push_back(std::move(set));
  }
  const System& system = sets.front().front().system;
  if (flags.json) {
    std::cout << nlohmann::ordered_json{{"system", system.name},
                                        {"chips", system.chips()},
                                        {"fidelity", flags.fidelity},
                                        {"version", version()},
                                        {"together", all}}
                     .dump(2)
              << '\n';
    return 0;
  }
  std::cout << sets.front().size() << " collectives at once on " << system.chips() << " chips of "
            << system.name << ", " << flags.fidelity << " fidelity\n\n"
            << aligned(table);
  return 0;
}

int collective(const CollectiveFlags& flags) {
  const std::vector<AskedCollective> asked = read_collectives(flags);
  const CollectiveJob& job = asked.front().job;
  const std::vector<Bytes> sizes = sizes_of(flags);
  std::vector<Candidate> tried;
  std::vector<std::vector<CollectiveJob>> sets;
  for (const Bytes bytes : sizes) {
    std::vector<CollectiveJob> set;
    for (const AskedCollective& one : asked) {
      tried.clear();
      set.push_back(one.of_size(bytes, &tried));
    }
    sets.push_back(std::move(set));
  }
  if (asked.size() > 1) return together(flags, sets);
  std::vector<CollectiveJob> jobs;
  for (const auto& set : sets) jobs.push_back(set.front());
  const std::vector<CollectiveRow> rows = run_collectives(jobs, !flags.quiet);
  if (flags.json) {
    print_json(job, rows);
    return 0;
  }
  print_table(job, rows, flags.explain);
  if (flags.explain && !tried.empty()) print_candidates(jobs.back().bytes, tried);
  if (flags.explain && jobs.back().algorithms.library && is_chosen(job.op)) print_ways(jobs.back());
  return 0;
}

}  // namespace

void add_collective(CLI::App& app, Work& work) {
  auto flags = std::make_shared<CollectiveFlags>();
  CLI::App* verb =
      app.add_subcommand("collective", "Time one collective over sizes, as nccl-tests does");
  verb->add_option("--system", flags->system, "A system file")->required();
  verb->add_option("--units", flags->units, "How many units of it")
      ->check(CLI::Range(1, 20'000'000));
  verb->add_option("--op", flags->op,
                   "all_reduce, all_gather, reduce_scatter, all_to_all, all_to_all_v, broadcast, "
                   "reduce, gather, scatter, send_recv or barrier")
      ->capture_default_str();
  verb->add_option("--algorithm", flags->algorithms,
                   "library, library=NAME or library=NAME/PROTOCOL: as the system's collective "
                   "library has it; best; one for all dimensions; or DIMENSION=NAME, several times "
                   "(library, where it is described)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_option("-b,--min", flags->min, "Least size, in bytes")->capture_default_str();
  verb->add_option("-e,--max", flags->max, "Largest size; 64K, 128M, 16G are powers of 1024")
      ->capture_default_str();
  verb->add_option("-f,--factor", flags->factor, "From one size to the next")
      ->capture_default_str();
  verb->add_option("--count", flags->count, "Ranks of the group (all chips)")
      ->check(CLI::Range(1, 20'000'000));
  verb->add_option("--stride", flags->stride, "From one rank of the group to the next")
      ->check(CLI::Range(1, 20'000'000));
  verb->add_option("--offset", flags->offset, "A rank of the group");
  verb->add_flag("--every-group", flags->everywhere,
                 "All groups of that shape at once, in place of one");
  verb->add_option("--pieces", flags->pieces,
                   "In how many pieces the buffer goes, each along another dimension at a time")
      ->check(CLI::Range(1, 1024));
  verb->add_option("--fidelity", flags->fidelity, "message, phase or analytic")
      ->capture_default_str();
  verb->add_flag("--unfolded", flags->unfolded, "Simulate every rank");
  verb->add_flag("--explain", flags->explain,
                 "Bound, busiest link, and what the choice of algorithms rests on");
  verb->add_option("--set", flags->sets, "Change one value of the system: path=value")
      ->type_name("PATH=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_option("--with", flags->with,
                   "A collective that begins at the same time: op=OP,size=64M,count=8,stride=8,"
                   "offset=0,every=true,algorithm=A,pieces=1, what is not the default")
      ->type_name("KEY=VALUE,...")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_option("--sizes", flags->sizes,
                   "Of an all_to_all_v: a file of what each rank has for each other one");
  verb->add_option("--skew", flags->skew,
                   "Of an all_to_all_v: the first rank of the group gets so many times the mean");
  verb->add_option("--cfg", flags->settings,
                   "A setting of SimGrid, as its own programs take it: network/optim:Full")
      ->type_name("KEY:VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_flag("-q,--quiet", flags->quiet, "No progress on stderr");
  verb->add_flag("--json", flags->json, "Print one JSON object in place of the table");
  verb->footer(
      "Examples:\n"
      "  trnsim collective --system topologies/trn3-gen2-ultraserver.json --explain\n"
      "  trnsim collective --system topologies/p5.json --units 4 --op all_gather -b 1M -e 1G\n"
      "  trnsim collective --system topologies/dgx-h100.json --units 64 --explain\n"
      "  trnsim collective --system topologies/p5.json --algorithm library=tree/LL\n"
      "  trnsim collective --system topologies/p5.json --algorithm NVSwitch=nvls --explain\n"
      "  trnsim collective --system topologies/p5.json --units 2 --count 2 --stride 8 \\\n"
      "    --every-group --op all_to_all\n"
      "  trnsim collective --system topologies/dgx-h100.json --units 4 --op all_to_all_v --skew 2\n"
      "  trnsim collective --system topologies/dgx-h100.json --units 8 --count 8 --every-group \\\n"
      "    --with op=all_gather,count=8,stride=8,every=true,size=256M\n"
      "Exit code: 0 done, 1 a fault of trnsim, 2 the input is wrong, 3 it would take hours");
  verb->callback([flags, &work] { work = [flags] { return collective(*flags); }; });
}

}  // namespace trnsim
