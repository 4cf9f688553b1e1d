// The files of topologies/ hold the published numbers, and all of them say where they come from.

#include <gtest/gtest.h>

#include <set>

#include "errors.h"
#include "system/systems.h"
#include "temporary_folder.h"
#include "workload/software.h"

namespace trnsim {
namespace {

using nlohmann::json;
using test::load_system;
using test::topologies;

std::vector<std::filesystem::path> all_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(topologies()))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  return files;
}

json raw(const std::filesystem::path& file) { return json::parse(test::read_text(file)); }

TEST(Topologies, AllLoad) {
  ASSERT_GE(all_files().size(), 6);
  for (const auto& file : all_files()) {
    const std::string format = raw(file).at("format");
    EXPECT_EQ(test::error_of([&] {
                const Document document = Document::load(file, {});
                std::vector<Number> numbers;
                if (format == "trnsim.chip.v1")
                  read_chip(JsonReader(document));
                else if (format == "trnsim.library.v1")
                  read_library(JsonReader(document), numbers);
                else if (format == "trnsim.software.v1")
                  read_software(JsonReader(document));
                else
                  read_system(JsonReader(document));
              }),
              "");
  }
}

// Walks the raw JSON, so that it holds whatever the reader lets pass: whatever is no name, count,
// kind or file is a number with a source.
void expect_sourced(const json& value, const std::string& place) {
  static const std::set<std::string> plain{"format",    "name",     "note",  "kind",        "size",
                                           "links",     "planes",   "units", "chips",       "file",
                                           "algorithm", "protocol", "rails", "tors_per_nic"};
  ASSERT_TRUE(value.is_structured()) << place << ": " << value;
  if (value.is_object() && value.contains("value")) {
    const std::string source = value.value("source", "");
    EXPECT_GT(source.size(), 10) << place;
    EXPECT_TRUE(source.rfind("assumed", 0) != 0 || value["range"].size() == 2) << place;
    return;
  }
  for (const auto& [key, member] : value.items())
    if (!plain.contains(key)) expect_sourced(member, place + '.' + key);
}

TEST(Topologies, EveryNumberHasASource) {
  for (const auto& file : all_files()) expect_sourced(raw(file), file.filename().string());
}

TEST(Topologies, AssumedNumbersHaveARange) {
  for (const std::string& file : test::system_files())
    for (const Number& number : load_system(file, 1).numbers)
      EXPECT_TRUE(!number.assumed() || number.low < number.high) << file << ": " << number.place;
}

// What all chips of a unit have together.
double all(const System& system, double of_one_chip) {
  return system.chips_per_unit() * of_one_chip;
}

double nics(const System& system) {
  return all(system, system.scale_out.bandwidth) / system.scale_out.chips_per_nic;
}

double links_of_one_chip(const System& system) {
  double sum = 0;
  for (const FabricDimension& dimension : system.scale_up)
    sum += dimension.links * dimension.bandwidth;
  return sum;
}

constexpr double half_percent = 0.005;

// AWS Neuron documentation, Trn3 architecture page, read 2026-08-21: an UltraServer Gen2 has 144
// chips, 362.4 PFLOP/s of MXFP8, 20,736 GiB of HBM (20.25 TiB) at 705.6 TB/s, and 28.8 Tb/s of EFA.
TEST(Topologies, Trn3Gen2UltraServerHasWhatAwsStates) {
  const System system = load_system("trn3-gen2-ultraserver.json", 1);
  EXPECT_EQ(system.chips_per_unit(), 144);
  EXPECT_NEAR(all(system, system.chip.peak.at("fp8")) / 362.4e15, 1, half_percent);
  EXPECT_DOUBLE_EQ(all(system, system.chip.hbm_capacity), 20736.0 * (1 << 30));
  EXPECT_NEAR(all(system, system.chip.hbm_bandwidth) / 705.6e12, 1, half_percent);
  EXPECT_DOUBLE_EQ(nics(system), 28.8e12 / 8);
}

// The same page states 96.6 PFLOP/s of bf16, 671 a chip. We hold the 8 x 79 of the NeuronCore page,
// which TorchTitan divides by too, and keep 671 as the upper end of the range.
TEST(Topologies, Trn3Gen2Bf16PeakReachesToWhatAwsStates) {
  const System system = load_system("trn3-gen2-ultraserver.json", 1);
  const Number& bf16 = system.chip.peak.at("bf16");
  EXPECT_DOUBLE_EQ(bf16, 8 * 79e12);
  EXPECT_NEAR(all(system, bf16.high) / 96.6e15, 1, half_percent);
}

// SemiAnalysis, AWS Trainium3 Deep Dive: 144 active PCIe 6 lanes a chip (64 sled, 64 plane, 16
// twin), of 8 GB/s each way: 1,152 GB/s.
TEST(Topologies, Trainium3HasTheLanesThatSemiAnalysisCounts) {
  EXPECT_DOUBLE_EQ(links_of_one_chip(load_system("trn3-gen2-ultraserver.json", 1)), 144 * 8e9);
}

