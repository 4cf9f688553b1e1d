#include "result/report.h"

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "result/table.h"

namespace trnsim {
namespace {

using Row = std::vector<std::string>;

std::string percent(double part) { return format_number(std::round(part * 100), 6) + " %"; }

std::string decimals(double value, int places) {
  const double scale = std::pow(10.0, places);
  std::string text = format_number(std::round(value * scale) / scale, 12);
  if (places == 0) return text;
  const size_t dot = text.find('.');
  if (dot == std::string::npos) text += '.';
  while (text.size() - text.find('.') - 1 < static_cast<size_t>(places)) text += '0';
  return text;
}

std::string seconds(double value) {
  return value < 0.1 ? format_quantity(value, Unit::seconds, 4) : decimals(value, 3) + " s";
}

std::string gigabytes(Bytes bytes) { return format_number(static_cast<double>(bytes) / 1e9, 3); }

std::string share(Seconds part, const RunResult& run) {
  return seconds(part) + "  " + std::string(part / run.step_time < 0.095 ? " " : "") +
         percent(part / run.step_time);
}

std::string price_per_million(const RunResult& run) {
  const PriceResult& price = run.price;
  std::string text = decimals(run.usd_per_million_tokens(price.usd_per_hour), 2);
  if (price.low < price.high)
    text += " (" + decimals(run.usd_per_million_tokens(price.low), 2) + " to " +
            decimals(run.usd_per_million_tokens(price.high), 2) + ')';
  return text;
}

// One row: a name and a cell for each run, "-" for one that did not fit.
template <typename Cell>
Row row(const std::string& name, const std::vector<RunResult>& runs, Cell cell) {
  Row made{name};
  for (const RunResult& run : runs) made.push_back(run.fits ? cell(run) : "-");
  return made;
}

std::vector<Row> comparison_rows(const std::vector<RunResult>& runs) {
  Row heads{""};
  Row chips{"chips"};
  Row memory{"memory a chip"};
  for (const RunResult& run : runs) {
    heads.push_back(run.system);
    chips.push_back(grouped(run.chips));
    memory.push_back(gigabytes(total(run.memory_parts)) + " / " + gigabytes(run.memory_capacity) +
                     " GB" +
                     (run.stages > 1 ? ", stage " + std::to_string(run.fullest_stage) : "") +
                     (run.fits ? "" : " !"));
  }
  const bool staged =
      std::any_of(runs.begin(), runs.end(), [](const RunResult& run) { return run.stages > 1; });
  std::vector<Row> rows = {
      heads,
      chips,
      row("step time", runs, [](const RunResult& run) { return seconds(run.step_time); }),
      row("  compute", runs,
          [](const RunResult& run) { return share(run.breakdown.compute, run); }),
      row("  exposed communication", runs,
          [](const RunResult& run) { return share(run.breakdown.exposed_communication, run); }),
      row(staged ? "  optimizer, other" : "  bubble, optimizer, other", runs,
          [](const RunResult& run) {
            return share(run.breakdown.optimizer + run.breakdown.other +
                             (run.stages > 1 ? 0 : run.breakdown.bubble),
                         run);
          }),
      row("with free communication", runs,
          [](const RunResult& run) { return seconds(run.free_communication); }),
      row("communication, hidden", runs,
          [](const RunResult& run) {
            return run.communication > 0 ? percent(run.overlapped / run.communication) : "none";
          }),
      row("tokens/s a chip", runs,
          [](const RunResult& run) { return grouped(run.tokens_per_s() / run.chips); }),
      row("MFU", runs, [](const RunResult& run) { return decimals(run.mfu() * 100, 1) + " %"; }),
      memory,
      row("$/Mtoken", runs, price_per_million),
      row("kWh/Mtoken", runs,
          [](const RunResult& run) { return decimals(run.kwh_per_million_tokens(), 2); }),
  };
  if (staged) {
    constexpr std::ptrdiff_t after_exposed = 5;
    rows.insert(rows.begin() + after_exposed, row("  bubble", runs, [](const RunResult& run) {
                  return share(run.breakdown.bubble, run);
                }));
  }
  return rows;
}

// "sled switch 61 % · plane 48 %": each kind of link once, its busier direction.
std::string busiest_links(const RunResult& run) {
  std::vector<std::pair<std::string, double>> kinds;
  for (const LinkResult& link : run.links) {
    const std::string name = link.level.substr(0, link.level.find(','));
    const auto known = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const auto& kind) { return kind.first == name; });
    if (known == kinds.end())
      kinds.emplace_back(name, link.utilisation);
    else
      known->second = std::max(known->second, link.utilisation);
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [name, utilisation] : kinds) {
    if (!text.empty()) text += " · ";
    text += name + ' ' + percent(utilisation);
  }
  return text.empty() ? "none" : text;
}

