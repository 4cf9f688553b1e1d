#include "base/json_reader.h"

#include <gtest/gtest.h>

#include "errors.h"
#include "temporary_folder.h"

namespace trnsim {
namespace {

using Overrides = std::vector<Override>;
using test::error_of;
using test::TemporaryFolder;

Document parse(const std::string& text, const Overrides& overrides = {}) {
  return Document::parse(text, "t.json", "", overrides);
}

// What a reader of the whole text says about it.
template <typename Read>
std::string complaint(const std::string& text, Read read) {
  return error_of([&] {
    const Document document = parse(text);
    read(JsonReader(document));
  });
}

std::string complaint(const std::string& text) {
  return complaint(text, [](const JsonReader&) {});
}

TEST(Document, SaysWhereTextIsNoJson) {
  EXPECT_EQ(complaint("{\n  \"a\": 1,\n  \"b\" 2\n}"),
            "t.json: line 3, column 7: is not valid JSON");
  EXPECT_EQ(complaint(""), "t.json: line 1, column 1: is not valid JSON");
  EXPECT_EQ(complaint("{\"a\": 1}}"), "t.json: line 1, column 9: is not valid JSON");
  EXPECT_EQ(complaint("{\"a\": \"\xff\"}"), "t.json: line 1, column 8: is not valid JSON");
  EXPECT_EQ(complaint(std::string("{\"a\":\n1}\0{", 10)),
            "t.json: line 2, column 3: holds a NUL byte");
  EXPECT_EQ(complaint("[1, 2]"), "t.json: must hold one JSON object");
  EXPECT_EQ(complaint("{\"a\": 1e999}"), "t.json: the number '1e999' is out of range");
}

TEST(Document, AcceptsAByteOrderMark) { EXPECT_EQ(complaint("\xef\xbb\xbf{}"), ""); }

TEST(Document, RefusesAKeyThatStandsTwice) {
  EXPECT_EQ(complaint(R"({"a": 1, "b": 2, "a": 3})"),
            "t.json: key \"a\" stands twice in one object");
  EXPECT_EQ(complaint(R"({"x": [{"a": {"b": 1}, "c": 2, "a": 3}]})"),
            "t.json: key \"a\" stands twice in one object");
  EXPECT_EQ(complaint(R"({"a": {"a": [{"a": 1}, {"a": 2}]}, "b": {"a": 3}})"), "");
}

TEST(Document, RefusesDeepNesting) {
  const auto nested = [](size_t arrays) {
    return "{\"a\": " + std::string(arrays, '[') + std::string(arrays, ']') + '}';
  };
  EXPECT_EQ(complaint(nested(64)), "");
  EXPECT_EQ(complaint(nested(65)), "t.json: is nested deeper than 64");
  EXPECT_EQ(complaint(nested(100000)), "t.json: is nested deeper than 64");
}

TEST(Document, ReadsOnlyRegularFiles) {
  const TemporaryFolder folder;
  const std::string name = folder.path().string();
  EXPECT_EQ(error_of([&] { Document::load(name + "/no.json", {}); }),
            name + "/no.json: no such file");
  EXPECT_EQ(error_of([&] { Document::load(name, {}); }), name + ": is not a regular file");
  EXPECT_EQ(error_of([] { Document::load("/dev/zero", {}); }), "/dev/zero: is not a regular file");
}

TEST(JsonReader, RefusesUnknownKeysButNotes) {
  const auto read_a = [](JsonReader json) {
    json.at("bandwidth");
    json.reject_unknown_keys();
  };
  EXPECT_EQ(complaint(R"({"bandwidth": 1, "note": "said otherwise elsewhere"})", read_a), "");
  EXPECT_EQ(complaint(R"({"bandwidth": 1, "colour": 2})", read_a), "t.json: colour: unknown key");
  EXPECT_EQ(complaint(R"({"bandwidth": 1, "bandwidht": 2})", read_a),
            "t.json: bandwidht: unknown key; did you mean \"bandwidth\"?");
}

TEST(JsonReader, SaysThatAKeyIsMissingOrMisspelt) {
  const auto read_a = [](JsonReader json) { json.at("link").at("bandwidth"); };
  EXPECT_EQ(complaint("{}", read_a), "t.json: the key \"link\" is missing");
  EXPECT_EQ(complaint(R"({"link": {"speed": 1}})", read_a),
            "t.json: link: the key \"bandwidth\" is missing");
  EXPECT_EQ(complaint(R"({"link": {"bandwith": 1}})", read_a),
            "t.json: link.bandwith: unknown key; did you mean \"bandwidth\"?");
  EXPECT_EQ(complaint(R"({"link": "fast"})", read_a), "t.json: link: \"fast\" must be an object");
}

TEST(JsonReader, TellsTypesApart) {
  const auto strings = [](JsonReader json) { json.at("a").as_string(); };
  const auto bools = [](JsonReader json) { json.at("a").as_bool(); };
  const auto arrays = [](JsonReader json) { json.at("a").items(); };
  const auto words = [](JsonReader json) { json.at("a").as_one_of({"ring", "mesh", "switch"}); };
  EXPECT_EQ(complaint(R"({"a": 1})", strings), "t.json: a: 1 must be a string");
  EXPECT_EQ(complaint(R"({"a": null})", strings), "t.json: a: null must be a string");
  EXPECT_EQ(complaint(R"({"a": 1})", bools), "t.json: a: 1 must be true or false");
  EXPECT_EQ(complaint(R"({"a": "true"})", bools), "t.json: a: \"true\" must be true or false");
  EXPECT_EQ(complaint(R"({"a": {}})", arrays), "t.json: a: {} must be an array");
  EXPECT_EQ(complaint(R"({"a": 3})", words),
            "t.json: a: 3 must be \"ring\", \"mesh\" or \"switch\"");
  EXPECT_EQ(
      complaint(R"({"a": "rings"})", words),
      "t.json: a: \"rings\" must be \"ring\", \"mesh\" or \"switch\"; did you mean \"ring\"?");
  EXPECT_EQ(complaint(R"({"a": "mesh"})", words), "");
}

TEST(JsonReader, ShowsAtMostSixtyCharactersOfAValueInAscii) {
  const auto read_a = [](JsonReader json) { json.at("a").as_bool(); };
  EXPECT_EQ(complaint("{\"a\": \"" + std::string(500, 'x') + "\"}", read_a),
            "t.json: a: \"" + std::string(59, 'x') + "... must be true or false");
  EXPECT_EQ(complaint(R"({"a": "\u001b[2J"})", read_a),
            "t.json: a: \"\\u001b[2J\" must be true or false");
}

// Doubles hold integers up to 2^53; JSON integers are read as 64 bits, not by way of a double.
TEST(JsonReader, ReadsWholeNumbersExactly) {
  const auto read = [](const std::string& text, int64_t low, int64_t high) {
    const Document document = parse("{\"a\": " + text + "}");
    return JsonReader(document).at("a").as_integer(low, high);
  };
  EXPECT_EQ(read("9007199254740993", 0, INT64_MAX), 9007199254740993);  // 2^53 + 1
  EXPECT_EQ(read("9223372036854775807", 0, INT64_MAX), INT64_MAX);      // 2^63 - 1
  EXPECT_EQ(read("-9223372036854775808", INT64_MIN, 0), INT64_MIN);
  EXPECT_EQ(read("0", 0, 0), 0);
  const auto refusal = [&](const std::string& text) {
    return error_of([&] { read(text, 1, INT64_MAX); });
  };
  const std::string range = " must be a whole number from 1 to 9223372036854775807";
  EXPECT_EQ(refusal("9223372036854775808"), "t.json: a: 9223372036854775808" + range);  // 2^63
  EXPECT_EQ(refusal("18446744073709551615"), "t.json: a: 18446744073709551615" + range);
  EXPECT_EQ(refusal("18446744073709551616"), "t.json: a: 1.8446744073709552e+19" + range);  // 2^64
  EXPECT_EQ(refusal("1e3"), "t.json: a: 1000.0" + range);
  EXPECT_EQ(refusal("2.0"), "t.json: a: 2.0" + range);
  EXPECT_EQ(refusal("-1"), "t.json: a: -1" + range);
  EXPECT_EQ(refusal("0"), "t.json: a: 0" + range);
  EXPECT_EQ(refusal("\"8\""), "t.json: a: \"8\"" + range);
}

TEST(JsonReader, ReadsQuantitiesWithinTheirLimits) {
  const auto rate = [](JsonReader json) {
    json.at("a").as_quantity(Unit::bytes_per_second, 1e3, 1e12);
  };
  const auto ratio = [](JsonReader json) { json.at("a").as_quantity(Unit::ratio, 0.5, 1); };
  EXPECT_EQ(complaint(R"({"a": 128})", rate),
            "t.json: a: 128 has no unit; write for example \"128 GB/s\"");
  EXPECT_EQ(complaint(R"({"a": true})", rate),
            "t.json: a: true must be a quantity such as \"128 GB/s\"");
  EXPECT_EQ(complaint(R"({"a": "1 B/s"})", rate), "t.json: a: \"1 B/s\" must be at least 1 kB/s");
  EXPECT_EQ(complaint(R"({"a": "2 TB/s"})", rate), "t.json: a: \"2 TB/s\" must be at most 1 TB/s");
  EXPECT_EQ(complaint(R"({"a": "1 TB/s"})", rate), "");
  EXPECT_EQ(complaint(R"({"a": 1})", ratio), "");
  EXPECT_EQ(complaint(R"({"a": 1.01})", ratio), "t.json: a: 1.01 must be at most 1");
  EXPECT_EQ(complaint(R"({"a": "40 %"})", ratio), "t.json: a: \"40 %\" must be at least 0.5");
}

std::string number_complaint(const std::string& number) {
  return complaint("{\"a\": " + number + "}",
                   [](JsonReader json) { json.at("a").as_number(Unit::seconds, nullptr); });
}

TEST(SourcedNumber, NeedsASourceAndIfAssumedARange) {
  EXPECT_EQ(number_complaint(R"({"value": "1 us", "source": "data sheet"})"), "");
  EXPECT_EQ(number_complaint(R"({"value": "1 us"})"), "t.json: a: the key \"source\" is missing");
  EXPECT_EQ(number_complaint(R"({"value": "1 us", "source": ""})"),
            "t.json: a.source: is empty; say where the number comes from");
  EXPECT_EQ(number_complaint(R"({"source": "data sheet"})"),
            "t.json: a: the key \"value\" is missing");
  EXPECT_EQ(number_complaint(R"({"value": "1 us", "source": "assumed: as elsewhere"})"),
            "t.json: a: an assumed number needs a \"range\": [lowest, highest]");
}

TEST(SourcedNumber, LiesInItsRange) {
  const auto with_range = [](const std::string& range) {
    return number_complaint(R"({"value": "2 us", "source": "assumed: so", "range": )" + range +
                            '}');
  };
  EXPECT_EQ(with_range(R"(["1 us", "3 us"])"), "");
  EXPECT_EQ(with_range(R"(["2 us", "2 us"])"), "");
  EXPECT_EQ(with_range(R"(["3 us", "4 us"])"),
            "t.json: a.range: [\"3 us\",\"4 us\"] does not contain the value \"2 us\"");
  EXPECT_EQ(with_range(R"(["3 us", "1 us"])"),
            "t.json: a.range: [\"3 us\",\"1 us\"] does not contain the value \"2 us\"");
  EXPECT_EQ(with_range(R"(["1 us"])"), "t.json: a.range: [\"1 us\"] must be [lowest, highest]");
  EXPECT_EQ(with_range(R"([1, 3])"),
            "t.json: a.range.0: 1 has no unit; write for example \"1.5 us\"");
  EXPECT_EQ(with_range(R"("1 us to 3 us")"), "t.json: a.range: \"1 us to 3 us\" must be an array");
}

TEST(SourcedNumber, RemembersWhereItStands) {
  const Document document = parse(
      R"({"a": {"b": {"value": "2 us", "source": "assumed: so", "range": ["1 us", "4 us"]}}})");
  std::vector<Number> numbers;
  JsonReader(document).at("a").at("b").as_number(Unit::seconds, &numbers);
  ASSERT_EQ(numbers.size(), 1);
  EXPECT_DOUBLE_EQ(numbers[0].value, 2e-6);
  EXPECT_DOUBLE_EQ(numbers[0].low, 1e-6);
  EXPECT_DOUBLE_EQ(numbers[0].high, 4e-6);
  EXPECT_EQ(numbers[0].place, "a.b");
  EXPECT_TRUE(numbers[0].assumed());
}

// t.json includes sub/system.json, which includes sub/chips/chip.json.
class Includes : public testing::Test {
 protected:
  Includes() {
    chip_ = folder_.write("sub/chips/chip.json", R"({
      "name": "chip", "list": [1, 2, 3], "memory": {"size": 80, "speed": 3},
      "rate": {"value": "1 us", "source": "data sheet", "range": ["1 us", "2 us"]}})");
    system_ =
        folder_.write("sub/system.json", R"({"chip": {"file": "chips/chip.json"}, "units": 1})");
  }

  Document load(const std::string& text, const Overrides& overrides = {}) const {
    return Document::parse(text, "t.json", folder_.path(), overrides);
  }
  static nlohmann::json json(const char* text) { return nlohmann::json::parse(text); }

  TemporaryFolder folder_;
  std::string chip_;
  std::string system_;
};

TEST_F(Includes, AreRelativeToTheFileThatNamesThem) {
  const Document document = load(R"({"system": {"file": "sub/system.json"}})");
  EXPECT_EQ(document.root()["system"]["chip"]["name"], "chip");
  EXPECT_EQ(document.file_of("system.chip.name"), chip_);
  EXPECT_EQ(document.file_of("system.units"), system_);
  EXPECT_EQ(document.place("system.chip.memory.size"), chip_ + ": memory.size");
  EXPECT_EQ(document.inner_path("system.chip.memory.size"), "memory.size");
  EXPECT_FALSE(document.stated_by_user("system.units"));
}

TEST_F(Includes, AreLaidOverKeyByKey) {
  const Document document = load(R"({"system": {"file": "sub/system.json", "units": 4,
                                     "chip": {"memory": {"size": 40}, "list": [9]}}})");
  EXPECT_EQ(document.root()["system"]["units"], 4);
  EXPECT_EQ(document.root()["system"]["chip"]["name"], "chip");
  EXPECT_EQ(document.root()["system"]["chip"]["memory"], json(R"({"size": 40, "speed": 3})"));
  EXPECT_EQ(document.root()["system"]["chip"]["list"], json("[9]"));
  EXPECT_FALSE(document.root()["system"].contains("file"));
  EXPECT_EQ(document.place("system.chip.memory.size"), "t.json: system.chip.memory.size");
  EXPECT_EQ(document.place("system.chip.memory.speed"), chip_ + ": memory.speed");
  EXPECT_TRUE(document.stated_by_user("system.chip.memory.size"));
  EXPECT_FALSE(document.stated_by_user("system.chip.memory.speed"));
}

