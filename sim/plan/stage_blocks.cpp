#include "plan/stage_blocks.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trnsim {

StageBlocks::StageBlocks(const Job& job, uint64_t stage, ModelParts parts, bool merged)
    : parts_(std::move(parts)),
      merged_(merged),
      always_busy_(job.layout.sync_every_microbatch ||
                   (job.layout.zero_stage == 3 &&
                    (job.layout.pipeline == 1 || job.layout.reshard_after_forward))),
      passes_(schedule(job.layout, stage, job.microbatches())),
      microbatches_(job.microbatches()) {
  size_t blocks = 0;
  for (const Pass& pass : passes_) {
    first_block_.push_back(blocks);
    blocks += (parts_.chunks[pass.chunk + 1] - parts_.chunks[pass.chunk]) / parts_at_once(pass);
  }
  first_block_.push_back(blocks);
}

size_t StageBlocks::parts_at_once(const Pass& pass) const {
  // Parameters are gathered for the first microbatch, gradients reduced after the last.
  const bool busy = pass.backward ? pass.microbatch + 1 == microbatches_ : pass.microbatch == 0;
  if (!merged_ || always_busy_ || busy) return 1;
  return parts_.chunks[pass.chunk + 1] - parts_.chunks[pass.chunk];
}

StageBlocks::Place StageBlocks::place(size_t block) const {
  const auto after = std::upper_bound(first_block_.begin(), first_block_.end(), block);
  const auto pass_index = static_cast<size_t>(after - first_block_.begin()) - 1;
  const Pass& pass = passes_[pass_index];
  const size_t within = block - first_block_[pass_index];
  const size_t first = parts_.chunks[pass.chunk];
  const size_t last = parts_.chunks[pass.chunk + 1] - 1;
  return {pass_index,
          pass.backward ? last - within : first + within,
          parts_at_once(pass),
          pass.backward,
          static_cast<size_t>(pass.microbatch),
          within == 0,
          block + 1 == first_block_[pass_index + 1]};
}

bool StageBlocks::turns_after(size_t block) const {
  const Place at = place(block);
  if (at.backward || block + 1 >= optimizer()) return false;
  const Place next = place(block + 1);
  return next.backward && next.part == at.part && next.microbatch == at.microbatch;
}

Name name_of(Name::What what, size_t block) { return {what, static_cast<int32_t>(block)}; }

}  // namespace trnsim
