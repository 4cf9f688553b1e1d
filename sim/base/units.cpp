#include "base/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/error.h"

namespace trnsim {
namespace {

struct Suffix {
  std::string_view name;
  double factor;
  bool for_output = true;  // false: read, but never written by us
};

constexpr double ki = 1024.0;
constexpr double mi = ki * ki;
constexpr double gi = mi * ki;
constexpr double ti = gi * ki;

constexpr auto byte_suffixes = std::to_array<Suffix>({{"B", 1},
                                                      {"kB", 1e3},
                                                      {"KB", 1e3, false},
                                                      {"MB", 1e6},
                                                      {"GB", 1e9},
                                                      {"TB", 1e12},
                                                      {"PB", 1e15},
                                                      {"KiB", ki, false},
                                                      {"MiB", mi, false},
                                                      {"GiB", gi, false},
                                                      {"TiB", ti, false}});
constexpr auto rate_suffixes = std::to_array<Suffix>({{"B/s", 1},
                                                      {"kB/s", 1e3},
                                                      {"MB/s", 1e6},
                                                      {"GB/s", 1e9},
                                                      {"TB/s", 1e12},
                                                      {"PB/s", 1e15},
                                                      {"KiB/s", ki, false},
                                                      {"MiB/s", mi, false},
                                                      {"GiB/s", gi, false},
                                                      {"TiB/s", ti, false},
                                                      {"Mbps", 125e3, false},
                                                      {"Gbps", 125e6, false},
                                                      {"Tbps", 125e9, false},
                                                      {"bps", 0.125, false},
                                                      {"kbps", 125, false},
                                                      {"b/s", 0.125, false},
                                                      {"Mb/s", 125e3, false},
                                                      {"Gb/s", 125e6, false},
                                                      {"Tb/s", 125e9, false},
                                                      {"Pb/s", 125e12, false}});
constexpr auto time_suffixes = std::to_array<Suffix>({{"ns", 1e-9},
                                                      {"us", 1e-6},
                                                      {"\u00b5s", 1e-6, false},
                                                      {"\u03bcs", 1e-6, false},
                                                      {"ms", 1e-3},
                                                      {"s", 1},
                                                      {"min", 60, false},
                                                      {"h", 3600, false},
                                                      {"d", 86400, false}});
constexpr auto flop_suffixes = std::to_array<Suffix>({{"FLOP/s", 1},
                                                      {"MFLOP/s", 1e6},
                                                      {"GFLOP/s", 1e9},
                                                      {"TFLOP/s", 1e12},
                                                      {"PFLOP/s", 1e15},
                                                      {"EFLOP/s", 1e18}});
constexpr auto watt_suffixes =
    std::to_array<Suffix>({{"W", 1}, {"kW", 1e3}, {"MW", 1e6}, {"GW", 1e9}});
constexpr auto price_suffixes =
    std::to_array<Suffix>({{"USD/h", 1}, {"$/h", 1, false}, {"USD/hour", 1, false}});
constexpr auto ratio_suffixes = std::to_array<Suffix>({{"", 1}, {"%", 0.01, false}});

std::span<const Suffix> suffixes(Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return byte_suffixes;
    case Unit::bytes_per_second:
      return rate_suffixes;
    case Unit::seconds:
      return time_suffixes;
    case Unit::flops_per_second:
      return flop_suffixes;
    case Unit::watts:
      return watt_suffixes;
    case Unit::usd_per_hour:
      return price_suffixes;
    case Unit::ratio:
      return ratio_suffixes;
  }
  throw std::logic_error("unit without suffixes");
}

std::string_view without_spaces(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

[[noreturn]] void refuse(std::string_view text, const std::string& rule) {
  constexpr size_t shown = 60;
  std::string quoted(text.substr(0, shown));
  if (text.size() > shown) quoted += "...";
  throw std::invalid_argument('"' + quoted + "\": " + rule);
}

}  // namespace

std::string_view example_of(Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return "200 MB";
    case Unit::bytes_per_second:
      return "128 GB/s";
    case Unit::seconds:
      return "1.5 us";
    case Unit::flops_per_second:
      return "667 TFLOP/s";
    case Unit::watts:
      return "1000 W";
    case Unit::usd_per_hour:
      return "4.00 USD/h";
    case Unit::ratio:
      return "0.8";
  }
  throw std::logic_error("unit without example");
}

double parse_quantity(std::string_view text, Unit unit) {
  const std::string_view trimmed = without_spaces(text);
  double number = 0;
  const auto [end, error] =
      std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), number);
  if (error == std::errc::result_out_of_range) refuse(text, "is out of range");
  if (error != std::errc())
    refuse(text,
           "is no number with a unit; write for example \"" + std::string(example_of(unit)) + '"');
  const std::string_view name =
      without_spaces(trimmed.substr(static_cast<size_t>(end - trimmed.data())));
  if (!std::isfinite(number)) refuse(text, "is no finite number");
  std::vector<std::string> names;
  for (const Suffix& suffix : suffixes(unit)) {
    if (suffix.name == name) {
      const double value = number * suffix.factor;
      if (!std::isfinite(value)) refuse(text, "is out of range");
      return value;
    }
    names.emplace_back(suffix.name);
  }
  if (name.empty())
    refuse(text, "has no unit; write for example \"" + std::string(example_of(unit)) + '"');
  // The nearest spelling of a rate may be the wrong one of bytes and bits.
  const std::string hint = unit == Unit::bytes_per_second
                               ? "; write \"GB/s\" for bytes or \"Gb/s\" for bits, for example"
                               : did_you_mean(name, names);
  refuse(text, "unknown unit \"" + std::string(name) + '"' +
                   (hint.empty() ? "; write for example \"" + std::string(example_of(unit)) + '"'
                                 : hint));
}

std::string format_number(double value, int digits) {
  if (value == 0) return "0";
  if (!std::isfinite(value)) return value > 0 ? "inf" : value < 0 ? "-inf" : "nan";
  const double size = std::fabs(value);
  if (size < 1e-4 || size >= 1e15) {
    std::array<char, 64> buffer{};
    const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                      std::chars_format::scientific, std::max(0, digits - 1));
    return {buffer.data(), result.ptr};
  }
  const int magnitude = static_cast<int>(std::floor(std::log10(size)));
  const int decimals = std::max(0, digits - 1 - magnitude);
  std::array<char, 64> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                    std::chars_format::fixed, decimals);
  std::string text(buffer.data(), result.ptr);
  if (decimals > 0) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

std::string format_quantity(double value, Unit unit, int digits) {
  const Suffix* best = nullptr;
  for (const Suffix& suffix : suffixes(unit)) {
    if (!suffix.for_output) continue;
    if (best == nullptr || (suffix.factor > best->factor && std::fabs(value) >= suffix.factor) ||
        (suffix.factor < best->factor && std::fabs(value) < best->factor))
      best = &suffix;
  }
  if (value == 0)
    for (const Suffix& suffix : suffixes(unit))
      if (suffix.factor == 1) best = &suffix;
  const std::string number = format_number(value / best->factor, digits);
  return best->name.empty() ? number : number + ' ' + std::string(best->name);
}

}  // namespace trnsim