TEST_F(Includes, ReplaceASourcedNumberAsAWhole) {
  // The old number's range must not stay with the new value.
  const Document document =
      load(R"({"file": "sub/chips/chip.json", "rate": {"value": "9 us", "source": "measured"}})");
  EXPECT_EQ(document.root()["rate"], json(R"({"value": "9 us", "source": "measured"})"));
}

TEST_F(Includes, MayReplaceOneIncludeByAnother) {
  const std::string other = folder_.write("other.json", R"({"name": "other"})");
  const Document document =
      load(R"({"system": {"file": "sub/system.json", "chip": {"file": "other.json"}}})");
  EXPECT_EQ(document.root()["system"]["chip"], json(R"({"name": "other"})"));
  EXPECT_EQ(document.place("system.chip.name"), other + ": name");
}

TEST_F(Includes, MayLeaveOutTheSourceOfANumberOnlyInTheUsersFile) {
  folder_.write("bare.json", R"({"rate": "3 us"})");
  const auto read = [&](const std::string& text) {
    const Document document = load(text);
    return JsonReader(document).at("a").at("rate").as_number(Unit::seconds, nullptr).source;
  };
  EXPECT_EQ(read(R"({"a": {"file": "sub/chips/chip.json", "rate": "3 us"}})"), "stated in t.json");
  EXPECT_EQ(error_of([&] { read(R"({"a": {"file": "bare.json"}})"); }),
            (folder_.path() / "bare.json").string() +
                ": rate: \"3 us\" has no source; write {\"value\": \"3 us\", \"source\": \"...\"}");
}

