#include "workload/schedule.h"

#include <algorithm>

namespace trnsim {
namespace {

// The `index`-th pass of one direction.
Pass pass_of(const Layout& layout, uint64_t index, bool backward) {
  const uint64_t group = layout.pipeline * layout.virtual_stages;
  if (layout.virtual_stages == 1) return {index, 0, backward};
  const uint64_t within = index % group;
  const uint64_t chunk = within / layout.pipeline;
  return {index / group * layout.pipeline + within % layout.pipeline,
          backward ? layout.virtual_stages - 1 - chunk : chunk, backward};
}

// Forward passes before the first that a backward pass follows.
uint64_t warm_up(const Layout& layout, uint64_t stage) {
  const uint64_t after = layout.pipeline - 1 - stage;
  if (layout.schedule == Schedule::one_f_one_b) return after;
  return 2 * after + (layout.virtual_stages - 1) * layout.pipeline;
}

}  // namespace

std::vector<Pass> schedule(const Layout& layout, uint64_t stage, uint64_t microbatches) {
  const uint64_t passes = microbatches * layout.virtual_stages;
  const uint64_t ahead =
      layout.schedule == Schedule::gpipe ? passes : std::min(passes, warm_up(layout, stage));
  std::vector<Pass> made;
  made.reserve(2 * passes);
  for (uint64_t i = 0; i < passes + ahead; ++i) {
    if (i < passes) made.push_back(pass_of(layout, i, false));
    if (i >= ahead) made.push_back(pass_of(layout, i - ahead, true));
  }
  return made;
}

}  // namespace trnsim
