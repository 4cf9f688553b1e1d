#include "result/comparison.h"

#include <gtest/gtest.h>

#include <limits>

#include "fixtures.h"
#include "plan/comparison.h"
#include "result/simulate.h"

namespace trnsim::test {
namespace {

Job job_of(Rank units, double peak, double price) {
  System system = one_switch(4, 1e9, 1e-6);
  system.units = units;
  system.chip.peak["bf16"] = exactly(peak);
  system.prices["capacity_block"] = exactly(price);
  Job job = small_job(system);
  job.training.global_batch = 64;
  return job;
}

TEST(EqualAmounts, RoundUnitsDownToWhereTheBatchDivides) {
  const Job own = job_of(4, 100e12, 3);  // 16 chips, 1600 TFLOP/s, 48 USD/h, 17.6 kW
  EXPECT_EQ(units_at(own, job_of(1, 400e12, 6), "chips"), 4U);
  EXPECT_EQ(units_at(own, job_of(1, 400e12, 6), "flops"), 1U);
  EXPECT_EQ(units_at(own, job_of(1, 100e12, 6), "cost"), 2U);
  EXPECT_EQ(units_at(own, job_of(1, 100e12, 3), "power"), 4U);
  // 48 / 3.9 is 12 chips, three units; but 64 sequences do not divide by 12 ranks.
  EXPECT_EQ(units_at(own, job_of(1, 100e12, 3.9), "cost"), 2U);
  EXPECT_DOUBLE_EQ(amount(own, "cost"), 48);
  EXPECT_DOUBLE_EQ(amount(own, "power"), 16 * 1100);
  EXPECT_DOUBLE_EQ(amount(own, "flops"), 1600e12);
}

TEST(SetUnits, LeavesAJobAloneWhereItCannotFollow) {
  Job job = job_of(1, 100e12, 1);
  EXPECT_FALSE(set_units(job, 3));
  EXPECT_EQ(job.system.units, 1U);
  EXPECT_TRUE(set_units(job, 8));
  EXPECT_EQ(job.layout.data, 32U);
}

TEST(EqualTime, FindsTheFewestUnitsThatAreAsFast) {
  const Job own = job_of(4, 1e9, 1);
  const Job matched = matched_in_time(own, job_of(1, 1e9, 1));
  EXPECT_EQ(matched.system.units, 4U);  // the same system needs as many
  const Job faster = matched_in_time(own, job_of(1, 2e9, 1));
  EXPECT_LE(faster.system.units, 2U + 1U);
  EXPECT_LE(analytic_step(faster), analytic_step(own));
}

TEST(BestLayout, FitsAndIsNoSlowerThanWhatWasAsked) {
  Job job = job_of(4, 1e12, 1);
  job.layout.zero_stage = 3;
  job.layout.shard = job.layout.data;
  const Job best = best_layout(job);
  EXPECT_LE(analytic_step(best), analytic_step(job));
  // Nothing but full sharding fits here; then that is what is found.
  job.system.chip.hbm_capacity =
      exactly(static_cast<double>(total(memory_parts(job.model, job.training, job.layout))));
  EXPECT_LE(analytic_step(best_layout(job)), analytic_step(job));
  job.system.chip.hbm_capacity = exactly(10);
  EXPECT_EQ(analytic_step(best_layout(job)), std::numeric_limits<double>::infinity());
}

// The changes and what is left sum to the difference; an equal system has none.
TEST(Explain, SumsToTheDifference) {
  const Job own = job_of(4, 1e12, 1);
  Job other = own;
  other.system.chip.peak["bf16"] = exactly(3e12);
  other.system.scale_up.front().bandwidth = exactly(5e9);
  const Comparison comparison = explain(own, other, "chips");
  Seconds sum = 0;
  for (const Reason& reason : comparison.reasons) sum += reason.change;
  const Seconds difference = analytic_step(other) - analytic_step(own);
  EXPECT_NEAR(sum, difference, 1e-12 * analytic_step(own));
  for (const Reason& reason : explain(own, own, "chips").reasons)
    EXPECT_NEAR(reason.change, 0, 1e-12 * analytic_step(own)) << reason.property;
}

}  // namespace
}  // namespace trnsim::test
