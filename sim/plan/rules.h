#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace trnsim {

/// How what published measurements say of themselves is understood: which are not repeated, on
/// which system the others were made, and what their words mean.
class Rules {
 public:
  /// Reads a file of this format: lists of `refusals`, `systems` and `settings`, whose rules each
  /// have conditions, what follows, and the source of both. Throws InputError.
  static Rules load(const std::filesystem::path& file, const std::string& format);

  /// The file of the first system whose rule applies, `missing` if there is none. Throws InputError
  /// that says why if a refusal applies, or with `missing`.
  std::string system(const nlohmann::json& stated, const std::string& missing) const;
  /// What all settings that apply say, one after another.
  std::vector<nlohmann::json> settings(const nlohmann::json& stated) const;
  /// The folder that names of files are relative to.
  const std::filesystem::path& folder() const { return folder_; }

 private:
  struct Rule {
    nlohmann::json when;  // by key: a value, a list of values (null: not stated), or from and to
    nlohmann::json then;  // a part of a scenario; of a system its file; else why nothing is run
  };
  static bool applies(const Rule& rule, const nlohmann::json& stated);

  std::filesystem::path folder_;
  std::vector<Rule> refusals_;  // any that applies
  std::vector<Rule> systems_;   // the first that applies
  std::vector<Rule> settings_;  // all that apply, one laid over the other
};

}  // namespace trnsim
