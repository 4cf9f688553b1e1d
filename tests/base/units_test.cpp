#include "base/units.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <locale>
#include <stdexcept>
#include <string>

#include "base/json_reader.h"
#include "errors.h"

namespace trnsim {
namespace {

struct Written {
  const char* text;
  Unit unit;
  double value;
};

// SI prefixes are powers of 1000, IEC 80000-13 prefixes (Ki, Mi, Gi, Ti) powers of 1024; "b" and
// "bps" count bits, 8 to a byte. The values are written out, not computed from a prefix.
constexpr Written every_unit[] = {
    {"7 B", Unit::bytes, 7},
    {"7 kB", Unit::bytes, 7000},
    {"7 KB", Unit::bytes, 7000},
    {"7 MB", Unit::bytes, 7000000},
    {"7 GB", Unit::bytes, 7000000000},
    {"7 TB", Unit::bytes, 7000000000000},
    {"7 PB", Unit::bytes, 7000000000000000},
    {"7 KiB", Unit::bytes, 7168},
    {"7 MiB", Unit::bytes, 7340032},
    {"7 GiB", Unit::bytes, 7516192768},
    {"7 TiB", Unit::bytes, 7696581394432},
    {"7 B/s", Unit::bytes_per_second, 7},
    {"7 kB/s", Unit::bytes_per_second, 7000},
    {"7 MB/s", Unit::bytes_per_second, 7000000},
    {"7 GB/s", Unit::bytes_per_second, 7000000000},
    {"7 TB/s", Unit::bytes_per_second, 7000000000000},
    {"7 PB/s", Unit::bytes_per_second, 7000000000000000},
    {"8 Pb/s", Unit::bytes_per_second, 1000000000000000},
    {"7 KiB/s", Unit::bytes_per_second, 7168},
    {"7 MiB/s", Unit::bytes_per_second, 7340032},
    {"7 GiB/s", Unit::bytes_per_second, 7516192768},
    {"7 TiB/s", Unit::bytes_per_second, 7696581394432},
    {"8 b/s", Unit::bytes_per_second, 1},
    {"8 bps", Unit::bytes_per_second, 1},
    {"8 kbps", Unit::bytes_per_second, 1000},
    {"8 Mb/s", Unit::bytes_per_second, 1000000},
    {"8 Mbps", Unit::bytes_per_second, 1000000},
    {"8 Gb/s", Unit::bytes_per_second, 1000000000},
    {"8 Gbps", Unit::bytes_per_second, 1000000000},
    {"8 Tb/s", Unit::bytes_per_second, 1000000000000},
    {"8 Tbps", Unit::bytes_per_second, 1000000000000},
    {"3 ns", Unit::seconds, 0.000000003},
    {"3 us", Unit::seconds, 0.000003},
    {"3 \u00b5s", Unit::seconds, 0.000003},  // micro sign
    {"3 \u03bcs", Unit::seconds, 0.000003},  // Greek small letter mu
    {"3 ms", Unit::seconds, 0.003},
    {"3 s", Unit::seconds, 3},
    {"3 min", Unit::seconds, 180},
    {"3 h", Unit::seconds, 10800},
    {"3 d", Unit::seconds, 259200},
    {"5 FLOP/s", Unit::flops_per_second, 5},
    {"5 MFLOP/s", Unit::flops_per_second, 5e6},
    {"5 GFLOP/s", Unit::flops_per_second, 5e9},
    {"5 TFLOP/s", Unit::flops_per_second, 5e12},
    {"5 PFLOP/s", Unit::flops_per_second, 5e15},
    {"5 EFLOP/s", Unit::flops_per_second, 5e18},
    {"5 W", Unit::watts, 5},
    {"5 kW", Unit::watts, 5000},
    {"5 MW", Unit::watts, 5000000},
    {"5 GW", Unit::watts, 5000000000},
    {"4.00 USD/h", Unit::usd_per_hour, 4},
    {"4.00 USD/hour", Unit::usd_per_hour, 4},
    {"4.00 $/h", Unit::usd_per_hour, 4},
    {"0.8", Unit::ratio, 0.8},
    {"80 %", Unit::ratio, 0.8},
};

TEST(ParseQuantity, KnowsEveryUnit) {
  for (const Written& written : every_unit)
    EXPECT_DOUBLE_EQ(parse_quantity(written.text, written.unit), written.value) << written.text;
}

TEST(ParseQuantity, TellsGigaFromGibiAndBitsFromBytes) {
  // Trainium3's 144 GiB are 154.6 GB (2^30 against 10^9); 3.2 Tb/s of a p5 are 400 GB/s.
  EXPECT_DOUBLE_EQ(parse_quantity("144 GiB", Unit::bytes), 144 * std::pow(2.0, 30));
  EXPECT_DOUBLE_EQ(parse_quantity("144 GB", Unit::bytes), 144 * std::pow(10.0, 9));
  EXPECT_DOUBLE_EQ(parse_quantity("3.2 Tb/s", Unit::bytes_per_second), 400e9);
  EXPECT_DOUBLE_EQ(parse_quantity("400 Gb/s", Unit::bytes_per_second) * 8,
                   parse_quantity("400 GB/s", Unit::bytes_per_second));
}

TEST(ParseQuantity, DoesNotMindSpacesAndExponents) {
  EXPECT_DOUBLE_EQ(parse_quantity("  1.5us  ", Unit::seconds), 1.5e-6);
  EXPECT_DOUBLE_EQ(parse_quantity("1.5e3   us", Unit::seconds), 1.5e-3);
  EXPECT_DOUBLE_EQ(parse_quantity("-2 us", Unit::seconds), -2e-6);
  EXPECT_DOUBLE_EQ(parse_quantity(".5 s", Unit::seconds), 0.5);
  EXPECT_EQ(parse_quantity("0 s", Unit::seconds), 0);
}

std::string refusal(const std::string& text, Unit unit) {
  try {
    return "accepted as " + std::to_string(parse_quantity(text, unit));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

struct Wrong {
  std::string text;
  Unit unit;
  std::string rule;
};

TEST(ParseQuantity, RefusesWhatIsNoQuantityAndSaysWhatToWrite) {
  const std::string rates = "; write \"GB/s\" for bytes or \"Gb/s\" for bits, for example";
  const std::string no_time = "is no number with a unit; write for example \"1.5 us\"";
  const Wrong wrongs[] = {
      {"128", Unit::bytes_per_second, "has no unit; write for example \"128 GB/s\""},
      {"200", Unit::bytes, "has no unit; write for example \"200 MB\""},
      {"4", Unit::usd_per_hour, "has no unit; write for example \"4.00 USD/h\""},
      {"", Unit::seconds, no_time},
      {" ", Unit::seconds, no_time},
      {"us", Unit::seconds, no_time},
      {"fast", Unit::seconds, no_time},
      {"+1 us", Unit::seconds, no_time},
      {"\t1 us", Unit::seconds, no_time},
      {"inf s", Unit::seconds, "is no finite number"},
      {"-infinity s", Unit::seconds, "is no finite number"},
      {"nan", Unit::ratio, "is no finite number"},
      {"1e999 s", Unit::seconds, "is out of range"},
      {"1e-999 s", Unit::seconds, "is out of range"},
      {"1e308 GB", Unit::bytes, "is out of range"},
      {"1,5 us", Unit::seconds, "unknown unit \",5 us\"; write for example \"1.5 us\""},
      {"0x10 W", Unit::watts, "unknown unit \"x10 W\"; write for example \"1000 W\""},
      {"1.5 us of delay", Unit::seconds,
       "unknown unit \"us of delay\"; write for example \"1.5 us\""},
      {"5 US", Unit::seconds, "unknown unit \"US\"; write for example \"1.5 us\""},
      {"5 mins", Unit::seconds, "unknown unit \"mins\"; did you mean \"min\"?"},
      {"5 Gib", Unit::bytes, "unknown unit \"Gib\"; did you mean \"GiB\"?"},
      {"5 GB/s", Unit::seconds, "unknown unit \"GB/s\"; write for example \"1.5 us\""},
      {"5 TFLOPS", Unit::flops_per_second, "unknown unit \"TFLOPS\"; did you mean \"TFLOP/s\"?"},
      {"5 GBps", Unit::bytes_per_second, "unknown unit \"GBps\"" + rates},
      {"5 gb/s", Unit::bytes_per_second, "unknown unit \"gb/s\"" + rates},
      {"5 GB", Unit::bytes_per_second, "unknown unit \"GB\"" + rates},
      {"80 percent", Unit::ratio, "unknown unit \"percent\"; write for example \"0.8\""},
  };
  for (const Wrong& wrong : wrongs)
    EXPECT_EQ(refusal(wrong.text, wrong.unit), '"' + wrong.text + "\": " + wrong.rule);
}

TEST(ParseQuantity, QuotesAtMostSixtyCharacters) {
  EXPECT_EQ(
      refusal(std::string(1000, 'x'), Unit::seconds),
      '"' + std::string(60, 'x') + "...\": is no number with a unit; write for example \"1.5 us\"");
}

TEST(ParseQuantity, ExamplesAreRight) {
  for (const Unit unit : {Unit::bytes, Unit::bytes_per_second, Unit::seconds,
                          Unit::flops_per_second, Unit::watts, Unit::usd_per_hour, Unit::ratio})
    EXPECT_GT(parse_quantity(example_of(unit), unit), 0);
}

TEST(ReadQuantity, MustNotBeNegative) {
  const Document document = Document::parse(R"({"latency": "-1 us"})", "t.json", "", {});
  JsonReader latency = JsonReader(document).at("latency");
  EXPECT_EQ(test::error_of([&] { latency.as_quantity(Unit::seconds, 0, 1); }),
            "t.json: latency: \"-1 us\" must be at least 0 s");
  EXPECT_EQ(test::error_of([&] { latency.as_quantity(Unit::seconds); }),
            "t.json: latency: \"-1 us\" must be above 0");
}

TEST(FormatQuantity, WritesWhatAPersonWould) {
  EXPECT_EQ(format_quantity(128e9, Unit::bytes_per_second), "128 GB/s");
  EXPECT_EQ(format_quantity(1.5e-6, Unit::seconds), "1.5 us");
  EXPECT_EQ(format_quantity(7200, Unit::seconds), "7200 s");
  EXPECT_EQ(format_quantity(0, Unit::seconds), "0 s");
  EXPECT_EQ(format_quantity(154618822656, Unit::bytes), "154.6 GB");
  EXPECT_EQ(format_quantity(0.8, Unit::ratio), "0.8");
  EXPECT_EQ(format_quantity(-2e-3, Unit::seconds), "-2 ms");
  EXPECT_EQ(format_quantity(4, Unit::usd_per_hour), "4 USD/h");
}

TEST(FormatNumber, KeepsItsDigits) {
  EXPECT_EQ(format_number(123456, 3), "123456");  // digits before the point are never dropped
  EXPECT_EQ(format_number(0.00012345, 3), "0.000123");
  EXPECT_EQ(format_number(0.000012345, 3), "1.23e-05");
  EXPECT_EQ(format_number(2e15, 3), "2.00e+15");
  EXPECT_EQ(format_number(999.96, 4), "1000");
  EXPECT_EQ(format_number(-0.5, 3), "-0.5");
}

TEST(FormatQuantity, RoundTrips) {
  // n significant digits are wrong by at most half a unit of the last: 10^(1-n) / 2 of the value.
  for (const Unit unit : {Unit::bytes, Unit::bytes_per_second, Unit::seconds,
                          Unit::flops_per_second, Unit::watts, Unit::usd_per_hour, Unit::ratio})
    for (double value = 1.2345678901234567e-8; value < 1e19; value *= 9.87654321) {
      const auto there_and_back = [&](int digits) {
        return parse_quantity(format_quantity(value, unit, digits), unit) / value;
      };
      EXPECT_NEAR(there_and_back(4), 1, 0.5e-3) << value;
      EXPECT_NEAR(there_and_back(17), 1, 1e-15) << value;
    }
}

// What a German locale does to streams, printf and strtod must not reach us.
class CommaForPoint : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Units, DoNotDependOnTheLocale) {
  const std::locale before =
      std::locale::global(std::locale(std::locale::classic(), new CommaForPoint));
  EXPECT_DOUBLE_EQ(parse_quantity("1234.5 us", Unit::seconds), 1234.5e-6);
  EXPECT_EQ(format_quantity(1234567.5, Unit::seconds, 9), "1234567.5 s");
  std::locale::global(before);
}

TEST(Units, DoNotDependOnTheLocaleOfC) {
  if (std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr) GTEST_SKIP() << "no locale with a comma";
  EXPECT_DOUBLE_EQ(parse_quantity("1234.5 us", Unit::seconds), 1234.5e-6);
  EXPECT_EQ(format_quantity(1.5e-6, Unit::seconds), "1.5 us");
  std::setlocale(LC_ALL, "C");
}

}  // namespace
}  // namespace trnsim
