#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "result/result.h"

namespace trnsim {

/// What the page shows beside the result.
struct BesidePage {
  std::string command;  // as it can be typed again
  /// What make_timeline() wrote, and whose: the place of a run in the result.
  std::vector<std::pair<size_t, std::string>> timelines;
};

/// One file of HTML that needs no network: the result, as to_json() gives it, with the code that
/// shows it. Text of the input cannot become markup. Where no script runs it is the text report.
std::string report_page(const ScenarioResult& result, const BesidePage& beside);

/// The page with places for what report_page() fills in: @TITLE@, @TEXT@, @RESULT@, @BESIDE@.
std::string_view report_page_template();

}  // namespace trnsim
