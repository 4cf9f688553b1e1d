#include "plan/rule.h"

#include <algorithm>

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

bool Rule::applies_to(const json& stated) const {
  return std::all_of(when.items().begin(), when.items().end(), [&](const auto& condition) {
    const auto found = stated.find(condition.key());
    return holds(condition.value(), found == stated.end() ? json() : *found);
  });
}

std::vector<Rule> read_rules(const Document& document, const char* list, const char* then) {
  std::vector<Rule> made;
  for (JsonReader& rule : JsonReader(document).at(list).items()) {
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
  return made;
}

}  // namespace trnsim
