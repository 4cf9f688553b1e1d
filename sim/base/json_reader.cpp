#include "base/json_reader.h"

#include <cmath>
#include <limits>

namespace trnsim {

using nlohmann::json;

JsonReader::JsonReader(const Document& document)
    : JsonReader(&document, &document.root(), std::string()) {}

std::string JsonReader::path_of(const std::string& key) const {
  return path_.empty() ? key : path_ + '.' + key;
}

std::string JsonReader::shown() const {
  constexpr size_t longest = 60;
  std::string text = json_->dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

void JsonReader::fail(const std::string& rule) const {
  throw InputError(document_->place(path_) + ": " + rule);
}

void JsonReader::require_object() const {
  if (!json_->is_object()) fail(shown() + " must be an object");
}

std::optional<JsonReader> JsonReader::find(const std::string& key) {
  require_object();
  asked_.insert(key);
  const auto found = json_->find(key);
  if (found == json_->end()) return std::nullopt;
  return JsonReader(document_, &*found, path_of(key));
}

JsonReader JsonReader::at(const std::string& key) {
  auto found = find(key);
  if (!found) {
    // A misspelt key is the likeliest reason for a missing one.
    for (const auto& [present, value] : json_->items())
      if (!asked_.contains(present) && nearest(present, {key}) == key)
        throw InputError(document_->place(path_of(present)) + ": unknown key; did you mean \"" +
                         key + "\"?");
    fail("the key \"" + key + "\" is missing");
  }
  return *found;
}

std::vector<JsonReader> JsonReader::items() const {
  if (!json_->is_array()) fail(shown() + " must be an array");
  std::vector<JsonReader> readers;
  for (size_t i = 0; i < json_->size(); ++i)
    readers.push_back(JsonReader(document_, &(*json_)[i], path_of(std::to_string(i))));
  return readers;
}

std::vector<std::pair<std::string, JsonReader>> JsonReader::members() {
  require_object();
  std::vector<std::pair<std::string, JsonReader>> readers;
  for (const auto& [key, value] : json_->items()) {
    asked_.insert(key);
    readers.emplace_back(key, JsonReader(document_, &value, path_of(key)));
  }
  return readers;
}

void JsonReader::reject_unknown_keys() const {
  for (const auto& [key, value] : json_->items())
    if (!asked_.contains(key) && key != "note")
      throw InputError(document_->place(path_of(key)) + ": unknown key" +
                       did_you_mean(key, {asked_.begin(), asked_.end()}));
}

std::string JsonReader::as_string() const {
  if (!json_->is_string()) fail(shown() + " must be a string");
  return json_->get<std::string>();
}

std::string JsonReader::as_one_of(const std::vector<std::string>& allowed) const {
  if (json_->is_string())
    for (const std::string& word : allowed)
      if (word == json_->get_ref<const std::string&>()) return word;
  std::string rule = shown() + " must be " + one_of(allowed);
  if (json_->is_string()) rule += did_you_mean(json_->get<std::string>(), allowed);
  fail(rule);
}

bool JsonReader::as_bool() const {
  if (!json_->is_boolean()) fail(shown() + " must be true or false");
  return json_->get<bool>();
}

int64_t JsonReader::as_integer(int64_t low, int64_t high) const {
  const auto range =
      " must be a whole number from " + std::to_string(low) + " to " + std::to_string(high);
  if (!json_->is_number_integer()) fail(shown() + range);
  if (json_->is_number_unsigned() &&
      json_->get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    fail(shown() + range);
  const auto value = json_->get<int64_t>();
  if (value < low || value > high) fail(shown() + range);
  return value;
}

double JsonReader::as_quantity(Unit unit, double low, double high) const {
  double value = 0;
  if (json_->is_number() && unit == Unit::ratio) {
    value = json_->get<double>();
  } else if (json_->is_number()) {
    fail(shown() + " has no unit; write for example \"" + std::string(example_of(unit)) + '"');
  } else if (json_->is_string()) {
    try {
      value = parse_quantity(json_->get<std::string>(), unit);
    } catch (const std::invalid_argument& error) {
      fail(error.what());
    }
  } else {
    fail(shown() + " must be a quantity such as \"" + std::string(example_of(unit)) + '"');
  }
  if (value < low)
    fail(shown() + (low == std::numeric_limits<double>::min()
                        ? " must be above 0"
                        : " must be at least " + format_quantity(low, unit)));
  if (value > high) fail(shown() + " must be at most " + format_quantity(high, unit));
  return value;
}

double JsonReader::as_quantity(Unit unit) const {
  return as_quantity(unit, std::numeric_limits<double>::min(), std::numeric_limits<double>::max());
}

Number JsonReader::as_number(Unit unit, std::vector<Number>* numbers, double low, double high) {
  Number number;
  number.unit = unit;
  number.place = document_->inner_path(path_);
  number.file = file();
  number.path = path_;
  if (!json_->is_object()) {
    number.value = number.low = number.high = as_quantity(unit, low, high);
    if (!document_->stated_by_user(path_))
      fail(shown() + " has no source; write {\"value\": " + shown() + ", \"source\": \"...\"}");
    number.source = "stated in " + file();
  } else {
    number.value = at("value").as_quantity(unit, low, high);
    number.source = at("source").as_string();
    if (number.source.empty()) at("source").fail("is empty; say where the number comes from");
    number.low = number.high = number.value;
    if (auto range = find("range")) {
      const std::vector<JsonReader> ends = range->items();
      if (ends.size() != 2) range->fail(range->shown() + " must be [lowest, highest]");
      number.low = ends[0].as_quantity(unit, low, high);
      number.high = ends[1].as_quantity(unit, low, high);
      if (number.low > number.value || number.high < number.value)
        range->fail(range->shown() + " does not contain the value " + at("value").shown());
    } else if (number.assumed()) {
      fail("an assumed number needs a \"range\": [lowest, highest]");
    }
    reject_unknown_keys();
  }
  if (numbers != nullptr) numbers->push_back(number);
  return number;
}

Number JsonReader::as_number(Unit unit, std::vector<Number>* numbers) {
  return as_number(unit, numbers, std::numeric_limits<double>::min(),
                   std::numeric_limits<double>::max());
}

}  // namespace trnsim