TEST_F(Includes, WorkInsideArrays) {
  const Document document = load(R"({"all": [{"units": 2}, {"file": "sub/system.json"}]})");
  EXPECT_EQ(document.root()["all"][1]["chip"]["name"], "chip");
  EXPECT_EQ(document.place("all.1.units"), system_ + ": units");
  EXPECT_EQ(document.place("all.0.units"), "t.json: all.0.units");
}

TEST_F(Includes, SayWhoAskedForAFileThatIsNotThere) {
  EXPECT_EQ(
      error_of([&] { load(R"({"system": {"file": "sub/nothing.json"}})"); }),
      "t.json: system.file: " + (folder_.path() / "sub/nothing.json").string() + ": no such file");
  folder_.write("list.json", "[]");
  EXPECT_EQ(error_of([&] { load(R"({"system": {"file": "list.json"}})"); }),
            (folder_.path() / "list.json").string() + ": must hold one JSON object");
}

TEST_F(Includes, MustNotContainThemselves) {
  const std::string a = folder_.write("a.json", R"({"b": {"file": "b.json"}})");
  const std::string b = folder_.write("b.json", R"({"c": {"file": "./sub/../a.json"}})");
  EXPECT_EQ(error_of([&] { load(R"({"a": {"file": "a.json"}})"); }),
            b + ": c.file: " + a + ": includes itself");
}

