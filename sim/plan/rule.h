#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "base/json_reader.h"

namespace trnsim {

/// What is to be done with published measurements of which a condition holds.
struct Rule {
  nlohmann::json when;  // by key: a value, a list of values (null: not stated), or from and to
  nlohmann::json then;  // a part of a scenario; of a system its file; else why nothing is run

  /// Whether all conditions hold of what a measurement states of itself.
  bool applies_to(const nlohmann::json& stated) const;
};

/// The rules of a list of the document, each with `when`, `then` (an object if that is "set", else
/// text) and the source of both. Throws InputError.
std::vector<Rule> read_rules(const Document& document, const char* list, const char* then);

}  // namespace trnsim
