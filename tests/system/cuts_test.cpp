// Cuts, which are computed from sizes, against all ways to halve small systems and against
// published figures.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>

#include "system/fabrics.h"
#include "system/shape.h"

namespace trnsim {
namespace {

using Kind = FabricDimension::Kind;
using test::bare_system;
using test::dimension;
using test::four_chips_a_unit;
using test::joined;
using test::layer;
using test::Line;
using test::lines_of;
using test::load_system;

// What passes from the chips in `side` to the others. A switch takes what those on one side send
// and gives what those on the other can receive.
double across(const System& system, const std::vector<Line>& lines, uint64_t side) {
  double sum = 0;
  for (const Line& line : lines) {
    const FabricDimension& of = system.scale_up[line.dimension];
    size_t within = 0;
    size_t links = 0;
    const size_t size = line.chips.size();
    for (size_t i = 0; i < size; ++i) {
      if ((side >> line.chips[i] & 1U) == 0) continue;
      ++within;
      if (of.kind == Kind::switched) continue;
      // Both links of a ring of two lead to the same chip.
      for (size_t j = 0; j < size; ++j)
        if ((side >> line.chips[j] & 1U) == 0 && joined(of.kind, i, j, size))
          links += of.kind == Kind::ring && size == 2 ? 2 : 1;
    }
    if (of.kind == Kind::switched) links = std::min(within, size - within);
    sum += static_cast<double>(links) * of.port();
  }
  return sum;
}

// Over all ways to halve the chips.
TEST(CutsOfUnit, HaveTheNarrowestOfAllEvenCuts) {
  for (const std::string& shape :
       {'[' + dimension("a", "switch", 8) + ']', '[' + dimension("a", "ring", 8) + ']',
        '[' + dimension("a", "mesh", 8) + ']', '[' + dimension("a", "ring", 2) + ']',
        '[' + dimension("a", "ring", 4) + ", " + dimension("b", "ring", 4) + ']',
        '[' + dimension("a", "ring", 2) + ", " + dimension("b", "ring", 8) + ']',
        '[' + dimension("a", "switch", 4) + ", " + dimension("b", "mesh", 2) + ']',
        '[' + dimension("a", "switch", 4) + ", " + dimension("b", "switch", 4) + ']',
        '[' + dimension("a", "mesh", 2) + ", " + dimension("b", "ring", 4) + ", " +
            dimension("c", "mesh", 2) + ']'}) {
    const System system = bare_system(shape, "[]", 1, 1);
    const std::vector<Line> lines = lines_of(system);
    const int chips = static_cast<int>(system.chips());
    double least = 1e30;
    for (uint64_t side = 0; side < 1ULL << chips; ++side)
      if (std::popcount(side) * 2 == chips) least = std::min(least, across(system, lines, side));
    EXPECT_DOUBLE_EQ(narrowest(cuts_of_unit(system)).payload, least) << shape;
  }
}

// The same for units below switches: the least that can be cut of a tree, whose links all lead up
// to `node` and down from it, so that the units of `side` cannot send to the others.
struct Tree {
  const System& system;
  uint64_t side;