std::string fidelity_line(const RunResult& run) {
  const EngineResult& engine = run.engine;
  std::string text = engine.fidelity + " fidelity";
  if (engine.fidelity != "message") text += " (approximate)";
  text += ", " + grouped(engine.ranks) + " ranks";
  if (engine.folded) text += " folded into " + grouped(engine.classes);
  return text;
}

// "ZeRO-3 over 144 x 4": sharded over 144, replicated 4 times.
std::string kind_of(const Layout& layout) {
  std::string text;
  for (const auto& [name, degree] : {std::pair{"tensor", layout.tensor},
                                     {"pipeline", layout.pipeline},
                                     {"context", layout.context}})
    if (degree > 1) text += std::string(name) + ' ' + std::to_string(degree) + " x ";
  const uint64_t all = layout.replicas();
  if (layout.zero_stage == 0) return text + "DDP over " + std::to_string(all);
  text += "ZeRO-" + std::to_string(layout.zero_stage) + " over " + std::to_string(layout.shard);
  if (layout.shard != all) text += " x " + std::to_string(all / layout.shard);
  return text;
}

// "1F1B, interleaved in 4 chunks, sequence parallel": how model parallelism runs.
std::string ways_of(const Layout& layout) {
  std::string text;
  const auto add = [&](const std::string& way) { text += ", " + way; };
  if (layout.tensor > 1 && layout.sequence_parallel) add("sequence parallel");
  if (layout.context > 1)
    add(layout.context_method == ContextMethod::ring         ? "ring attention"
        : layout.context_method == ContextMethod::all_gather ? "gathered keys and values"
                                                             : "Ulysses");
  if (layout.pipeline > 1)
    add(layout.schedule == Schedule::gpipe ? "GPipe"
        : layout.schedule == Schedule::one_f_one_b
            ? "1F1B"
            : "interleaved 1F1B in " + std::to_string(layout.virtual_stages) + " chunks");
  return text;
}

// What each property of a compared system would change in the own system's step.
std::string reasons_table(const RunResult& own, const Comparison& comparison) {
  std::vector<Row> rows{{"with this of " + comparison.system + ", " + own.system + " would take",
                         "step time", "change"}};
  for (const Reason& reason : comparison.reasons)
    rows.push_back({"  " + reason.property, seconds(reason.step_time),
                    (reason.change > 0 ? "+" : "") + seconds(reason.change)});
  return aligned(rows);
}

std::string collectives_table(const RunResult& run) {
  std::vector<Row> rows{{"collectives of " + run.system, "size", "count", "time", "bound", "busbw",
                         "exposed", "hidden"}};
  for (const CollectiveResult& of : run.collectives)
    rows.push_back({"  " + of.op + ", " + of.what,
                    format_quantity(static_cast<double>(of.bytes), Unit::bytes, 4),
                    grouped(static_cast<double>(of.count)),
                    format_quantity(of.time, Unit::seconds, 4),
                    format_quantity(of.bound, Unit::seconds, 4),
                    format_quantity(of.bus_bandwidth, Unit::bytes_per_second, 4),
                    format_quantity(of.exposed, Unit::seconds, 3),
                    format_quantity(of.hidden, Unit::seconds, 3)});
  for (const LevelResult& level : run.levels)
    rows.push_back({"  along " + level.name, "", "", "", "", "",
                    format_quantity(level.exposed, Unit::seconds, 3),
                    format_quantity(level.hidden, Unit::seconds, 3)});
  return aligned(rows);
}

}  // namespace

std::string title_of(const Job& job) {
  return job.model.name + " · sequence " + std::to_string(job.training.sequence_length) +
         " · batch " + std::to_string(job.training.global_batch) + " · " + kind_of(job.layout) +
         " · " + job.training.precision;
}

std::string layout_text(const Job& job) {
  const Recompute recompute = job.training.recompute;
  return kind_of(job.layout) + ways_of(job.layout) + ", " + to_string(job.layout.algorithms) +
         ", micro batch " + std::to_string(job.training.micro_batch) + ", " +
         (recompute == Recompute::none   ? "no"
          : recompute == Recompute::full ? "full"
                                         : "selective") +
         " recompute";
}

