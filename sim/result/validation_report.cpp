// A validation as text and as JSON.

#include <algorithm>
#include <cmath>
#include <map>

#include "base/units.h"
#include "result/table.h"
#include "result/validation.h"

namespace trnsim {
std::string error_percent(double part) {
  const double tenths = std::round(part * 1000) / 10;
  std::string text = format_number(std::abs(tenths) < 0.05 ? 0 : tenths, 6);
  if (text.find('.') == std::string::npos) text += ".0";
  return text + " %";
}

std::vector<std::string> error_cells(const std::string& name, const ErrorSummary& errors) {
  return {name,
          std::to_string(errors.runs),
          error_percent(errors.mean_absolute),
          error_percent(errors.median_absolute),
          error_percent(errors.ninetieth_absolute),
          error_percent(errors.bias)};
}

std::vector<std::string> error_heads() { return {"", "runs", "mean", "median", "90 %", "bias"}; }

std::string list_of_skipped(const std::vector<SkippedRun>& skipped) {
  std::map<std::string, std::vector<std::string>> reasons;
  for (const SkippedRun& run : skipped) {
    // Readers name the run that they read; here it is said beside the reason.
    const std::string named = run.id + ": ";
    reasons[run.why.starts_with(named) ? run.why.substr(named.size()) : run.why].push_back(run.id);
  }
  std::string text;
  for (const auto& [why, ids] : reasons) {
    text += "skipped, " + std::to_string(ids.size()) + ": " + why + "\n ";
    for (const std::string& id : ids) text += ' ' + id;
    text += '\n';
  }
  return text;
}

nlohmann::json to_json(const ErrorSummary& errors) {
  return {{"n", errors.runs},
          {"mape", errors.mean_absolute},
          {"median_ape", errors.median_absolute},
          {"p90_ape", errors.ninetieth_absolute},
          {"bias", errors.bias}};
}

namespace {

using Group = std::pair<std::string, std::vector<ValidatedRun>>;

// Runs by what `key` says of them, in the order of its words.
template <typename Key>
std::vector<Group> grouped(const std::vector<ValidatedRun>& runs, Key key) {
  std::map<std::string, std::vector<ValidatedRun>> groups;
  for (const ValidatedRun& run : runs) groups[key(run)].push_back(run);
  return {groups.begin(), groups.end()};
}

std::vector<Group> by_source(const std::vector<ValidatedRun>& runs) {
  return grouped(runs, [](const ValidatedRun& run) { return run.run.source; });
}

std::vector<Group> by_chip(const std::vector<ValidatedRun>& runs) {
  return grouped(runs, [](const ValidatedRun& run) { return run.run.accelerator; });
}

std::string table_of_errors(const Validation& validation) {
  std::vector<std::vector<std::string>> rows{error_heads()};
  for (const auto& groups : {by_source(validation.runs), by_chip(validation.runs)})
    for (const auto& [name, runs] : groups) rows.push_back(error_cells(name, summary(runs)));
  rows.push_back(error_cells("all", summary(validation.runs)));
  return aligned(rows);
}

std::string table_of_the_worst(const Validation& validation) {
  constexpr size_t shown = 10;
  std::vector<ValidatedRun> worst = validation.runs;
  std::stable_sort(worst.begin(), worst.end(), [](const auto& a, const auto& b) {
    return std::abs(a.error()) > std::abs(b.error());
  });
  worst.resize(std::min(worst.size(), shown));
  std::vector<std::vector<std::string>> rows{
      {"worst", "model", "chips", "measured", "predicted", "error"}};
  for (const ValidatedRun& run : worst)
    rows.push_back({run.run.id, run.run.configuration.value("model", ""),
                    std::to_string(run.run.accelerators) + ' ' + run.run.accelerator,
                    format_quantity(run.measured, Unit::seconds),
                    format_quantity(run.predicted, Unit::seconds), error_percent(run.error())});
  return aligned(rows);
}

std::string table_of_scaling(const std::vector<WeakScaling>& pairs) {
  std::vector<std::vector<std::string>> rows{
      {"weak scaling", "chips", "measured", "predicted", "difference"}};
  for (const WeakScaling& pair : pairs)
    rows.push_back({pair.smaller + " to " + pair.larger,
                    std::to_string(pair.smaller_chips) + " to " + std::to_string(pair.larger_chips),
                    error_percent(pair.measured), error_percent(pair.predicted),
                    error_percent(pair.predicted - pair.measured)});
  return aligned(rows);
}

nlohmann::json groups_json(const std::vector<Group>& groups) {
  nlohmann::json made = nlohmann::json::object();
  for (const auto& [name, runs] : groups) made[name] = to_json(summary(runs));
  return made;
}

}  // namespace

nlohmann::json to_json(const Validation& validation) {
  nlohmann::json made = {{"rows", nlohmann::json::array()},
                         {"summary", to_json(summary(validation.runs))},
                         {"by_source", groups_json(by_source(validation.runs))},
                         {"by_chip", groups_json(by_chip(validation.runs))},
                         {"weak_scaling", nlohmann::json::array()},
                         {"skipped", nlohmann::json::array()}};
  for (const ValidatedRun& run : validation.runs)
    made["rows"].push_back({{"id", run.run.id},
                            {"measured", run.measured},
                            {"predicted", run.predicted},
                            {"error", run.error()},
                            {"assumed", run.assumed}});
  for (const WeakScaling& pair : weak_scaling(validation.runs))
    made["weak_scaling"].push_back({{"ids", {pair.smaller, pair.larger}},
                                    {"chips", {pair.smaller_chips, pair.larger_chips}},
                                    {"measured", pair.measured},
                                    {"predicted", pair.predicted}});
  for (const SkippedRun& run : validation.skipped)
    made["skipped"].push_back({{"id", run.id}, {"why", run.why}});
  return made;
}

std::string text_report(const Validation& validation) {
  std::string text = std::to_string(validation.runs.size()) + " runs, errors of the step time\n\n";
  if (!validation.runs.empty())
    text += table_of_errors(validation) + '\n' + table_of_the_worst(validation);
  const std::vector<WeakScaling> pairs = weak_scaling(validation.runs);
  if (!pairs.empty()) text += '\n' + table_of_scaling(pairs);
  const auto open = static_cast<size_t>(
      std::count_if(validation.runs.begin(), validation.runs.end(),
                    [](const ValidatedRun& run) { return !run.assumed.empty(); }));
  if (open > 0)
    text += '\n' + std::to_string(open) +
            " runs leave their micro batch or recomputation open; --json says what was taken\n";
  if (!validation.skipped.empty()) text += '\n' + list_of_skipped(validation.skipped);
  return text;
}

}  // namespace trnsim
