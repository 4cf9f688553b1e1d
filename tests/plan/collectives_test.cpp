// Every schedule is proved by moving sets of chunks: which ranks' contributions each rank's copy of
// each chunk holds. Nothing here knows how a ring or a direct exchange works.

#include "plan/collectives.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "fixtures.h"
#include "plan/groups.h"
#include "plan/trees.h"

namespace trnsim::test {
namespace {

using Chunk = std::vector<Rank>;  // a coordinate for each axis of the group
using Contributors = std::set<Rank>;
using Holdings = std::vector<std::map<Chunk, Contributors>>;  // by rank

// One coordinate for each axis, and at last which half.
std::vector<Chunk> all_chunks(const Group& group) {
  std::vector<Chunk> chunks{{}};
  const auto cross = [&](Rank size) {
    std::vector<Chunk> longer;
    for (const Chunk& chunk : chunks)
      for (Rank i = 0; i < size; ++i) {
        longer.push_back(chunk);
        longer.back().push_back(i);
      }
    chunks = std::move(longer);
  };
  for (const GroupAxis& axis : group.axes) cross(axis.axis.size);
  cross(2);
  return chunks;
}

// The chunks that `sender` sends in this hop to the peer that is `shift` further.
bool is_sent(const Exchange& exchange, const Group& group, Rank sender, uint64_t hop, Rank shift,
             const Chunk& chunk) {
  const auto along = static_cast<size_t>(exchange.region.axis);
  for (size_t a = 0; a < along; ++a)
    if (chunk[a] != group.axes[a].axis.coordinate(sender)) return false;
  const Axis& axis = group.axes[along].axis;
  const Block block = block_of(exchange, axis.size, axis.coordinate(sender), shift, hop);
  const bool in_half = block.half < 0 || chunk.back() == static_cast<Rank>(block.half);
  return in_half && block.contains(chunk[along], axis.size);
}

// What one rank sends to another, as it was when the hop began.
struct Delivery {
  Rank to;
  Chunk chunk;
  Contributors contributors;
};

void exchange_once(const Plan& plan, const Group& group, const Exchange& exchange, uint64_t hop,
                   const std::vector<Chunk>& chunks, Holdings& holdings) {
  std::vector<Delivery> deliveries;
  const Pattern& pattern = plan.patterns[exchange.pattern];
  for (Rank from = 0; from < plan.ranks; ++from) {
    for (const Rank shift : pattern.shifts) {
      if (!pattern.sent(from, shift)) continue;
      const Rank to = pattern.axis.shifted(from, shift);
      ASSERT_NE(from, to);
      for (const Chunk& chunk : chunks) {
        if (!is_sent(exchange, group, from, hop, shift, chunk)) continue;
        ASSERT_TRUE(holdings[from].contains(chunk)) << "sends what it does not have";
        deliveries.push_back({to, chunk, holdings[from].at(chunk)});
      }
    }
  }
  for (const Delivery& delivery : deliveries) {
    Contributors& held = holdings[delivery.to][delivery.chunk];
    if (!exchange.reduces) held.clear();
    for (const Rank contributor : delivery.contributors)
      ASSERT_TRUE(held.insert(contributor).second) << "sums a contribution twice";
  }
}

Holdings move_chunks(const Plan& plan, const Group& group, Holdings holdings) {
  Unrolled program(plan.programs.front(), plan.streams.size());
  while (program.unroll()) {
  }
  const std::vector<Chunk> chunks = all_chunks(group);
  for (Position at = 0; at < program.end(); ++at) {
    const auto* exchange = std::get_if<Exchange>(&program.step(at).work);
    if (exchange == nullptr) continue;
    for (uint64_t hop = 0; hop < exchange->hops; ++hop)
      exchange_once(plan, group, *exchange, hop, chunks, holdings);
  }
  return holdings;
}

Chunk own_chunk(const Group& group, Rank rank, Rank half) {
  Chunk chunk;
  for (const GroupAxis& axis : group.axes) chunk.push_back(axis.axis.coordinate(rank));
  chunk.push_back(half);
  return chunk;
}

Contributors everybody(Rank ranks) {
  Contributors all;
  for (Rank rank = 0; rank < ranks; ++rank) all.insert(rank);
  return all;
}

struct Case {
  std::vector<Rank> sizes;
  CollectiveOp op;
  Algorithm algorithm;
};

std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string name = to_string(info.param.op);
  name += '_' + to_string(info.param.algorithm);
  for (const Rank size : info.param.sizes) name += '_' + std::to_string(size);
  return name;
}

class ChunkSets : public testing::TestWithParam<Case> {
 protected:
  System system_ = [] {
    System system = one_switch(1, 1e9, 0);
    system.scale_up.clear();
    for (size_t i = 0; i < GetParam().sizes.size(); ++i)
      system.scale_up.push_back(dimension("d" + std::to_string(i), FabricDimension::Kind::switched,
                                          GetParam().sizes[i], 1e9, 0));
    return system;
  }();
  static constexpr Bytes bytes = 1'000'003;  // prime: divides by nothing
  Plan plan_ = collective_plan(system_, GetParam().op, GetParam().algorithm, bytes);
  Group group_ = [this] {
    Plan scratch;
    return make_group(scratch, GetParam().op, "all", fabric_axes(system_), {GetParam().algorithm});
  }();
};

TEST_P(ChunkSets, EachRankEndsWithWhatTheCollectivePromises) {
  const Rank ranks = plan_.ranks;
  const std::vector<Chunk> chunks = all_chunks(group_);
  Holdings start(ranks);
  for (Rank rank = 0; rank < ranks; ++rank) {
    if (GetParam().op == CollectiveOp::all_gather)
      for (const Rank half : {0U, 1U}) start[rank][own_chunk(group_, rank, half)] = {rank};
    else
      for (const Chunk& chunk : chunks) start[rank][chunk] = {rank};
  }
  const Holdings end = move_chunks(plan_, group_, start);
  if (HasFatalFailure()) return;
  for (Rank rank = 0; rank < ranks; ++rank) {
    switch (GetParam().op) {
      case CollectiveOp::reduce_scatter:
        for (const Rank half : {0U, 1U})
          EXPECT_EQ(end[rank].at(own_chunk(group_, rank, half)), everybody(ranks));
        break;
      case CollectiveOp::all_reduce:
        ASSERT_EQ(end[rank].size(), chunks.size());
        for (const Chunk& chunk : chunks) EXPECT_EQ(end[rank].at(chunk), everybody(ranks));
        break;
      case CollectiveOp::all_gather:
        ASSERT_EQ(end[rank].size(), chunks.size());
        for (Rank owner = 0; owner < ranks; ++owner)
          for (const Rank half : {0U, 1U})
            EXPECT_EQ(end[rank].at(own_chunk(group_, owner, half)), Contributors{owner});
        break;
      default:
        FAIL() << "moves no shards";
    }
  }
}

// Along an axis of n ranks a pass sends n - 1 shards of what is whole before it, each rounded up;
// in two halves each half.
TEST_P(ChunkSets, SendsAllShardsButOneOfEachAxis) {
  Bytes whole = bytes;
  Bytes once = 0;
  for (const Rank size : GetParam().sizes) {
    const bool halves = GetParam().algorithm == Algorithm::two_way_ring && size > 2;
    const Bytes shard = whole / size + (whole % size != 0 ? 1 : 0);
    once += (size - 1) * (halves ? shard + shard % 2 : shard);
    whole = shard;
  }
  const Bytes expected = GetParam().op == CollectiveOp::all_reduce ? 2 * once : once;
  Unrolled program(plan_.programs.front(), plan_.streams.size());
  while (program.unroll()) {
  }
  std::vector<Bytes> sent(plan_.ranks);
  for (Position at = 0; at < program.end(); ++at) {
    const auto* exchange = std::get_if<Exchange>(&program.step(at).work);
    if (exchange == nullptr) continue;
    const Pattern& pattern = plan_.patterns[exchange->pattern];
    for (Rank rank = 0; rank < plan_.ranks; ++rank)
      for (const Rank shift : pattern.shifts)
        if (pattern.sent(rank, shift)) sent[rank] += exchange->bytes * exchange->hops;
  }
  for (const Bytes of_rank : sent) EXPECT_EQ(of_rank, expected);
  EXPECT_EQ(plan_.collectives.front().sent_per_rank, expected);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const std::vector<std::vector<Rank>> shapes = {
      {1},       {2}, {3}, {8}, {7, 1}, {4, 18}, {2, 3, 5}, {4, 6, 2}, {144},
      {3, 3, 3}, {5}, {6}, {9}, {16},   {37},    {64},      {4, 8, 2}};
  for (const auto& sizes : shapes)
    for (const CollectiveOp op :
         {CollectiveOp::reduce_scatter, CollectiveOp::all_gather, CollectiveOp::all_reduce})
      for (const Algorithm algorithm :
           {Algorithm::ring, Algorithm::two_way_ring, Algorithm::direct,
            Algorithm::halving_doubling, Algorithm::bruck, Algorithm::pat}) {
        const bool possible = std::all_of(sizes.begin(), sizes.end(), [&](Rank size) {
          return size == 1 || !obstacle(algorithm, {"", 1, size});
        });
        if (possible) all.push_back({sizes, op, algorithm});
      }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Shapes, ChunkSets, testing::ValuesIn(cases()), name_of);

// Sanders, Speck and Traeff (2009): both trees span all ranks, with at most two children each, no
// rank has children in both, and no connection is used by both in the same direction.
TEST(DoubleBinaryTree, IsTwoTreesThatShareNoWork) {
  for (Rank n = 4; n <= 200; ++n) {
    std::set<std::pair<Rank, Rank>> edges;
    std::vector<std::array<int, 2>> children(n);
    Rank deepest = 0;
    for (const int tree : {0, 1})
      for (Rank rank = 0; rank < n; ++rank) {
        const auto up = tree_parent(tree, rank, n);
        if (!up) continue;
        EXPECT_TRUE(edges.emplace(rank, *up).second) << n;
        ++children[*up][static_cast<size_t>(tree)];
        Rank depth = 0;
        for (auto at = std::optional(rank); at; at = tree_parent(tree, *at, n)) ++depth;
        deepest = std::max(deepest, depth - 1);
      }
    EXPECT_EQ(edges.size(), 2 * (n - 1)) << n;
    EXPECT_LE(deepest, std::bit_width(n - 1)) << n;
    for (const auto& of : children) {
      EXPECT_LE(of[0], 2);
      EXPECT_LE(of[1], 2);
    }
    // Half of the ranks are leaves of each tree; roots have one child, and of an odd number one
    // rank may be inside both.
    const auto inside_both = std::count_if(children.begin(), children.end(),
                                           [](const auto& of) { return of[0] > 0 && of[1] > 0; });
    EXPECT_LE(inside_both, n % 2 == 0 ? 0 : 1) << n;
  }
}

TEST(Collectives, OneRankSendsNothing) {
  const Plan plan =
      collective_plan(one_switch(1, 1e9, 0), CollectiveOp::all_reduce, Algorithm::ring, 1000);
  EXPECT_TRUE(plan.patterns.empty());
  EXPECT_EQ(plan.collectives.front().sent_per_rank, 0U);
}

TEST(Reduction, LeavesOneChunkOfEachMessageToSum) {
  const Reduction reduction{1e9, 1000};
  EXPECT_DOUBLE_EQ(reduction.tail(5000, 3), 3 * 1000 / 1e9);
  EXPECT_DOUBLE_EQ(reduction.tail(400, 1), 400 / 1e9);
  EXPECT_EQ(Reduction{}.tail(5000, 3), 0);
}

}  // namespace
}  // namespace trnsim::test
