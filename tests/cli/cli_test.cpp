// What the command line promises: exit codes, what goes to stdout and stderr, and the keys of
// --json.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"

namespace trnsim {
namespace {

using nlohmann::json;
using test::Outcome;
using test::run;
using test::TemporaryFolder;

// 16 chips, so that a run takes no time.
const std::string small = "tests/bad_inputs/good.json --quiet ";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

json result_of(const std::string& line) {
  const Outcome outcome = run(line);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return json::parse(outcome.out, nullptr, /*allow_exceptions=*/false);
}

// The same but for what a machine does differently each time.
json without_time(json result) {
  for (json& run : result.at("runs")) {
    run.at("engine").erase("wall_s");
    run.at("engine").erase("peak_rss_bytes");
  }
  return result;
}

TEST(Help, ShowsAnExampleOfTheAppAndOfEachVerb) {
  for (const std::string verb : {"", "run ", "compare ", "check ", "topology "}) {
    const Outcome outcome = run("trnsim " + verb + "--help");
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
    const std::string input = verb == "topology " ? "topologies/" : "scenarios/";
    EXPECT_TRUE(contains(outcome.out, "  trnsim " + (verb.empty() ? "run " : verb) + input))
        << outcome.out;
  }
}

// The keys that scripts rely on; a direct all-reduce of n ranks takes 2 (l + S (n - 1) / (n B)).
TEST(Collective, PrintsTheColumnsOfNcclTests) {
  const json result = result_of(
      "trnsim collective --system topologies/p5.json --algorithm direct -b 1M -e 64M -f 8 --json "
      "--set scale_up.dimensions.0.bandwidth=\"100 GB/s\" "
      "--set scale_up.dimensions.0.efficiency=0.5");
  ASSERT_EQ(result.at("rows").size(), 3U);
  for (const json& row : result.at("rows")) {
    const double bytes = row.at("size_bytes");
    const double time = row.at("time_us").get<double>() * 1e-6;
    const double wire = 2 * bytes * 7 / 8;
    EXPECT_NEAR(row.at("algbw_gbs").get<double>(), bytes / time / 1e9, 1e-9);
    EXPECT_NEAR(row.at("busbw_gbs").get<double>(), wire / time / 1e9, 1e-9);
    EXPECT_GE(row.at("time_us"), row.at("bound_us"));
    EXPECT_EQ(row.at("algorithm"), "direct NVSwitch 8");
  }
}

// Every example of a help text works, but for those that write or read out/, and the unfolded one,
// which takes a minute.
TEST(Help, ShowsExamplesThatWork) {
  for (const char* verb : {"run", "compare", "collective", "topology", "check"}) {
    std::istringstream help(run("trnsim " + std::string(verb) + " --help").out);
    std::string example;
    for (std::string line; std::getline(help, line);) {
      if (line.rfind("  trnsim ", 0) != 0 && example.empty()) continue;
      example += line;
      if (line.ends_with("\\")) {
        example.pop_back();
        continue;
      }
      if (contains(example, "out/") || contains(example, "fold=false")) example = "true";
      EXPECT_EQ(run(example).exit_code, 0) << example;
      example.clear();
    }
  }
}

TEST(Version, NamesTrnsimAndSimGrid) {
  const Outcome outcome = run("trnsim --version");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(contains(outcome.out, " (SimGrid 3.")) << outcome.out;
}

TEST(Run, PrintsAReportAndNothingElse) {
  const Outcome outcome = run("trnsim run " + small);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  for (const char* row : {"step time", "exposed communication", "MFU", "$/Mtoken", "rests on"})
    EXPECT_TRUE(contains(outcome.out, row)) << row;
}

TEST(Run, PrintsOneJsonObjectWithTheKeysOfTheContract) {
  const Outcome outcome = run("trnsim run " + small + "--json");
  ASSERT_TRUE(json::accept(outcome.out)) << outcome.out;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result.at("format"), "trnsim.result.v1");
  for (const char* key : {"scenario", "version", "runs", "comparison"})
    EXPECT_TRUE(result.contains(key)) << key;
  const json& own = result.at("runs").at(0);
  for (const char* key :
       {"system", "chips", "step_time_s", "breakdown_s", "communication_s",
        "overlapped_communication_s", "communication_overhead", "tokens_per_s",
        "tokens_per_s_per_chip", "model_tflops_per_s_per_chip", "mfu", "hfu", "memory", "cost",
        "energy", "collectives", "links", "engine", "assumptions"})
    EXPECT_TRUE(own.contains(key)) << key;
  const auto expect_keys = [&](const char* of, const std::vector<const char*>& keys) {
    for (const char* key : keys) EXPECT_TRUE(own.at(of).contains(key)) << of << '.' << key;
  };
  expect_keys("breakdown_s", {"compute", "exposed_communication", "bubble", "optimizer", "other"});
  expect_keys("memory", {"per_chip_bytes", "capacity_bytes", "fits", "parts"});
  expect_keys("cost", {"usd_per_hour", "usd_per_million_tokens"});
  expect_keys("energy", {"watts", "kwh_per_million_tokens"});
  expect_keys("engine", {"fidelity", "folded", "ranks", "classes", "messages",
                         "represented_messages", "wall_s", "peak_rss_bytes"});
  for (const json& assumption : own.at("assumptions"))
    for (const char* key : {"what", "value", "source"}) EXPECT_TRUE(assumption.contains(key));
}

// What follows from the definitions: 32 sequences of 2048 tokens on 16 chips of 989 TFLOP/s.
TEST(Run, PrintsFiguresThatFollowFromEachOther) {
  const json own = result_of("trnsim run " + small + "--json").at("runs").at(0);
  const double step = own.at("step_time_s");
  double sum = 0;
  for (const json& part : own.at("breakdown_s")) sum += part.get<double>();
  EXPECT_NEAR(sum / step, 1, 1e-9);
  EXPECT_EQ(own.at("chips"), 16);
  EXPECT_NEAR(own.at("tokens_per_s").get<double>() * step, 32 * 2048, 1e-6);
  EXPECT_NEAR(own.at("mfu").get<double>() * 989,
              own.at("model_tflops_per_s_per_chip").get<double>(), 1e-9);
  EXPECT_NEAR(own.at("communication_overhead").get<double>() * step,
              own.at("breakdown_s").at("exposed_communication").get<double>(), 1e-12);
  EXPECT_NEAR(own.at("cost").at("usd_per_million_tokens").get<double>(),
              own.at("cost").at("usd_per_hour").get<double>() / 3600 * step / (32 * 2048) * 1e6,
              1e-9);
  uint64_t parts = 0;
  for (const json& part : own.at("memory").at("parts")) parts += part.at("bytes").get<uint64_t>();
  EXPECT_EQ(own.at("memory").at("per_chip_bytes"), parts);
}

TEST(Run, TakesOverrides) {
  const json own = result_of("trnsim run " + small +
                             "--json --set system.units=4 --set layout.data=32 "
                             "--set engine.fold=false")
                       .at("runs")
                       .at(0);
  EXPECT_EQ(own.at("chips"), 32);
  EXPECT_EQ(own.at("engine").at("classes"), 32);
  EXPECT_EQ(own.at("engine").at("messages"), own.at("engine").at("represented_messages"));
}

TEST(Run, WritesItsFilesAndLeavesNoOthers) {
  const TemporaryFolder folder;
  const std::string out = folder.path() / "new" / "out";
  const Outcome outcome = run("trnsim run " + small + "--out " + out);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(out))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names,
            (std::vector<std::string>{"report.html", "report.txt", "result.json", "trace.json"}));
  EXPECT_EQ(test::read_text(out + "/report.txt").rfind(outcome.out, 0), 0);
  EXPECT_TRUE(json::accept(test::read_text(out + "/trace.json")));
  EXPECT_TRUE(json::accept(test::read_text(out + "/result.json")));
}