// AWS EC2 u-p6e-gb200x72: 72 GPUs, 130 TB/s of NVLink both ways, 28.8 Tb/s of EFAv4, a block at
// 761.90 USD/h; 13,320 GB of HBM, against 186 a GPU in NVIDIA's datasheet. 120 kW a rack.
TEST(Topologies, Nvl72HasWhatAwsAndNvidiaState) {
  const System system = load_system("gb200-nvl72.json", 1);
  EXPECT_EQ(system.chips_per_unit(), 72);
  EXPECT_NEAR(2 * all(system, links_of_one_chip(system)) / 130e12, 1, half_percent);
  EXPECT_DOUBLE_EQ(nics(system), 28.8e12 / 8);
  EXPECT_NEAR(all(system, system.prices.at("capacity_block")) / 761.90, 1, half_percent);
  EXPECT_DOUBLE_EQ(all(system, system.chip.hbm_capacity.low), 13320e9);
  EXPECT_DOUBLE_EQ(all(system, system.chip.hbm_capacity), 72 * 186e9);
  EXPECT_DOUBLE_EQ(all(system, system.chip.peak.at("fp4")), 720e15);  // dense
  EXPECT_NEAR(all(system, system.power.chip + system.power.host) / 120e3, 1, half_percent);
}

// AWS EC2 p5.48xlarge: 8 H100, 3.2 Tb/s of EFA, 640 GB of HBM, 3.6 TB/s of bisection over NVSwitch
// (half of the GPUs times 900 GB/s both ways); 55.04 USD/h on demand, 41.53 a block, 23.78
// reserved. DGX H100: 10.2 kW.
TEST(Topologies, P5HasWhatAwsAndNvidiaState) {
  const System system = load_system("p5.json", 1);
  EXPECT_EQ(system.chips_per_unit(), 8);
  EXPECT_DOUBLE_EQ(nics(system), 3.2e12 / 8);
  EXPECT_DOUBLE_EQ(all(system, system.chip.hbm_capacity), 640e9);
  EXPECT_DOUBLE_EQ(all(system, links_of_one_chip(system)), 3.6e12);
  EXPECT_NEAR(all(system, system.prices.at("on_demand")) / 55.04, 1, half_percent);
  EXPECT_NEAR(all(system, system.prices.at("capacity_block")) / 41.53, 1, half_percent);
  EXPECT_NEAR(all(system, system.prices.at("reserved")) / 23.78, 1, half_percent);
  EXPECT_NEAR(all(system, system.power.chip + system.power.host) / 10.2e3, 1, half_percent);
}

// AWS Neuron documentation, Trn1 architecture page: a trn1n.32xlarge has 16 chips and 1,600 Gb/s.
TEST(Topologies, Trn1nHasWhatAwsStates) {
  const System system = load_system("trn1n.json", 1);
  EXPECT_EQ(system.chips_per_unit(), 16);
  EXPECT_DOUBLE_EQ(nics(system), 1600e9 / 8);
}

// AWS, October 2025: nearly 500,000 Trainium2. Its groups of units are whole.
TEST(Topologies, RainierIsNearly500000Chips) {
  const Document document = Document::load(topologies() / "trn2-rainier.json", {});
  const System system = read_system(JsonReader(document));
  EXPECT_LT(system.chips(), 500'000);
  EXPECT_GT(system.chips(), 490'000);
  for (const ClosLayer& layer : system.scale_out.layers) EXPECT_EQ(system.units % layer.units, 0);
}

// AWS, December 2025: FP4 6 times, FP8 3 times, memory bandwidth 4 times that of Trainium3.
TEST(Topologies, Trainium4HasTheRatiosThatAreAnnounced) {
  const Chip third = load_system("trn3-gen2-ultraserver.json", 1).chip;
  const Chip fourth = load_system("trn4-announced.json", 1).chip;
  EXPECT_NEAR(fourth.peak.at("fp4") / third.peak.at("fp4"), 6, 1e-9);
  EXPECT_NEAR(fourth.peak.at("fp8") / third.peak.at("fp8"), 3, 1e-9);
  EXPECT_NEAR(fourth.hbm_bandwidth / third.hbm_bandwidth, 4, 1e-9);
  EXPECT_TRUE(fourth.peak.at("bf16").assumed());
}

// Google: a pod of 9,216 Ironwood chips has 42.5 EFLOP/s of FP8; each chip 1,200 GB/s of links both
// ways, as v5p.
TEST(Topologies, TpusHaveWhatGoogleStates) {
  EXPECT_NEAR(9216 * load_system("tpu-v7x.json", 1).chip.peak.at("fp8") / 42.5e18, 1, half_percent);
  for (const char* file : {"tpu-v5p.json", "tpu-v7x.json"}) {
    const System system = load_system(file, 1);
    EXPECT_DOUBLE_EQ(2 * 2 * links_of_one_chip(system), 1200e9) << file;  // two neighbours an axis
  }
}

// AMD: a platform of 8 MI325X has 2 TB of memory, 6 TB/s a GPU; 8 MI355X have 2.3 TB.
TEST(Topologies, Mi300SeriesHasWhatAmdStates) {
  const System mi325x = load_system("mi325x-roce.json", 1);
  EXPECT_NEAR(all(mi325x, mi325x.chip.hbm_capacity) / 2.048e12, 1, half_percent);
  EXPECT_DOUBLE_EQ(mi325x.chip.hbm_bandwidth, 6e12);
  const System mi355x = load_system("mi355x-roce.json", 1);
  EXPECT_NEAR(all(mi355x, mi355x.chip.hbm_capacity) / 2.3e12, 1, half_percent);
}

}  // namespace
}  // namespace trnsim
