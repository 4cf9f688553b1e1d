// Published times of collectives. What is expected are the published measurements.

#include <gtest/gtest.h>

#include <cmath>

#include "errors.h"
#include "result/collective_validation.h"
#include "temporary_folder.h"

namespace trnsim {
namespace {

const std::filesystem::path root = TRNSIM_SOURCE_DIR;

Rules rules() { return load_collective_rules(root / "validation/collectives.json"); }

std::vector<PublishedCollective> published() {
  return load_published_collectives(root / "tests/validation/collectives.json");
}

// Sweeps of 8 H100 from 256 MiB up, where NCCL's own start does not count.
TEST(PublishedCollectives, OfLargeSizesArePredicted) {
  std::vector<PublishedCollective> large;
  for (const PublishedCollective& of : published())
    if ((of.group == "h100-8" || of.group == "p5-1n" || of.group == "azure-h100") &&
        of.bytes >= Bytes{256} << 20)
      large.push_back(of);
  ASSERT_GT(large.size(), 15);
  const CollectiveValidation validation = validate(large, rules(), Fidelity::analytic);
  EXPECT_TRUE(validation.skipped.empty());
  std::vector<double> errors;
  for (const ValidatedCollective& row : validation.rows) errors.push_back(row.error());
  EXPECT_LT(summary_of(errors).mean_absolute, 0.05);
}

// Every measurement is a job, or is refused with a reason; at most 3 % are.
TEST(PublishedCollectives, HaveASystemOrAReason) {
  size_t refused = 0;
  const std::vector<PublishedCollective> all = published();
  for (const PublishedCollective& of : all) {
    const CollectiveReplay replayed = replay(of, rules(), Fidelity::analytic);
    EXPECT_NE(replayed.job.has_value(), !replayed.why.empty()) << of.id;
    if (!replayed.job) ++refused;
  }
  EXPECT_EQ(all.size(), 354);
  EXPECT_LE(refused, 0.03 * static_cast<double>(all.size()));
}

TEST(PublishedCollectives, KeepMeasurementsFromTheRules) {
  for (const PublishedCollective& of : published())
    for (const char* measured : {"time_us", "derived_time_us", "algbw_gbs", "busbw_gbs", "id"})
      EXPECT_FALSE(of.configuration.contains(measured)) << of.id;
}

TEST(PublishedCollectives, SayWhatIsWrongWithARow) {
  const test::TemporaryFolder folder;
  const auto complaint = [&](const std::string& row) {
    return test::error_of(
        [&] { load_published_collectives(folder.write("c.json", "[" + row + "]")); });
  };
  const std::string row =
      R"("group": "g", "source": "s", "system": "x", "accelerator": "H100", "collective": "all_reduce", "n_ranks": 8, "n_nodes": 1, "ranks_per_node": 8, "size_bytes": 8)";
  EXPECT_EQ(complaint(R"({"id": "a", )" + row + "}"), "");
  EXPECT_NE(complaint(R"({"id": "a", )" + row + R"(, "sise": 1})").find("sise: unknown key"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"id": "a", )" + row + R"(}, {"id": "a", )" + row + "}")
                .find("\"a\" names two measurements"),
            std::string::npos);
}

}  // namespace
}  // namespace trnsim
