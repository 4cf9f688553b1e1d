#pragma once

#include <string>
#include <string_view>

namespace trnsim {

// Plain SI doubles and integers; the name of a variable says what it holds.
using Seconds = double;
using BytesPerSecond = double;
using Bytes = unsigned long long;

/// `amount` / `by` (above 0), rounded up: how shards, and messages of a buffer, are sized.
constexpr Bytes divide_up(Bytes amount, Bytes by) { return (amount + by - 1) / by; }

/// What a written quantity measures. Values are held in the SI unit named here.
enum class Unit {
  bytes,             // "80 GB" is 80e9, "96 GiB" is 96 * 2^30
  bytes_per_second,  // "128 GB/s", "3.2 Tbps" (bits), "400 Gb/s" (bits)
  seconds,           // "1.5 us", "2 h"
  flops_per_second,  // "667 TFLOP/s"
  watts,             // "1.2 kW"
  usd_per_hour,      // "4.00 USD/h"
  ratio,             // 0.8 or "80 %": the one unit that may be a bare number
};

/// The value of `text` in the SI unit of `unit`. Throws std::invalid_argument whose message is the
/// rule that was broken with the nearest right answer, without file or place.
double parse_quantity(std::string_view text, Unit unit);

/// An example of how a quantity of `unit` is written: "128 GB/s".
std::string_view example_of(Unit unit);

/// `value` (SI) as a person writes it, with at most `digits` significant digits: "128 GB/s".
std::string format_quantity(double value, Unit unit, int digits = 4);

/// `value` with `digits` significant digits, without exponent where it is between 1e-4 and 1e15.
std::string format_number(double value, int digits);

}  // namespace trnsim
