#include "plan/simgrid_settings.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "base/error.h"
#include "base/json_reader.h"
#include "base/units.h"

namespace trnsim {
namespace {

std::optional<double> number_of(const std::string& text) {
  try {
    size_t end = 0;
    const double value = std::stod(text, &end);
    if (end == text.size()) return value;
  } catch (const std::exception&) {
  }
  return std::nullopt;
}

// What SimGrid 3.32 knows of sharing bandwidth and trnsim leaves to whoever asks for it.
struct Setting {
  const char* key;
  const char* rule;
  std::function<bool(const std::string&)> takes;
};

const std::vector<Setting>& settings() {
  static const std::vector<Setting> all{
      {"network/optim", "\"Lazy\" or \"Full\"",
       [](const std::string& value) { return value == "Lazy" || value == "Full"; }},
      {"network/maxmin-selective-update", "\"yes\" or \"no\"",
       [](const std::string& value) { return value == "yes" || value == "no"; }},
      {"maxmin/precision", "a number from 1e-15 to 1e-3, in bytes/s",
       [](const std::string& value) {
         const auto number = number_of(value);
         return number && *number >= 1e-15 && *number <= 1e-3;
       }},
      {"network/bandwidth-factor", "a number from 0.001 to 1",
       [](const std::string& value) {
         const auto number = number_of(value);
         return number && *number >= 1e-3 && *number <= 1;
       }},
  };
  return all;
}

}  // namespace

std::optional<std::string> obstacle(const std::string& key, const std::string& value) {
  for (const char* own : {"network/model", "network/crosstraffic", "network/TCP-gamma",
                          "surf/precision", "precision/timing", "network/latency-factor"})
    if (key == own) return "is trnsim's own to set: fair shares and exact times rest on it";
  std::vector<std::string> keys;
  for (const Setting& setting : settings()) {
    if (key == setting.key) {
      if (setting.takes(value)) return std::nullopt;
      return '"' + value + "\" must be " + setting.rule;
    }
    keys.emplace_back(setting.key);
  }
  return "is no setting of SimGrid that is passed on; there are " + one_of(keys) +
         did_you_mean(key, keys);
}

std::pair<std::string, std::string> split_setting(const std::string& text) {
  const size_t at = text.find_first_of(":=");
  if (at == std::string::npos || at == 0)
    throw InputError("--cfg: \"" + text + "\" must be KEY:VALUE, for example network/optim:Full");
  return {text.substr(0, at), text.substr(at + 1)};
}

}  // namespace trnsim
