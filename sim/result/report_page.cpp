#include "result/report_page.h"

#include <map>
#include <stdexcept>

#include "result/report.h"

namespace trnsim {
namespace {

using Json = nlohmann::ordered_json;

std::string escaped(std::string_view text) {
  std::string made;
  for (const char letter : text) switch (letter) {
      case '&':
        made += "&amp;";
        break;
      case '<':
        made += "&lt;";
        break;
      case '>':
        made += "&gt;";
        break;
      default:
        made += letter;
    }
  return made;
}

// JSON in an element of script: "</script" or "<!--" in a string would end or open something.
std::string in_script(const Json& json) {
  std::string made;
  for (const char letter : json.dump())
    if (letter == '<')
      made += "\\u003c";
    else
      made += letter;
  return made;
}

Json beside_json(const ScenarioResult& result, const BesidePage& beside) {
  Json timelines = Json::array();
  for (const auto& [run, text] : beside.timelines) {
    Json timeline = {{"run", run}, {"system", result.runs.at(run).system}};
    timeline.update(Json::parse(text));
    timelines.push_back(std::move(timeline));
  }
  return {{"command", beside.command}, {"timelines", std::move(timelines)}};
}

}  // namespace

std::string report_page(const ScenarioResult& result, const BesidePage& beside) {
  const std::map<std::string_view, std::string> values = {
      {"TITLE", escaped(result.name)},
      {"TEXT", escaped(text_report(result) + assumptions_report(result))},
      {"RESULT", in_script(to_json(result))},
      {"BESIDE", in_script(beside_json(result, beside))}};
  std::string_view left = report_page_template();
  std::string page;
  for (size_t filled = 0; filled < values.size(); ++filled) {
    // A place is a name in capitals between two "@"; other "@" are part of the page.
    size_t at = 0;
    auto value = values.end();
    while (value == values.end()) {
      at = left.find('@', at);
      if (at == std::string_view::npos)
        throw std::logic_error("the template of the report page lacks a place for data");
      value = values.find(left.substr(at + 1, left.find('@', at + 1) - at - 1));
      if (value == values.end()) ++at;
    }
    page.append(left.substr(0, at)).append(value->second);
    left.remove_prefix(at + value->first.size() + 2);
  }
  return page.append(left);
}

}  // namespace trnsim
