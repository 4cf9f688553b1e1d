// The verb topology: its tables, its JSON, its files.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"

namespace trnsim {
namespace {

using nlohmann::json;
using test::Outcome;
using test::run;

const std::string trn3 = "trnsim topology topologies/trn3-gen2-ultraserver.json ";

// 144 x 143 pairs in each unit. Mean hops: (3/4 + 17/18 + 1/2) x 144/143 = 2.2098; mean latency
// (1.5 x 3/4 + 1.7 x 17/18 + 1.5 x 1/2) x 144/143 = 3.505 us. Cuts: 72 ports of 512 GB/s x 0.8,
// 72 cables of 128 GB/s x 0.8; half of four units have 144 NICs of 50 GB/s x 0.75. The route is the
// worked example of docs/systems.md.
TEST(Topology, ShowsTheUltraServerOfTheDocuments) {
  const Outcome outcome = run(trn3 + "--units 4 --from 17 --to 103");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out, test::read_text(TRNSIM_SOURCE_DIR "/tests/cli/topology_trn3.txt"));
}

TEST(Topology, PrintsTheSameAsJson) {
  const Outcome outcome = run(trn3 + "--units 4 --from 17 --to 103 --json");
  EXPECT_EQ(outcome.exit_code, 0);
  const json shown = json::parse(outcome.out, nullptr, /*allow_exceptions=*/false);
  EXPECT_EQ(shown.at("format"), "trnsim.topology.v1");
  EXPECT_EQ(shown.at("chips"), 576);
  EXPECT_EQ(shown.at("scale_up").at("dimensions").size(), 3);
  EXPECT_EQ(shown.at("scale_out").at("layers").size(), 1);
  EXPECT_EQ(shown.at("links").size(), 9);
  const json& inside = shown.at("distances").at("inside_a_unit");
  EXPECT_EQ(inside.at("pairs"), 4 * 144 * 143);
  EXPECT_NEAR(inside.at("mean_hops").get<double>(), (3.0 / 4 + 17.0 / 18 + 1.0 / 2) * 144 / 143,
              1e-12);
  EXPECT_EQ(shown.at("bisection").at("unit").at(2).at("narrowest"), true);
  EXPECT_NEAR(shown.at("bisection").at("unit").at(2).at("payload_bytes_per_s").get<double>(),
              72 * 128e9 * 0.8, 1);
  EXPECT_EQ(shown.at("route").at("links").size(), 5);
  EXPECT_EQ(shown.at("route").at("bottleneck"), "unit 0 chip 31 twin");
  EXPECT_NEAR(shown.at("route").at("latency_s").get<double>(), 4.7e-6, 1e-15);
}

TEST(Topology, TakesSetAndUnits) {
  const Outcome outcome =
      run(trn3 + "--units 2 --set scale_up.dimensions.2.bandwidth='\"64 GB/s\"' --json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const json shown = json::parse(outcome.out, nullptr, /*allow_exceptions=*/false);
  EXPECT_EQ(shown.at("units"), 2);
  EXPECT_EQ(shown.at("scale_up").at("dimensions").at(2).at("port_bytes_per_s"), 64e9);
}

TEST(Topology, WritesAPictureAndAPlatform) {
  const test::TemporaryFolder folder;
  const std::string dot = folder.path() / "unit.dot";
  const std::string platform = folder.path() / "platform.xml";
  const Outcome outcome =
      run("trnsim topology topologies/trn2.json --dot " + dot + " --platform " + platform);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(test::read_text(dot).starts_with("// Rendered by"));
  EXPECT_TRUE(test::read_text(platform).starts_with("<?xml"));
  EXPECT_EQ(folder.names().size(), 2);
}

// Two GPUs on an NVSwitch, each on a leaf switch of its own.
TEST(Topology, ImportsWhatItThenShows) {
  const test::TemporaryFolder folder;
  const std::string out = folder.path() / "imported.json";
  const Outcome made =
      run("trnsim topology --import simai tests/fuzz/seeds/simai --chip "
          "topologies/chips/a100-80gb.json --out " +
          out);
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(made.out, "");
  EXPECT_EQ(made.err,
            "left out: the GPU type (A100), which names the chip and says nothing of it\n"
            "left out: the GPUs of a server (2): ranks are one axis\n"
            "left out: routing over all of equally short ways: of several one is taken\n");
  const Outcome outcome = run("trnsim topology " + out + " --from 0 --to 1 --json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const json shown = json::parse(outcome.out, nullptr, /*allow_exceptions=*/false);
  EXPECT_EQ(shown.at("graph").at("chips"), json({"GPU 0", "GPU 1"}));
  EXPECT_EQ(shown.at("graph").at("switches"), json({"NVSwitch 2", "switch 3", "switch 4"}));
  // Over the NVSwitch, two cables of 25 ns.
  EXPECT_EQ(shown.at("route").at("links").size(), 2);
  EXPECT_EQ(shown.at("route").at("payload_bytes_per_s"), 300e9);
  EXPECT_NEAR(shown.at("route").at("latency_s").get<double>(), 50e-9, 1e-18);
  EXPECT_FALSE(shown.contains("bisection"));
}

// A refused platform leaves no file behind.
TEST(Topology, WritesNothingIfTheInputIsWrong) {
  const test::TemporaryFolder folder;
  const Outcome outcome =
      run(trn3 + "--units 24 --platform " + (folder.path() / "platform.xml").string());
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace trnsim
