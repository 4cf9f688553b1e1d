#include "result/collective_validation.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "plan/library_group.h"
#include "result/collective_run.h"
#include "result/table.h"

namespace trnsim {
namespace {

using nlohmann::json;
using Groups = std::map<std::string, std::vector<double>>;

// What the library does where it is known and can; what nothing is known of, at its fastest.
CollectiveJob settled(CollectiveJob job) {
  const bool known = job.algorithms.library && is_chosen(job.op) &&
                     !obstacle(*job.algorithms.library, job.system, group_axes(job));
  if (!job.algorithms.library || known) return job;
  job.algorithms = {};
  return with_best_algorithms(job, nullptr);
}

std::string size_class(Bytes bytes) {
  constexpr Bytes mebibyte = Bytes{1} << 20;
  return bytes < 4 * mebibyte     ? "below 4 MiB"
         : bytes < 256 * mebibyte ? "from 4 to 256 MiB"
                                  : "from 256 MiB up";
}

template <typename Key>
Groups grouped(const std::vector<ValidatedCollective>& rows, Key key) {
  Groups groups;
  for (const ValidatedCollective& row : rows) groups[key(row)].push_back(row.error());
  return groups;
}

Groups by_group(const std::vector<ValidatedCollective>& rows) {
  return grouped(rows, [](const auto& row) { return row.of.group; });
}
Groups by_size(const std::vector<ValidatedCollective>& rows) {
  return grouped(rows, [](const auto& row) { return size_class(row.of.bytes); });
}

std::vector<double> errors_of(const std::vector<ValidatedCollective>& rows) {
  std::vector<double> errors;
  for (const ValidatedCollective& row : rows) errors.push_back(row.error());
  return errors;
}

}  // namespace

CollectiveValidation validate(const std::vector<PublishedCollective>& list, const Rules& rules,
                              Fidelity fidelity) {
  CollectiveValidation made;
  std::vector<CollectiveJob> jobs;
  for (const PublishedCollective& of : list) {
    CollectiveReplay replayed = replay(of, rules, fidelity);
    if (replayed.job && !of.measured) replayed.why = "states no time";
    if (!replayed.why.empty()) {
      made.skipped.push_back({of.id, replayed.why});
      continue;
    }
    jobs.push_back(settled(*replayed.job));
    made.rows.push_back({of, 0, {}});
  }
  const std::vector<CollectiveRow> results = run_collectives(jobs);
  for (size_t i = 0; i < results.size(); ++i) {
    made.rows[i].predicted = results[i].time;
    made.rows[i].algorithm = results[i].algorithm;
  }
  return made;
}

json to_json(const CollectiveValidation& validation) {
  json rows = json::array();
  for (const ValidatedCollective& row : validation.rows)
    rows.push_back({{"id", row.of.id},
                    {"measured", *row.of.measured},
                    {"predicted", row.predicted},
                    {"error", row.error()},
                    {"algorithm", row.algorithm}});
  json skipped = json::array();
  for (const SkippedRun& of : validation.skipped)
    skipped.push_back({{"id", of.id}, {"why", of.why}});
  const auto groups = [](const Groups& of) {
    json made = json::object();
    for (const auto& [name, errors] : of) made[name] = to_json(summary_of(errors));
    return made;
  };
  return {{"rows", rows},
          {"summary", to_json(summary_of(errors_of(validation.rows)))},
          {"by_group", groups(by_group(validation.rows))},
          {"by_size", groups(by_size(validation.rows))},
          {"skipped", skipped}};
}

std::string text_report(const CollectiveValidation& validation) {
  std::vector<std::vector<std::string>> table{error_heads()};
  for (const Groups& groups : {by_group(validation.rows), by_size(validation.rows)})
    for (const auto& [name, errors] : groups)
      table.push_back(error_cells(name, summary_of(errors)));
  table.push_back(error_cells("all", summary_of(errors_of(validation.rows))));
  std::vector<ValidatedCollective> worst = validation.rows;
  std::stable_sort(worst.begin(), worst.end(), [](const auto& a, const auto& b) {
    return std::abs(a.error()) > std::abs(b.error());
  });
  worst.resize(std::min<size_t>(worst.size(), 10));
  std::vector<std::vector<std::string>> rows{
      {"worst", "system", "ranks", "size", "measured", "predicted", "error", "algorithm"}};
  for (const ValidatedCollective& row : worst)
    rows.push_back(
        {row.of.id, row.of.configuration.value("system", ""), std::to_string(row.of.ranks),
         format_quantity(static_cast<double>(row.of.bytes), Unit::bytes),
         format_quantity(*row.of.measured, Unit::seconds),
         format_quantity(row.predicted, Unit::seconds), error_percent(row.error()), row.algorithm});
  return aligned(table) + '\n' + aligned(rows) + list_of_skipped(validation.skipped);
}

}  // namespace trnsim
