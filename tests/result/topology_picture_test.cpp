#include "result/topology_picture.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "system/systems.h"

namespace trnsim {
namespace {

using test::bare_system;
using test::load_system;

struct Drawn {
  std::set<std::string> nodes;
  std::vector<std::pair<std::string, std::string>> edges;

  size_t count(const std::string& begin) const {
    return static_cast<size_t>(std::count_if(
        nodes.begin(), nodes.end(), [&](const auto& name) { return name.rfind(begin, 0) == 0; }));
  }
};

Drawn drawn(const std::string& text) {
  static const std::regex node("^  \"([^\"]*)\" \\[pos=");
  static const std::regex edge("^  \"([^\"]*)\" -- \"([^\"]*)\" ");
  Drawn found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, node))
      EXPECT_TRUE(found.nodes.insert(match[1]).second) << match[1] << " twice";
    else if (std::regex_search(line, match, edge))
      found.edges.emplace_back(match[1], match[2]);
  }
  return found;
}

// Whether lines alone, without passing through another chip, join two chips.
bool joined(const Drawn& picture, const std::string& from, const std::string& to) {
  std::set<std::string> reached{from};
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& [one, other] : picture.edges)
      for (const auto& [here, there] : {std::pair{one, other}, std::pair{other, one}})
        if (reached.contains(here) && (here == from || here.rfind("chip", 0) != 0))
          grown = reached.insert(there).second || grown;
  }
  return reached.contains(to);
}

TEST(Picture, HasAPlaceForEachEndOfALine) {
  for (const std::string& file : test::system_files())
    for (const Rank units : {1, 2, 70, 7000}) {
      const Drawn picture = drawn(topology_picture(load_system(file, units)));
      for (const auto& [from, to] : picture.edges)
        EXPECT_TRUE(picture.nodes.contains(from) && picture.nodes.contains(to))
            << file << ": " << from << " to " << to;
    }
}

// The worked example of docs/systems.md: sled 4 has the chips 16 to 19, plane 3 of the first rack
// chip 19 and chip 31, and the twin of chip 3 is chip 75.
TEST(Picture, JoinsWhatTrn3Gen2Joins) {
  const Drawn picture = drawn(topology_picture(load_system("trn3-gen2-ultraserver.json", 1)));
  EXPECT_EQ(picture.count("chip "), 144);
  EXPECT_TRUE(joined(picture, "chip 17", "chip 19"));
  EXPECT_TRUE(joined(picture, "chip 19", "chip 31"));
  EXPECT_TRUE(joined(picture, "chip 3", "chip 75"));
  EXPECT_FALSE(joined(picture, "chip 17", "chip 31"));
  EXPECT_FALSE(joined(picture, "chip 19", "chip 103"));
}

TEST(Picture, HasTheSevenLinksOfEachGpuOfAMesh) {
  const Drawn picture = drawn(topology_picture(load_system("mi300x-roce.json", 1)));
  EXPECT_EQ(picture.count("chip "), 8);
  EXPECT_EQ(picture.edges.size(), 8 * 7 / 2);
}

TEST(Picture, SaysWhatItLeavesOut) {
  const std::string text = topology_picture(load_system("tpu-v5p.json", 1));
  EXPECT_EQ(drawn(text).count("chip "), 8 * 8 * 4);
  EXPECT_NE(
      text.find("z: ring of 8, 2 x 100 GB/s a chip and direction, 1 us a hop; the first 4 are "
                "drawn; drawn from the first row of chips"),
      std::string::npos);
}

// 7,000 units in 125 pods: the first and last of each.
TEST(Picture, HasTheFirstAndTheLastOfEachGroup) {
  const Drawn picture = drawn(topology_picture(load_system("trn3-gen2-ultracluster.json", 7000)));
  for (const char* name : {"top", "pod 0", "pod 124", "leaf 0", "leaf 55", "leaf 6944", "leaf 6999",
                           "unit 0", "unit 55", "unit 6944", "unit 6999"})
    EXPECT_TRUE(picture.nodes.contains(name)) << name;
  EXPECT_EQ(picture.count("unit "), 4);
}

TEST(Picture, QuotesNames) {
  System system = load_system("p5.json", 1);
  system.name = "a \"b\" \\";
  EXPECT_NE(topology_picture(system).find("label=\"One unit of a \\\"b\\\" \\\\: 8 H100 SXM on"),
            std::string::npos);
}

}  // namespace
}  // namespace trnsim
