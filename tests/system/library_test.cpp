#include "system/library.h"

#include <gtest/gtest.h>

#include "errors.h"

namespace trnsim {
namespace {

std::string complaint(const std::string& body) {
  return test::error_of([&] {
    const std::string text = R"({"format": "trnsim.library.v1", "name": "any")" + body + "}";
    const Document document = Document::parse(text, "library.json", ".", {});
    std::vector<Number> numbers;
    read_library(JsonReader(document), numbers);
  });
}

const std::string ring =
    R"({"algorithm": "ring", "protocol": "LL", "payload": {"value": 1, "source": "a test"}})";

std::string from(const std::string& size) {
  return R"({"algorithm": "ring", "from": {"value": ")" + size + R"(", "source": "a test"}})";
}

TEST(ReadLibrary, TakesWaysOrSizes) {
  EXPECT_EQ(complaint(R"(, "ways": [)" + ring + "]"), "");
  EXPECT_EQ(complaint(R"(, "sizes": [)" + from("0 B") + ", " + from("1 MB") + "]"), "");
  EXPECT_EQ(complaint(""), "library.json: a library has either \"ways\" or \"sizes\"");
  EXPECT_EQ(complaint(R"(, "ways": [)" + ring + R"(], "sizes": [)" + from("0 B") + "]"),
            "library.json: a library has either \"ways\" or \"sizes\"");
}

TEST(ReadLibrary, RefusesWhatContradictsItself) {
  EXPECT_EQ(complaint(R"(, "ways": [)" + ring + ", " + ring + "]"),
            "library.json: ways.1: describes ring with LL a second time");
  EXPECT_EQ(complaint(R"(, "sizes": [)" + from("1 B") + "]"),
            "library.json: sizes.0.from: sizes must begin at 0 B and grow");
  EXPECT_EQ(complaint(R"(, "sizes": [)" + from("0 B") + ", " + from("0 B") + "]"),
            "library.json: sizes.1.from: sizes must begin at 0 B and grow");
}

}  // namespace
}  // namespace trnsim
