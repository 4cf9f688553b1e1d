#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace trnsim {

/// One `--set path=value`. The path is the one that errors print ("system.units",
/// "compare_with.0.units"); the value is JSON, or else a bare string.
struct Override {
  std::string path;
  std::string value;
};

/// Splits "path=value". Throws InputError if there is no '=' or no path.
Override parse_override(std::string_view text);

/// A number with where it comes from: `{"value": "128 GB/s", "source": "...", "range": [...,
/// ...]}`.
struct Number {
  double value = 0;  // SI
  double low = 0;    // range; low = high = value where it is published
  double high = 0;
  Unit unit = Unit::ratio;
  std::string source;
  std::string place;  // "scale_up.efficiency", in the file that states it
  std::string file;   // which that is
  std::string path;   // "system.scale_up.efficiency", in the document that was read

  bool assumed() const { return source.rfind("assumed", 0) == 0; }
  operator double() const { return value; }
};

/// A JSON file with its includes resolved and its overrides applied.
///
/// An object with a key "file" stands for the object in that file (relative to the file that names
/// it; relative to the current folder if --set names it), with its other keys laid over it.
class Document {
 public:
  /// Reads `file`. Throws InputError for what cannot be read or parsed, for a key that stands twice
  /// and for an include that contains itself.
  static Document load(const std::filesystem::path& file, const std::vector<Override>& overrides);
  /// Reads a file that holds a list of objects.
  static Document load_list(const std::filesystem::path& file);
  /// The same for text in memory, named `name` in errors. Includes are relative to `folder`.
  static Document parse(std::string_view text, const std::string& name,
                        const std::filesystem::path& folder,
                        const std::vector<Override>& overrides);

  const nlohmann::json& root() const { return root_; }

  /// "file: inner.path" of a place in the resolved document: which file states it, and where.
  std::string place(const std::string& path) const;
  /// The path inside the file that states it: "scale_up.efficiency" for
  /// "system.scale_up.efficiency".
  std::string inner_path(const std::string& path) const;
  /// Whether --set states this place, or the document itself in laying it over an include.
  bool stated_by_user(const std::string& path) const;
  /// The name of the file that states this place.
  std::string file_of(const std::string& path) const;

 private:
  struct Origin {
    std::string path;   // prefix in the resolved document
    std::string file;   // who states what is below it
    std::string inner;  // the same place in that file
    bool user = false;
  };
  struct Loader;

  static Document read(std::string_view text, const std::string& name,
                       const std::filesystem::path& folder, const std::vector<Override>& overrides,
                       bool list);
  const Origin& origin_of(const std::string& path) const;

  nlohmann::json root_;
  std::vector<Origin> origins_;
};

/// A place in a document that reads strictly: every key must be asked for, every value must have
/// the type and unit asked for. All members throw InputError with file, place, value and rule.
class JsonReader {
 public:
  explicit JsonReader(const Document& document);

  /// The member `key`, which must be there.
  JsonReader at(const std::string& key);
  /// The member `key`, or nothing.
  std::optional<JsonReader> find(const std::string& key);
  /// The elements of an array.
  std::vector<JsonReader> items() const;
  /// The members of an object, each counted as asked for; in alphabetical order.
  std::vector<std::pair<std::string, JsonReader>> members();
  /// Refuses the keys of this object that nobody asked for.
  void reject_unknown_keys() const;

  std::string as_string() const;
  /// A string among `allowed`.
  std::string as_one_of(const std::vector<std::string>& allowed) const;
  bool as_bool() const;
  /// A whole number from `low` to `high`.
  int64_t as_integer(int64_t low, int64_t high) const;
  /// A quantity with its unit, from `low` to `high` (SI, inclusive).
  double as_quantity(Unit unit, double low, double high) const;
  double as_quantity(Unit unit) const;  // above 0
  /// A sourced number from `low` to `high`; a bare quantity is accepted only where the user's own
  /// file or --set lays it over a sourced one. `numbers`, if given, receives a copy.
  Number as_number(Unit unit, std::vector<Number>* numbers, double low, double high);
  Number as_number(Unit unit, std::vector<Number>* numbers);  // above 0

  bool is_object() const { return json_->is_object(); }
  bool is_string() const { return json_->is_string(); }
  bool is_array() const { return json_->is_array(); }
  const std::string& path() const { return path_; }
  /// The name of the file that states this place.
  std::string file() const { return document_->file_of(path_); }
  /// What stands here, short enough for an error message.
  std::string shown() const;
  /// Throws InputError "file: place: rule".
  [[noreturn]] void fail(const std::string& rule) const;

 private:
  JsonReader(const Document* document, const nlohmann::json* json, std::string path)
      : document_(document), json_(json), path_(std::move(path)) {}
  std::string path_of(const std::string& key) const;
  void require_object() const;

  const Document* document_;
  const nlohmann::json* json_;
  std::string path_;
  std::set<std::string> asked_;
};

}  // namespace trnsim