TEST_F(Includes, EndAtSixteen) {
  for (int i = 0; i < 20; ++i)
    folder_.write("d" + std::to_string(i) + ".json",
                  R"({"d": {"file": "d)" + std::to_string(i + 1) + R"(.json"}})");
  const std::string error = error_of([&] { load(R"({"d": {"file": "d0.json"}})"); });
  EXPECT_NE(error.find(": includes are nested deeper than 16"), std::string::npos) << error;
}

TEST(ParseOverride, SplitsAtTheFirstEqualsSign) {
  EXPECT_EQ(parse_override("a.b=1").path, "a.b");
  EXPECT_EQ(parse_override("a.b=1").value, "1");
  EXPECT_EQ(parse_override("name=x=y").value, "x=y");
  EXPECT_EQ(parse_override("name=").value, "");
  const std::string rule = ": write path=value, for example --set system.units=8";
  EXPECT_EQ(error_of([] { parse_override("a.b"); }), "--set a.b" + rule);
  EXPECT_EQ(error_of([] { parse_override("=1"); }), "--set =1" + rule);
}

TEST(Override, IsJsonOrABareString) {
  const auto set = [](const std::string& value) {
    return parse("{\"a\": 0}", {{"a", value}}).root()["a"];
  };
  EXPECT_EQ(set("8"), 8);
  EXPECT_EQ(set("false"), false);
  EXPECT_EQ(set("[]"), nlohmann::json::array());
  EXPECT_EQ(set("{\"b\": 1}")["b"], 1);
  EXPECT_EQ(set("\"8\""), "8");
  EXPECT_EQ(set("message"), "message");
  EXPECT_EQ(set("40 GB"), "40 GB");
  EXPECT_EQ(set("1e999"), "1e999");  // no JSON number, so a string, and no quantity either
  EXPECT_EQ(set(""), "");
  EXPECT_EQ(error_of([&] { set("\xff"); }), "--set a: is not valid UTF-8");
  EXPECT_EQ(error_of([&] { set(R"({"b": 1, "b": 2})"); }),
            "--set a: key \"b\" stands twice in one object");
}

