#include "plan/rules.h"

#include <algorithm>

#include "base/json_reader.h"

namespace trnsim {
namespace {

using nlohmann::json;

// From and to are inclusive.
bool holds(const json& condition, const json& stated) {
  if (condition.is_array())
    return std::any_of(condition.begin(), condition.end(),
                       [&](const json& value) { return holds(value, stated); });
  if (condition.is_object())
    return stated.is_number() && stated.get<double>() >= condition.value("from", -1e300) &&
           stated.get<double>() <= condition.value("to", 1e300);
  return condition == stated;
}

void check_bounds(JsonReader bounds) {
  for (const char* key : {"from", "to"})
    if (auto bound = bounds.find(key)) bound->as_quantity(Unit::ratio, -1e300, 1e300);
  bounds.reject_unknown_keys();
}

}  // namespace

bool Rules::applies(const Rule& rule, const json& stated) {
  return std::all_of(rule.when.items().begin(), rule.when.items().end(),
                     [&](const auto& condition) {
                       const auto found = stated.find(condition.key());
                       return holds(condition.value(), found == stated.end() ? json() : *found);
                     });
}

Rules Rules::load(const std::filesystem::path& file, const std::string& format) {
  const Document document = Document::load(file, {});
  JsonReader root(document);
  root.at("format").as_one_of({format});
  Rules rules;
  rules.folder_ = file.parent_path();
  const auto read = [&](const char* list, const char* then, std::vector<Rule>& made) {
    for (JsonReader& rule : root.at(list).items()) {
      for (auto& [key, condition] : rule.at("when").members())
        if (condition.is_object()) check_bounds(condition);
      if (std::string(then) == "set")
        rule.at(then).members();
      else
        rule.at(then).as_string();
      if (rule.at("source").as_string().empty()) rule.at("source").fail("must not be empty");
      rule.reject_unknown_keys();
      const json& one = document.root()[list][made.size()];
      made.push_back({one["when"], one[then]});
    }
  };
  read("refusals", "why", rules.refusals_);
  read("systems", "system", rules.systems_);
  read("settings", "set", rules.settings_);
  root.reject_unknown_keys();
  return rules;
}

std::string Rules::system(const json& stated, const std::string& missing) const {
  for (const Rule& rule : refusals_)
    if (applies(rule, stated)) throw InputError(rule.then.get<std::string>());
  const auto found = std::find_if(systems_.begin(), systems_.end(),
                                  [&](const Rule& rule) { return applies(rule, stated); });
  if (found == systems_.end()) throw InputError(missing);
  return found->then.get<std::string>();
}

std::vector<json> Rules::settings(const json& stated) const {
  std::vector<json> made;
  for (const Rule& rule : settings_)
    if (applies(rule, stated)) made.push_back(rule.then);
  return made;
}

}  // namespace trnsim
