// Every schedule is proved by moving sets of chunks: which ranks' contributions each rank's copy of
// each chunk holds. Nothing here knows how a ring or a direct exchange works.

#include "plan/collectives.h"

#include <gtest/gtest.h>

#include <set>

#include "fixtures.h"
#include "plan/groups.h"

namespace trnsim::test {
namespace {

using Chunk = std::vector<Rank>;  // a coordinate for each axis of the group
using Contributors = std::set<Rank>;
using Holdings = std::vector<std::map<Chunk, Contributors>>;  // by rank

std::vector<Chunk> all_chunks(const Group& group) {
  std::vector<Chunk> chunks{{}};
  for (const GroupAxis& axis : group.axes) {
    std::vector<Chunk> longer;
    for (const Chunk& chunk : chunks)
      for (Rank i = 0; i < axis.axis.size; ++i) {
        longer.push_back(chunk);
        longer.back().push_back(i);
      }
    chunks = std::move(longer);
  }
  return chunks;
}

// The chunks that `sender` sends in this hop to the peer that is `shift` further.
bool in_region(const Region& region, const Group& group, Rank sender, uint64_t hop, Rank shift,
               const Chunk& chunk) {
  for (size_t a = 0; a < group.axes.size(); ++a) {
    if (region.offset[a] == Region::everything) continue;
    const Axis& axis = group.axes[a].axis;
    int64_t offset = region.offset[a];
    if (region.moving_axis == static_cast<int>(a))
      offset += static_cast<int64_t>(hop) * region.per_hop;
    if (region.peer_axis == static_cast<int>(a)) offset += shift;
    const int64_t size = axis.size;
    const int64_t wanted = ((axis.coordinate(sender) + offset) % size + size) % size;
    if (chunk[a] != wanted) return false;
  }
  return true;
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
      const Rank to = pattern.axis.shifted(from, shift);
      ASSERT_NE(from, to);
      for (const Chunk& chunk : chunks) {
        if (!in_region(exchange.region, group, from, hop, shift, chunk)) continue;
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

Chunk own_chunk(const Group& group, Rank rank) {
  Chunk chunk;
  for (const GroupAxis& axis : group.axes) chunk.push_back(axis.axis.coordinate(rank));
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
  name += info.param.algorithm == Algorithm::ring ? "_ring" : "_direct";
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
    return make_group(scratch, "all", fabric_axes(system_), GetParam().algorithm);
  }();
};

TEST_P(ChunkSets, EachRankEndsWithWhatTheCollectivePromises) {
  const Rank ranks = plan_.ranks;
  const std::vector<Chunk> chunks = all_chunks(group_);
  Holdings start(ranks);
  for (Rank rank = 0; rank < ranks; ++rank) {
    if (GetParam().op == CollectiveOp::all_gather)
      start[rank][own_chunk(group_, rank)] = {rank};
    else
      for (const Chunk& chunk : chunks) start[rank][chunk] = {rank};
  }
  const Holdings end = move_chunks(plan_, group_, start);
  if (HasFatalFailure()) return;
  for (Rank rank = 0; rank < ranks; ++rank) {
    switch (GetParam().op) {
      case CollectiveOp::reduce_scatter:
        EXPECT_EQ(end[rank].at(own_chunk(group_, rank)), everybody(ranks));
        break;
      case CollectiveOp::all_reduce:
        ASSERT_EQ(end[rank].size(), chunks.size());
        for (const Chunk& chunk : chunks) EXPECT_EQ(end[rank].at(chunk), everybody(ranks));
        break;
      case CollectiveOp::all_gather:
        ASSERT_EQ(end[rank].size(), chunks.size());
        for (Rank owner = 0; owner < ranks; ++owner)
          EXPECT_EQ(end[rank].at(own_chunk(group_, owner)), Contributors{owner});
        break;
      case CollectiveOp::broadcast:
        FAIL() << "moves no shards";
    }
  }
}

// Along an axis of n ranks a pass sends n - 1 shards of what is whole before it, each rounded up.
TEST_P(ChunkSets, SendsAllShardsButOneOfEachAxis) {
  Bytes whole = bytes;
  Bytes once = 0;
  for (const Rank size : GetParam().sizes) {
    const Bytes shard = whole / size + (whole % size != 0 ? 1 : 0);
    once += (size - 1) * shard;
    whole = shard;
  }
  const Bytes expected = GetParam().op == CollectiveOp::all_reduce ? 2 * once : once;
  Unrolled program(plan_.programs.front(), plan_.streams.size());
  while (program.unroll()) {
  }
  Bytes sent = 0;
  for (Position at = 0; at < program.end(); ++at)
    if (const auto* exchange = std::get_if<Exchange>(&program.step(at).work))
      sent += exchange->bytes * exchange->hops * plan_.patterns[exchange->pattern].shifts.size();
  EXPECT_EQ(sent, expected);
  EXPECT_EQ(plan_.collectives.front().sent_per_rank, expected);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const std::vector<std::vector<Rank>> shapes = {{1},     {2},       {3},       {8},   {7, 1},
                                                 {4, 18}, {2, 3, 5}, {4, 6, 2}, {144}, {3, 3, 3}};
  for (const auto& sizes : shapes)
    for (const CollectiveOp op :
         {CollectiveOp::reduce_scatter, CollectiveOp::all_gather, CollectiveOp::all_reduce})
      for (const Algorithm algorithm : {Algorithm::ring, Algorithm::direct})
        all.push_back({sizes, op, algorithm});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Shapes, ChunkSets, testing::ValuesIn(cases()), name_of);

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