TEST(Override, MakesObjectsAndIndexesArrays) {
  const Document document =
      parse(R"({"list": [{"a": 1}, {"a": 2}]})", {{"new.inner.value", "1"}, {"list.1.a", "9"}});
  EXPECT_EQ(document.root()["new"]["inner"]["value"], 1);
  EXPECT_EQ(document.root()["list"][0]["a"], 1);
  EXPECT_EQ(document.root()["list"][1]["a"], 9);
  EXPECT_EQ(document.place("list.1.a"), "--set list.1.a");
  EXPECT_EQ(document.place("list.0.a"), "t.json: list.0.a");
}

TEST(Override, OfTwoAlikeTheLaterWins) {
  EXPECT_EQ(parse("{}", {{"a", "1"}, {"a", "2"}}).root()["a"], 2);
}

TEST(Override, SaysWhatIsWrongWithItsPath) {
  const auto set = [](const std::string& path) {
    return error_of([&] { parse(R"({"list": [1, 2], "text": "x"})", {{path, "1"}}); });
  };
  EXPECT_EQ(set("list.2"), "--set list.2: \"2\" is no index from 0 to 1");
  EXPECT_EQ(set("list.-1"), "--set list.-1: \"-1\" is no index from 0 to 1");
  EXPECT_EQ(set("list.first"), "--set list.first: \"first\" is no index from 0 to 1");
  EXPECT_EQ(set("list.99999999999999999999"),
            "--set list.99999999999999999999: \"99999999999999999999\" is no index from 0 to 1");
  EXPECT_EQ(set("text.a"), "--set text.a: \"a\" would stand inside \"x\"");
  EXPECT_EQ(set("a..b"), "--set a..b: has an empty part in its path");
  EXPECT_EQ(set("a."), "--set a.: has an empty part in its path");
}