namespace {

std::string uncertainty_table(const RunResult& run) {
  const Uncertainty& of = *run.uncertainty;
  const auto dollars = [](double value) { return decimals(value, 2); };
  const auto row = [](const char* what, const Quantiles& values, const auto& text) {
    return Row{std::string("  ") + what, text(values.p10), text(values.p50), text(values.p90)};
  };
  std::string table = aligned({{"uncertainty of " + run.system, "P10", "P50", "P90"},
                               row("step time", of.step_time, seconds),
                               row("exposed communication", of.exposed_communication, seconds),
                               row("$/Mtoken", of.usd_per_million_tokens, dollars)});
  table += "  of " + std::to_string(of.samples) + " draws of all numbers with a range, seed " +
           std::to_string(of.seed) +
           (of.model_error > 0 ? ", and of an error of the model of " +
                                     decimals(100 * of.model_error, 0) + " %\n\n"
                               : "; no error of the model is stated for its chip\n\n");
  std::vector<Row> rows{
      {"what moves its step most", "stated", "range", "step at low end", "step at high end"}};
  constexpr size_t most = 8;
  for (size_t i = 0; i < std::min(most, of.influences.size()); ++i) {
    const Influence& one = of.influences[i];
    rows.push_back({"  " + one.what, one.value, one.low + " to " + one.high,
                    seconds(one.step_at_low), seconds(one.step_at_high)});
  }
  return table + aligned(rows);
}

}  // namespace

std::string text_report(const ScenarioResult& result) {
  const RunResult& own = result.runs.front();
  std::string text = result.name + '\n' + result.title + "\n" + fidelity_line(own) + "\n\n";
  text += aligned(comparison_rows(result.runs)) + '\n';
  for (const RunResult& run : result.runs)
    if (!run.fits) text += run.system + " does not fit in memory:\n" + memory_table(run) + '\n';
  if (own.fits && !own.collectives.empty()) text += collectives_table(own) + '\n';
  for (const Comparison& comparison : result.comparisons)
    if (!comparison.reasons.empty()) text += reasons_table(own, comparison) + '\n';
  for (const RunResult& run : result.runs)
    if (run.uncertainty) text += uncertainty_table(run) + '\n';
  std::vector<Row> rows;
  for (const RunResult& run : result.runs)
    rows.push_back({"layout, " + run.system + ": " + run.layout});
  for (const RunResult& run : result.runs)
    if (run.engine.step_at_least < run.step_time * (1 - 1e-9))
      rows.push_back({"bounds, " + run.system + ": " + run.engine.method});
  if (!own.engine.simgrid.empty()) {
    std::string line = "settings of SimGrid:";
    for (const auto& [key, value] : own.engine.simgrid) line += ' ' + key + ':' + value;
    rows.push_back({line});
  }
  if (result.compare_at != "chips")
    for (const Comparison& comparison : result.comparisons)
      if (comparison.ratio_reached > 0)
        rows.push_back({"at equal " + result.compare_at + ", " + comparison.system + ": " +
                        format_number(comparison.ratio_reached, 3) + " of " + own.system});
  for (const RunResult& run : result.runs)
    if (run.fits) rows.push_back({"busiest links, " + run.system + ": " + busiest_links(run)});
  for (const RunResult& run : result.runs)
    rows.push_back({"rests on, " + run.system + ": " + std::to_string(run.assumptions.size()) +
                    " assumed numbers"});
  text += aligned(rows);
  text += "--assumptions lists the assumed numbers with their ranges and reasons\n";
  return text;
}

std::string assumptions_report(const ScenarioResult& result) {
  std::string text;
  for (const RunResult& run : result.runs) {
    text += "\nassumed numbers of " + run.system + '\n';
    for (const Assumption& of : run.assumptions)
      text += "  " + of.what + " = " + of.value + "\n      " + of.source + '\n';
  }
  return text;
}

std::string memory_table(const RunResult& run) {
  std::vector<Row> rows;
  for (const MemoryPart& part : run.memory_parts)
    rows.push_back({"  " + part.name, decimals(static_cast<double>(part.bytes) / 1e9, 2) + " GB"});
  rows.push_back(
      {"  in all", decimals(static_cast<double>(total(run.memory_parts)) / 1e9, 2) + " GB"});
  rows.push_back(
      {"  a chip has", decimals(static_cast<double>(run.memory_capacity) / 1e9, 2) + " GB"});
  return aligned(rows);
}

}  // namespace trnsim
