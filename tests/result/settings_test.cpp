// What is passed on to SimGrid reaches it.

#include <gtest/gtest.h>

#include "fixtures.h"
#include "result/collective_run.h"

namespace trnsim::test {
namespace {

TEST(SimgridSettings, ReachIt) {
  CollectiveJob job;
  job.system = one_switch(4, 100e9, 0);
  job.op = CollectiveOp::all_gather;
  job.algorithms.everywhere = Algorithm::direct;
  job.bytes = 400'000'000;
  job.group.count = 4;
  CollectiveJob halved = job;
  halved.engine.simgrid = {{"network/bandwidth-factor", "0.5"}};
  CollectiveJob full = job;
  full.engine.simgrid = {{"network/optim", "Full"}};
  const std::vector<CollectiveRow> rows = run_collectives({job, halved, full});
  EXPECT_NEAR(rows[0].time, 3e-3, 1e-12);  // 300 MB through a port of 100 GB/s
  EXPECT_NEAR(rows[1].time, 6e-3, 1e-12);
  EXPECT_NEAR(rows[2].time, 3e-3, 1e-12);
}

}  // namespace
}  // namespace trnsim::test