TEST(Override, SaysThatAListIsEmpty) {
  EXPECT_EQ(error_of([] {
              parse(R"({"list": []})", {{"list.0.a", "1"}});
            }),
            "--set list.0.a: \"0\" is no index of an empty list; set the whole list");
}

TEST(Override, IsThePlaceOfAnError) {
  const Document document = parse(R"({"a": {"b": true}})", {{"a.b", "7"}, {"a.c", "1"}});
  EXPECT_EQ(error_of([&] { JsonReader(document).at("a").at("b").as_bool(); }),
            "--set a.b: 7 must be true or false");
  EXPECT_EQ(error_of([&] {
              JsonReader a = JsonReader(document).at("a");
              a.at("b");
              a.reject_unknown_keys();
            }),
            "--set a.c: unknown key");
}

TEST_F(Includes, AreReachedByOverrides) {
  const Document document = load(R"({"system": {"file": "sub/system.json"}})",
                                 {{"system.chip.memory.size", "40"}, {"system.chip.rate", "3 us"}});
  EXPECT_EQ(document.root()["system"]["chip"]["memory"], json(R"({"size": 40, "speed": 3})"));
  EXPECT_EQ(document.place("system.chip.memory.size"), "--set system.chip.memory.size");
  EXPECT_EQ(document.place("system.chip.memory.speed"), chip_ + ": memory.speed");
  JsonReader rate = JsonReader(document).at("system").at("chip").at("rate");
  EXPECT_EQ(rate.as_number(Unit::seconds, nullptr).source, "stated in --set");
}

TEST_F(Includes, MayBeExchangedByAnOverride) {
  // The order of the two does not matter: the file is chosen first.
  for (const bool file_first : {true, false}) {
    Overrides overrides{{"chip.file", chip_}, {"chip.memory.size", "7"}};
    if (!file_first) std::swap(overrides[0], overrides[1]);
    const Document document = load(R"({"chip": {"file": "nothing.json"}})", overrides);
    EXPECT_EQ(document.root()["chip"]["name"], "chip");
    EXPECT_EQ(document.root()["chip"]["memory"], json(R"({"size": 7, "speed": 3})"));
  }
}

TEST_F(Includes, OfAnOverrideAreRelativeToTheCurrentFolder) {
  std::filesystem::current_path(folder_.path() / "sub");
  const Document named = load(R"({"chip": {}})", {{"chip.file", "chips/chip.json"}});
  EXPECT_EQ(named.root()["chip"]["name"], "chip");
  const Document inside = load("{}", {{"list", R"([{"file": "chips/chip.json"}])"}});
  EXPECT_EQ(inside.root()["list"][0]["name"], "chip");
  EXPECT_EQ(error_of([&] {
              load("{}", {{"chip.file", "no.json"}});
            }),
            "--set chip.file: no.json: no such file");
}

TEST(DidYouMean, FindsTheNearestWord) {
  const std::vector<std::string> words{"bandwidth", "latency", "links"};
  EXPECT_EQ(nearest("bandwith", words), "bandwidth");
  EXPECT_EQ(nearest("link", words), "links");
  EXPECT_EQ(nearest("colour", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest(std::string(1000, 'b'), words), "");
  EXPECT_EQ(did_you_mean("latncy", words), "; did you mean \"latency\"?");
  EXPECT_EQ(one_of(words), "\"bandwidth\", \"latency\" or \"links\"");
  EXPECT_EQ(one_of({"a"}), "\"a\"");
}

}  // namespace
}  // namespace trnsim