// What a browser takes as the text of the element of script with this id.
json on_page(const std::string& file, const std::string& id) {
  const std::string page = test::read_text(file);
  const std::string opening = "<script type=\"application/json\" id=\"" + id + "\">";
  const size_t begin = page.find(opening) + opening.size();
  return json::parse(page.substr(begin, page.find("</script", begin) - begin));
}

TEST(Run, WritesAPageOfItsResultWithItsCommand) {
  const TemporaryFolder folder;
  const std::string out = folder.path() / "it's out";
  ASSERT_EQ(run("trnsim run " + small + "--out \"" + out + "\"").exit_code, 0);
  EXPECT_EQ(on_page(out + "/report.html", "result"),
            json::parse(test::read_text(out + "/result.json")));
  const json beside = on_page(out + "/report.html", "beside");
  ASSERT_EQ(beside.at("timelines").size(), 1);
  EXPECT_EQ(beside.at("timelines")[0].at("run"), 0);
  // As it is, a shell runs the same again, here into an empty folder.
  std::filesystem::remove_all(out);
  const std::string command = beside.at("command");
  EXPECT_NE(command.find(" run tests/bad_inputs/good.json "), std::string::npos) << command;
  EXPECT_EQ(run(command).exit_code, 0) << command;
  EXPECT_EQ(on_page(out + "/report.html", "beside"), beside);
}