  // Capacity to be cut if `node`, the switches of layer `height` - 1 (0: a unit), is on the side
  // of the senders, and if it is not.
  std::array<double, 2> cut(size_t height, Rank node) const {
    constexpr double never = 1e30;
    if (height == 0)
      return (side >> node & 1U) != 0 ? std::array{0.0, never} : std::array{never, 0.0};
    const bool top = height == layers_in_use(system).size() + 1;
    const Rank of_group = top ? system.units : layers_in_use(system)[height - 1].units;
    const Rank of_part = height == 1 ? 1 : layers_in_use(system)[height - 2].units;
    // The two NICs of a unit have 4 GB/s each.
    const double link = height == 1 ? 2 * 4e9 : uplinks(system, height - 2).payload;
    std::array<double, 2> sum{0, 0};
    const Rank last = std::min<Rank>(system.units, (node + 1) * of_group);
    for (Rank first = node * of_group; first < last; first += of_part) {
      const std::array<double, 2> part = cut(height - 1, first / of_part);
      sum[0] += std::min(part[0], part[1] + link);
      sum[1] += std::min(part[1], part[0] + link);
    }
    return sum;
  }
};

TEST(CutsBetweenUnits, HaveTheNarrowestOfAllEvenCuts) {
  for (const std::string& layers :
       {std::string("[]"), '[' + layer("leaf", 2, 2) + ']', '[' + layer("leaf", 1, 1) + ']',
        '[' + layer("leaf", 2, 1) + ", " + layer("spine", 4, 3) + ']',
        '[' + layer("leaf", 1, 2) + ", " + layer("spine", 4, 5) + ']'}) {
    const System system = four_chips_a_unit({layers, 8});
    double least = 1e30;
    for (uint64_t side = 0; side < 1U << 8U; ++side) {
      if (std::popcount(side) != 4) continue;
      const auto of = Tree{system, side}.cut(layers_in_use(system).size() + 1, 0);
      least = std::min({least, of[0], of[1]});
    }
    EXPECT_DOUBLE_EQ(narrowest(cuts_between_units(system)).payload, least) << layers;
  }
}

TEST(CutsBetweenUnits, AreNoneOfOneUnit) {
  EXPECT_TRUE(cuts_between_units(four_chips_a_unit({"[]", 1})).empty());
  EXPECT_TRUE(between_units(four_chips_a_unit({"[]", 1})).empty());
}

// An odd number of coordinates is cut as evenly as it can be: 2 of 5.
TEST(CutsOfUnit, SayHowManyChipsTheyPartIfTheyAreUneven) {
  const System system = bare_system(
      '[' + dimension("a", "switch", 5) + ", " + dimension("b", "mesh", 3) + ']', "[]", 1, 1);
  const std::vector<Cut> cuts = cuts_of_unit(system);
  EXPECT_EQ(cuts[0].chips, 2 * 3);
  EXPECT_DOUBLE_EQ(cuts[0].payload, 3 * 2 * 10e9);
  EXPECT_EQ(cuts[1].chips, 5);
  EXPECT_DOUBLE_EQ(cuts[1].payload, 5 * 2 * 10e9);
}

// Google Cloud documentation, TPU v5e page: a pod of 16 x 16 in a torus, 400 GB/s of links a chip
// both ways, has a bisection of 1.6 TB/s; so Google counts one direction. A pod of v5p, 16 x 20 x
// 28 at 100 GB/s, has 2 x 16 x 20 links across its longest axis.
TEST(CutsOfUnit, AreThoseThatGooglePublishes) {
  System v5e = bare_system(
      '[' + dimension("x", "ring", 16) + ", " + dimension("y", "ring", 16) + ']', "[]", 1);
  for (FabricDimension& axis : v5e.scale_up) axis.bandwidth.value = 400e9 / 2 / 4;
  EXPECT_DOUBLE_EQ(narrowest(cuts_of_unit(v5e)).nominal, 1.6e12);
  System v5p = load_system("tpu-v5p.json", 1);
  v5p.scale_up[0].size = 16;
  v5p.scale_up[1].size = 20;
  v5p.scale_up[2].size = 28;
  EXPECT_EQ(narrowest(cuts_of_unit(v5p)).name, "z");
  EXPECT_DOUBLE_EQ(narrowest(cuts_of_unit(v5p)).nominal, 2 * 16 * 20 * 100e9);
}

// AWS's P5 page has a bisection of 3.6 TB/s for 8 H100, which counts both directions. The 130 TB/s
// of an NVL72 (NVIDIA) are what all GPUs send and receive: twice what passes a cut both ways.
TEST(CutsOfUnit, AreThoseOfNvSwitchThatArePublished) {
  const Cut p5 = narrowest(cuts_of_unit(load_system("p5.json", 1)));
  EXPECT_DOUBLE_EQ(2 * p5.nominal, 3.6e12);
  const Cut nvl72 = narrowest(cuts_of_unit(load_system("gb200-nvl72.json", 1)));
  EXPECT_NEAR(4 * nvl72.nominal / 130e12, 1, 0.005);
}

}  // namespace
}  // namespace trnsim
