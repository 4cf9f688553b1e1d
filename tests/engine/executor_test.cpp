// How steps wait, overlap and interfere: hand-made plans with times known beforehand.

#include "engine/executor.h"

#include <gtest/gtest.h>

#include "fixtures.h"
#include "plan/training_step.h"

namespace trnsim::test {
namespace {

constexpr BytesPerSecond port = 1e9;

// A plan over `ranks` chips on one switch, of one block that `write` fills; pattern 0 is the ring.
Plan ring_plan(Rank ranks, const std::function<void(Unrolled&)>& write) {
  Plan plan;
  plan.ranks = ranks;
  plan.streams = {"compute", "a", "b"};
  plan.names = {"step"};
  plan.patterns.push_back({{"switch", 1, ranks}, {1}});
  plan.programs.push_back({1, [write](size_t, Unrolled& program) { write(program); }});
  return plan;
}

Step compute(Seconds seconds, std::vector<Position> after = {}) {
  Step step;
  step.work = Compute{seconds};
  step.after = std::move(after);
  return step;
}

Step exchange(StreamId stream, Bytes bytes, uint64_t hops, std::vector<Position> after = {}) {
  Step step;
  step.stream = stream;
  Exchange work;
  work.bytes = work.payload = bytes;
  work.hops = hops;
  step.work = work;
  step.after = std::move(after);
  step.label.kind = Label::Kind::collective;
  return step;
}

Network switch_of(Rank ranks, Seconds latency = 0) {
  return Network(one_switch(ranks, port, latency));
}

TEST(Executor, RunsAStreamInOrderAndStreamsSideBySide) {
  const Plan plan = ring_plan(4, [](Unrolled& program) {
    program.add(compute(2));
    program.add(compute(3));
    program.add(exchange(1, 1'000'000'000, 1));
  });
  const Played played = play(plan, switch_of(4));
  EXPECT_NEAR(played.ends.at({0, 0}), 2, 1e-9);
  EXPECT_NEAR(played.ends.at({0, 1}), 5, 1e-9);
  EXPECT_NEAR(played.ends.at({0, 2}), 1, 1e-9);
}

// Two collectives at once share each port: both take twice as long.
TEST(Executor, LetsConcurrentCollectivesShareLinks) {
  const Plan plan = ring_plan(4, [](Unrolled& program) {
    program.add(exchange(1, 1'000'000'000, 3));
    program.add(exchange(2, 1'000'000'000, 3));
  });
  for (const bool fold : {true, false}) {
    const Played played = play(plan, switch_of(4), {.fold = fold});
    EXPECT_NEAR(played.step, 6, 1e-8);
    EXPECT_NEAR(played.ends.at({3, 0}), 6, 1e-8);
  }
}

// While the 2 s collective runs, half of the 3 s of compute is lost: 1 s of work is done in it, and
// 2 s are left.
TEST(Executor, SlowsComputeByTheTaxWhileACollectiveRuns) {
  const Plan plan = ring_plan(4, [](Unrolled& program) {
    program.add(compute(3));
    program.add(exchange(1, 1'000'000'000, 2));
  });
  for (const Fidelity fidelity : {Fidelity::message, Fidelity::phase, Fidelity::analytic}) {
    const Played played = play(plan, switch_of(4), {.fidelity = fidelity, .tax = 0.5});
    EXPECT_NEAR(played.ends.at({0, 0}), 4, 1e-9);
  }
}

TEST(Executor, SpeedsUpAndSlowsDownWithEveryCollective) {
  const Plan plan = ring_plan(4, [](Unrolled& program) {
    const Position first = program.add(exchange(1, 1'000'000'000, 1));
    program.add(exchange(2, 1'000'000'000, 1, {first}));
    program.add(compute(4));
  });
  // 2 s at three quarters, the rest at full speed: 2 + 2.5.
  EXPECT_NEAR(play(plan, switch_of(4), {.tax = 0.25}).ends.at({0, 2}), 4.5, 1e-9);
}

// A late rank holds up the message to it and from it (receiver-ready), and through them the others.
TEST(Executor, WaitsForTheReceiver) {
  Plan plan = ring_plan(3, [](Unrolled& program) {
    const Position ready = program.add(compute(1));
    program.add(exchange(1, 1'000'000'000, 1, {ready}));
  });
  plan.speed[1] = 0.5;  // ready at 2 s
  const Played played = play(plan, switch_of(3), {.fold = false});
  // 2 -> 0 goes from 1 s to 2 s; 0 -> 1 and 1 -> 2 go from 2 s to 3 s, and each rank has one of
  // them.
  for (const Rank rank : {0U, 1U, 2U}) EXPECT_NEAR(played.ends.at({rank, 1}), 3, 1e-9);
}

// Stages are different programs that meet in one pattern.
TEST(Executor, LetsDifferentProgramsExchange) {
  Plan plan = ring_plan(2, [](Unrolled& program) {
    const Position ready = program.add(compute(1));
    program.add(exchange(1, 500'000'000, 1, {ready}));
  });
  plan.programs.push_back({1, [](size_t, Unrolled& program) {
                             program.add(compute(1));
                             const Position ready = program.add(compute(3));
                             program.add(exchange(1, 500'000'000, 1, {ready}));
                           }});
  plan.program_of = [](Rank rank) { return rank; };
  for (const bool fold : {true, false}) {
    const Played played = play(plan, switch_of(2), {.fold = fold});
    EXPECT_EQ(played.error, "");
    EXPECT_NEAR(played.ends.at({0, 1}), 4.5, 1e-9);
    EXPECT_NEAR(played.ends.at({1, 2}), 4.5, 1e-9);
  }
}

TEST(Executor, NamesWhatNeverEnded) {
  Plan plan = ring_plan(2, [](Unrolled& program) {
    Step sent = exchange(1, 1000, 1);
    sent.label.layer = 12;
    const Position last = program.add(sent);
    program.add(compute(1, {last}));
  });
  plan.programs.push_back({1, [](size_t, Unrolled& program) { program.add(compute(1)); }});
  plan.program_of = [](Rank rank) { return rank; };
  const Played played = play(plan, switch_of(2));
  EXPECT_EQ(played.error,
            "2 operations never ended\n"
            "  rank 0: collective layer 12: step, hop 0, waits for 2 messages\n"
            "  rank 0: forward: step waits for: collective layer 12: step");
}

TEST(Executor, SendsMessagesOfNoBytes) {
  const Plan plan = ring_plan(4, [](Unrolled& program) { program.add(exchange(1, 0, 3)); });
  EXPECT_NEAR(play(plan, switch_of(4, 2e-6)).step, 6e-6, 1e-15);
}

// 10^12 bytes and times beyond 2^31 ns.
TEST(Executor, KeepsLargeNumbers) {
  const Plan plan = ring_plan(2, [](Unrolled& program) {
    program.add(exchange(1, 1'000'000'000'000, 5));
    program.add(compute(1e7));
  });
  const Played played = play(plan, switch_of(2));
  EXPECT_NEAR(played.ends.at({0, 0}), 5000, 5e-6);
  EXPECT_NEAR(played.ends.at({0, 1}), 1e7, 1e-3);
}

// A thousand microbatches cost what a few do: only the blocks in progress exist.
TEST(Unrolled, ForgetsWhatIsDone) {
  Program program;
  program.blocks = 1'000'000;
  program.write = [](size_t, Unrolled& steps) { steps.add(compute(1)); };
  Unrolled unrolled(program, 1);
  size_t largest = 0;
  while (unrolled.unroll()) {
    if (unrolled.end() > 10) unrolled.forget_before(unrolled.end() - 10);
    largest = std::max<size_t>(largest, unrolled.end() - unrolled.begin());
  }
  EXPECT_EQ(unrolled.end(), 1'000'000U);
  EXPECT_LE(largest, 40U);
}

}  // namespace
}  // namespace trnsim::test