TEST(Compare, WritesAPageOfAllThatItShows) {
  const TemporaryFolder folder;
  const std::string one = folder.path() / "one";
  const std::string both = folder.path() / "both";
  ASSERT_EQ(run("trnsim run " + small + "--out " + one).exit_code, 0);
  const Outcome outcome = run("trnsim compare " + one + "/result.json " + small + "--out " + both);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(test::read_text(both + "/result.json"));
  EXPECT_EQ(on_page(both + "/report.html", "result"), result);
  EXPECT_EQ(test::read_text(both + "/report.txt").rfind(outcome.out, 0), 0);
  // A result holds no timeline; of the scenario there is one, that of its own system.
  const size_t before = json::parse(test::read_text(one + "/result.json")).at("runs").size();
  const json beside = on_page(both + "/report.html", "beside");
  ASSERT_EQ(beside.at("timelines").size(), 1);
  EXPECT_EQ(beside.at("timelines")[0].at("run"), before);
  EXPECT_FALSE(std::filesystem::exists(both + "/trace.json"));
}

TEST(Run, LeavesNoFileIfItFails) {
  const TemporaryFolder folder;
  EXPECT_EQ(
      run("trnsim run " + small + "--set layout.data=3 --out " + folder.path().string()).exit_code,
      2);
  EXPECT_EQ(run("trnsim run " + small + "--set layout.zero_stage=0 --out " + folder.path().string())
                .exit_code,
            3);
  EXPECT_TRUE(folder.names().empty()) << folder.names().front();
}

TEST(Run, PrintsTheSameTwice) {
  const std::string line = "trnsim run " + small + "--json";
  EXPECT_EQ(without_time(result_of(line)).dump(), without_time(result_of(line)).dump());
  EXPECT_EQ(run("trnsim run " + small).out, run("trnsim run " + small).out);
}

TEST(Run, DoesNotDependOnTheLocale) {
  const std::string line = "trnsim run " + small + "--json";
  const json here = without_time(result_of(line));
  for (const char* name : {"C", "de_DE.UTF-8", "ar_EG.UTF-8", "nonsense"})
    EXPECT_EQ(without_time(result_of("export LC_ALL=" + std::string(name) + "; " + line)), here);
}

TEST(Run, DoesNotDependOnTheCurrentFolder) {
  const std::string line = "trnsim run '" TRNSIM_SOURCE_DIR "'/" + small + "--json";
  EXPECT_EQ(without_time(result_of("cd /; " + line)), without_time(result_of(line)));
}

// 18 bytes for each of 8,030,261,248 parameters (see memory_test.cpp) are 144.54 GB. Activations
// for each of 32 layers and 2048 tokens: 4 x 8192 + 2 x 8192 + 4096 + 86016 bytes, 9.13 GB. Logits:
// 2048 x 128,256 x 6 bytes, 1.58 GB.
TEST(Run, ExitsWith3AndTheMemoryTableIfTheJobDoesNotFit) {
  const Outcome outcome = run("trnsim run " + small + "--json --set layout.zero_stage=0");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "error: tests/bad_inputs/good.json: the job does not fit in the memory of a chip of p5 "
            "(H100):\n"
            "  parameters          16.06 GB\n"
            "  gradients           32.12 GB\n"
            "  optimizer states    96.36 GB\n"
            "  activations          9.13 GB\n"
            "  logits and loss      1.58 GB\n"
            "  in all             155.25 GB\n"
            "  a chip has          80.00 GB\n");
}

