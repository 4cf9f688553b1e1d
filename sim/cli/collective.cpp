#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/questions.h"
#include "cli/verbs.h"
#include "plan/groups.h"
#include "plan/library_group.h"
#include "result/collective_run.h"
#include "result/table.h"

namespace trnsim {
namespace {

struct Options {
  std::string system;
  Rank units = 1;
  std::string op = "all_reduce";
  std::vector<std::string> algorithms;
  std::string min = "8";
  std::string max = "128M";
  double factor = 2;
  Rank count = 0;  // all chips
  Rank stride = 1;
  Rank offset = 0;
  bool everywhere = false;
  uint32_t pieces = 1;
  std::string fidelity = "message";
  bool unfolded = false;
  bool explain = false;
  bool json = false;
  std::vector<std::string> sets;
};

// Sizes as nccl-tests reads them: K, M, G and T are powers of 1024.
Bytes read_size(const std::string& option, const std::string& text) {
  constexpr double most = 1e15;
  size_t end = 0;
  double value = -1;
  try {
    value = std::stod(text, &end);
  } catch (const std::exception&) {
  }
  const std::string unit = text.substr(std::min(end, text.size()));
  const std::string letters = "KMGT";
  const size_t power = unit.size() == 1 ? letters.find(unit) : std::string::npos;
  if (!unit.empty() && power != std::string::npos)
    for (size_t i = 0; i <= power; ++i) value *= 1024;
  else if (!unit.empty())
    value = -1;
  if (!(value >= 1 && value <= most))
    throw InputError(option + ": \"" + text +
                     "\" is no size; write for example 8, 64K, 128M or 16G (powers of 1024)");
  return static_cast<Bytes>(value);
}

std::vector<Bytes> sizes_of(const Options& options) {
  if (options.op == "barrier") return {0};
  const Bytes least = read_size("--min", options.min);
  const Bytes most = read_size("--max", options.max);
  if (least > most)
    throw InputError("--min: " + options.min + " is more than --max (" + options.max + ")");
  if (!(options.factor > 1)) throw InputError("--factor: must be above 1, so that sizes grow");
  std::vector<Bytes> sizes;
  for (auto size = static_cast<double>(least); size <= static_cast<double>(most);
       size = std::max(size + 1, size * options.factor))
    sizes.push_back(static_cast<Bytes>(size));
  return sizes;
}

Algorithm read_algorithm(const std::string& name) {
  if (name == "best" || name == "library")
    throw InputError("--algorithm: \"" + name + "\" is for all dimensions, and stands alone");
  const std::vector<std::string> names = algorithm_names();
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw InputError("--algorithm: \"" + name + "\" must be \"library\", \"best\" or " +
                     one_of(names));
  return algorithm_of(name);
}

// "library", "library=tree" or "library=tree/LL".
std::optional<LibraryChoice> read_library_choice(const Options& options, const CollectiveJob& job) {
  const std::string& text = options.algorithms.front();
  const std::string name = text.substr(0, text.find('='));
  if (options.algorithms.size() > 1 || name != "library") return std::nullopt;
  LibraryChoice made;
  if (name != text) made.algorithm = text.substr(name.size() + 1);
  if (const size_t slash = made.algorithm.find('/'); slash != std::string::npos) {
    made.protocol = made.algorithm.substr(slash + 1);
    made.algorithm.resize(slash);
  }
  if (const auto why = obstacle(made, job.system, group_axes(job)))
    throw InputError("--algorithm: \"" + text + "\": the collective library of " + job.system.name +
                     ' ' + *why);
  return made;
}

// "ring", or "plane=direct" for one dimension; or what the library does.
Algorithms read_choice(const Options& options, const CollectiveJob& job) {
  Algorithms made;
  made.library = read_library_choice(options, job);
  if (made.library) return made;
  for (const std::string& text : options.algorithms) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
      made.everywhere = read_algorithm(text);
    else
      made.along[text.substr(0, equals)] = read_algorithm(text.substr(equals + 1));
  }
  std::vector<std::string> names;
  for (const Axis& axis : group_axes(job)) {
    names.push_back(axis.name);
    const Algorithm algorithm = made.of(axis.name);
    if (const auto why = obstacle(algorithm, axis, job.system); why && axis.size > 1)
      throw InputError("--algorithm: \"" + to_string(algorithm) + "\" along " + axis.name + " (" +
                       std::to_string(axis.size) + " ranks) " + *why);
  }
  for (const auto& [name, algorithm] : made.along)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw InputError("--algorithm: the group has no dimension \"" + name + "\"; it has " +
                       one_of(names));
  return made;
}

System load_system(const Options& options) {
  std::vector<Override> overrides = parse_overrides(options.sets);
  overrides.push_back({"units", std::to_string(options.units)});
  const Document document = Document::load(options.system, overrides);
  return read_system(JsonReader(document));
}

CollectiveOp read_op(const std::string& name) {
  std::vector<std::string> names;
  for (const CollectiveOp op : collective_ops()) {
    if (to_string(op) == name) return op;
    names.push_back(to_string(op));
  }
  throw InputError("--op: \"" + name + "\" must be " + one_of(names));
}

Fidelity read_fidelity(const std::string& name) {
  for (const Fidelity fidelity : {Fidelity::message, Fidelity::phase, Fidelity::analytic})
    if (to_string(fidelity) == name) return fidelity;
  throw InputError("--fidelity: \"" + name + "\" must be \"message\", \"phase\" or \"analytic\"");
}

CollectiveJob read_job(const Options& options) {
  CollectiveJob job;
  job.op = read_op(options.op);
  job.pieces = options.pieces;
  job.engine = {read_fidelity(options.fidelity), !options.unfolded};
  job.system = load_system(options);
  job.group = {options.count == 0 ? job.system.chips() : options.count, options.stride,
               options.offset, options.everywhere};
  if (const auto why = obstacle(job.group, job.system)) throw InputError("--count: " + *why);
  return job;
}

std::string fixed(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

void print_table(const CollectiveJob& job, const std::vector<CollectiveRow>& rows, bool explain) {
  std::cout << to_string(job.op) << " over " << job.group.count << " of " << job.system.chips()
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
                                     {"op", to_string(job.op)},
                                     {"ranks", job.group.count},
                                     {"fidelity", to_string(job.engine.fidelity)},
                                     {"version", version()},
                                     {"rows", all}};
  std::cout << whole.dump(2) << '\n';
}

// What people get who ask for nothing: what the library does, if it is known and can run the group.
std::string default_algorithm(const CollectiveJob& job) {
  return is_chosen(job.op) && !obstacle(LibraryChoice{}, job.system, group_axes(job)) ? "library"
                                                                                      : "best";
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

int collective(Options options) {
  const CollectiveJob job = read_job(options);
  const std::vector<Bytes> sizes = sizes_of(options);
  if (options.algorithms.empty()) options.algorithms = {default_algorithm(job)};
  const bool best = options.algorithms == std::vector<std::string>{"best"};
  const Algorithms chosen = best ? Algorithms{} : read_choice(options, job);
  std::vector<CollectiveJob> jobs;
  std::vector<Candidate> tried;
  for (const Bytes bytes : sizes) {
    CollectiveJob of_size = job;
    of_size.bytes = bytes;
    of_size.algorithms = chosen;
    tried.clear();
    jobs.push_back(best ? with_best_algorithms(of_size, &tried) : of_size);
  }
  const std::vector<CollectiveRow> rows = run_collectives(jobs);
  if (options.json) {
    print_json(job, rows);
    return 0;
  }
  print_table(job, rows, options.explain);
  if (options.explain && !tried.empty()) print_candidates(sizes.back(), tried);
  if (options.explain && jobs.back().algorithms.library && is_chosen(job.op))
    print_ways(jobs.back());
  return 0;
}

}  // namespace

void add_collective(CLI::App& app, Work& work) {
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("collective", "Time one collective over sizes, as nccl-tests does");
  verb->add_option("--system", options->system, "A system file")->required();
  verb->add_option("--units", options->units, "How many units of it")
      ->check(CLI::Range(1, 20'000'000));
  verb->add_option("--op", options->op,
                   "all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, gather, "
                   "scatter, send_recv or barrier")
      ->capture_default_str();
  verb->add_option("--algorithm", options->algorithms,
                   "library, library=NAME or library=NAME/PROTOCOL: as the system's collective "
                   "library has it; best; one for all dimensions; or DIMENSION=NAME, several times "
                   "(library, where it is described)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_option("-b,--min", options->min, "Least size, in bytes")->capture_default_str();
  verb->add_option("-e,--max", options->max, "Largest size; 64K, 128M, 16G are powers of 1024")
      ->capture_default_str();
  verb->add_option("-f,--factor", options->factor, "From one size to the next")
      ->capture_default_str();
  verb->add_option("--count", options->count, "Ranks of the group (all chips)")
      ->check(CLI::Range(1, 20'000'000));
  verb->add_option("--stride", options->stride, "From one rank of the group to the next")
      ->check(CLI::Range(1, 20'000'000));
  verb->add_option("--offset", options->offset, "A rank of the group");
  verb->add_flag("--every-group", options->everywhere,
                 "All groups of that shape at once, in place of one");
  verb->add_option("--pieces", options->pieces,
                   "In how many pieces the buffer goes, each along another dimension at a time")
      ->check(CLI::Range(1, 1024));
  verb->add_option("--fidelity", options->fidelity, "message, phase or analytic")
      ->capture_default_str();
  verb->add_flag("--unfolded", options->unfolded, "Simulate every rank");
  verb->add_flag("--explain", options->explain,
                 "Bound, busiest link, and what the choice of algorithms rests on");
  verb->add_option("--set", options->sets, "Change one value of the system: path=value")
      ->type_name("PATH=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_flag("--json", options->json, "Print one JSON object in place of the table");
  verb->footer(
      "Examples:\n"
      "  trnsim collective --system topologies/trn3-gen2-ultraserver.json --explain\n"
      "  trnsim collective --system topologies/p5.json --units 4 --op all_gather -b 1M -e 1G\n"
      "  trnsim collective --system topologies/dgx-h100.json --units 64 --explain\n"
      "  trnsim collective --system topologies/p5.json --algorithm library=tree/LL\n"
      "  trnsim collective --system topologies/p5.json --algorithm NVSwitch=nvls --explain\n"
      "  trnsim collective --system topologies/p5.json --units 2 --count 2 --stride 8 \\\n"
      "    --every-group --op all_to_all\n"
      "Exit code: 0 done, 1 a fault of trnsim, 2 the input is wrong, 3 it would take hours");
  verb->callback([options, &work] { work = [options] { return collective(*options); }; });
}

}  // namespace trnsim
