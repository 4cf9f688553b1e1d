#include "result/report_page.h"

#include <gtest/gtest.h>

#include <regex>

#include "fixtures.h"
#include "result/comparison.h"
#include "result/report.h"
#include "result/simulate.h"
#include "temporary_folder.h"

namespace trnsim::test {
namespace {

using Json = nlohmann::json;

ScenarioResult answered(const std::string& name) {
  const Job job = small_job(one_switch(4, 1e9, 1e-6));
  ScenarioResult result{name, title_of(job), "1.2.3", "chips", simulate_all({job, job}), {}};
  result.comparisons.push_back(explain(job, job, "chips"));
  return result;
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// What a browser takes as the text of the element of script with this id.
Json embedded(const std::string& page, const std::string& id) {
  const std::string opening = "<script type=\"application/json\" id=\"" + id + "\">";
  const size_t begin = page.find(opening) + opening.size();
  return Json::parse(page.substr(begin, page.find("</script", begin) - begin));
}

TEST(ReportPage, HoldsTheResult) {
  const ScenarioResult result = answered("a scenario");
  const std::string page = report_page(result, {"trnsim run it", {}});
  EXPECT_EQ(embedded(page, "result"), Json::parse(to_json(result).dump()));
  EXPECT_EQ(embedded(page, "beside"),
            Json({{"command", "trnsim run it"}, {"timelines", Json::array()}}));
}

TEST(ReportPage, HoldsTimelinesWithTheirRuns) {
  const std::string page = report_page(answered("a"), {"", {{1, R"({"tracks": []})"}}});
  EXPECT_EQ(embedded(page, "beside")["timelines"][0],
            Json({{"run", 1}, {"system", "one switch"}, {"tracks", Json::array()}}));
}

// The template's own elements and no more, whatever a scenario is called.
TEST(ReportPage, TakesNoMarkupFromNames) {
  const std::string plain = report_page(answered("plain"), {});
  for (const char* name :
       {"</script><script>alert(1)</script>", "<!-- <script>", "</title><b>&amp;",
        "</pre></noscript><img src=x>", "@RESULT@ @BESIDE@"}) {
    const ScenarioResult result = answered(name);
    const std::string page = report_page(result, {name, {}});
    for (const char* part : {"<script", "</script", "<!--", "<img", "</title", "</pre", "<b>"})
      EXPECT_EQ(count(page, part), count(plain, part)) << name;
    EXPECT_EQ(embedded(page, "result")["scenario"], name);
    EXPECT_EQ(embedded(page, "beside")["command"], name);
  }
}

// Nothing is loaded: no element names another file, no style imports one, and the policy of the
// page forbids it all the same. "data:," is an icon of no bytes.
TEST(ReportPage, LoadsNothing) {
  const std::string page(report_page_template());
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  const std::regex loading(
      R"(<[a-z]+ [^>]*\b(src|href|srcset|data|action)=(?!"data:,")|@import|url\()");
  EXPECT_FALSE(std::regex_search(page.substr(0, page.find("<script>")), loading));
  for (const char* call : {"fetch(", "XMLHttpRequest", "WebSocket", "import(", "sendBeacon"})
    EXPECT_EQ(page.find(call), std::string::npos) << call;
}

// The program has the file of the sources in it, byte for byte.
TEST(ReportPage, IsTheBundle) {
  EXPECT_EQ(report_page_template(),
            read_text(std::string(TRNSIM_SOURCE_DIR) + "/sim/result/page/report.html"));
}

}  // namespace
}  // namespace trnsim::test