const std::string with_nvl72 =
    "--set 'compare_with=[{\"file\": \"topologies/gb200-nvl72.json\", \"units\": 1}]' "
    "--set training.global_batch=144 ";

TEST(Run, SaysThatAComparedSystemDoesNotFit) {
  const std::string line =
      "trnsim run " + small + with_nvl72 + "--set compare_with.0.chip.hbm.capacity='\"1 GB\"' ";
  const json result = result_of(line + "--json");
  const json& other = result.at("runs").at(1);
  EXPECT_EQ(other.at("memory").at("fits"), false);
  EXPECT_EQ(other.at("memory").at("capacity_bytes"), 1000000000);
  for (const char* key : {"step_time_s", "breakdown_s", "communication_s", "tokens_per_s", "mfu"})
    EXPECT_TRUE(other.at(key).is_null()) << key;
  EXPECT_TRUE(other.at("cost").at("usd_per_million_tokens").is_null());
  EXPECT_TRUE(result.at("comparison").at(0).at("tokens_per_s_ratio").is_null());
  EXPECT_FALSE(result.at("runs").at(0).at("step_time_s").is_null());
  EXPECT_TRUE(contains(run(line).out, "GB200 NVL72 does not fit in memory"));
}

TEST(Compare, ShowsTheResultsOfEarlierRunsAsTheyWere) {
  const TemporaryFolder folder;
  const std::string ring = folder.path() / "ring";
  const std::string direct = folder.path() / "direct";
  ASSERT_EQ(run("trnsim run " + small + "--out " + ring).exit_code, 0);
  ASSERT_EQ(run("trnsim run " + small + "--set layout.algorithm=direct --out " + direct).exit_code,
            0);
  const std::string files = ring + "/result.json " + direct + "/result.json";
  const json both = result_of("trnsim compare --json " + files);
  ASSERT_EQ(both.at("runs").size(), 2);
  EXPECT_EQ(both.at("runs").at(0),
            json::parse(test::read_text(ring + "/result.json")).at("runs").at(0));
  EXPECT_EQ(both.at("runs").at(1),
            json::parse(test::read_text(direct + "/result.json")).at("runs").at(0));
  EXPECT_EQ(run("trnsim compare " + files).exit_code, 0);
}

TEST(Compare, OfOneScenarioIsItsRun) {
  EXPECT_EQ(without_time(result_of("trnsim compare --json " + small)),
            without_time(result_of("trnsim run --json " + small)));
}

TEST(Compare, ShowsAResultWithASystemThatDoesNotFit) {
  const TemporaryFolder folder;
  ASSERT_EQ(run("trnsim run " + small + with_nvl72 +
                "--set compare_with.0.chip.hbm.capacity='\"1 GB\"' --out " + folder.path().string())
                .exit_code,
            0);
  const std::string file = folder.path() / "result.json";
  EXPECT_EQ(result_of("trnsim compare --json " + file), json::parse(test::read_text(file)));
}

TEST(Check, FindsEveryFileOfThisRepositoryRight) {
  const Outcome outcome =
      run("trnsim check $(find topologies workloads scenarios -name '*.json' -not -path "
          "'*/sweeps/*' -not -name claims.json) "
          "tests/bad_inputs/good.json");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
}

TEST(Check, GoesOnAfterAWrongFile) {
  const Outcome outcome =
      run("trnsim check scenarios/quickstart.json tests/bad_inputs/no_format/input.json "
          "topologies/p5.json");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out,
            "scenarios/quickstart.json: a right scenario\ntopologies/p5.json: a right system\n");
  EXPECT_EQ(outcome.err,
            "error: tests/bad_inputs/no_format/input.json: the key \"format\" is missing\n");
}

// Braces would be placeholders, if a message were taken for a format.
TEST(Errors, ShowTextAsItIs) {
  EXPECT_EQ(run("trnsim run '{}{0}%s.json'").err, "error: {}{0}%s.json: no such file\n");
}

}  // namespace
}  // namespace trnsim
