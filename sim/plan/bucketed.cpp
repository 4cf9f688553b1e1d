// DDP, ZeRO-1 and ZeRO-2.

#include <algorithm>

#include "plan/buckets.h"
#include "plan/data_parallel.h"

namespace trnsim {
namespace {

constexpr Bytes bf16 = 2;

class Bucketed final : public DataParallel {
 public:
  Bucketed(const Job& job, const StageBlocks& blocks, TrainingCollectives& collectives, Plan& plan)
      : layout_(job.layout),
        blocks_(blocks),
        wire_(job.training.reduction_bytes()),
        last_operation_(blocks.parts().at(0).backward.size() - 1),
        collectives_(collectives) {
    const ModelParts& parts = blocks.parts();
    if (alone()) return;
    const BucketSize& size = layout_.reduce_bucket;
    gradients_ = gradient_buckets(parts, std::max<uint64_t>(1, size.of(wire_) / wire_),
                                  size.first / wire_, layout_.dynamic_buckets);
    for (const GradientBucket& bucket : gradients_) announce(bucket, collectives, plan);
    if (layout_.zero_stage == 0 || collectives_.shard.axes.empty()) return;
    parameters_ =
        parameter_buckets(parts, std::max<uint64_t>(1, layout_.gather_bucket.of(bf16) / bf16));
    for (const ParameterBucket& bucket : parameters_)
      collectives.announce(plan, CollectiveOp::all_gather, "parameter bucket", collectives.shard,
                           bf16 * bucket.parameters);
  }

  void before(size_t block, Unrolled& program) const override {
    // The parameters that the optimizer of the step before updated.
    if (block > 0) return;
    for (const ParameterBucket& bucket : parameters_)
      program.publish(name_of(Name::What::gathered, bucket.part),
                      collectives_.add(program, CollectiveOp::all_gather, "parameter bucket",
                                       collectives_.shard, bf16 * bucket.parameters, {}, {}));
  }

  std::vector<Position> needs(size_t block, const Unrolled& program) const override {
    std::vector<Position> needed;
    const bool updates = block == blocks_.optimizer();
    if (!updates && !parameters_.empty()) {
      const StageBlocks::Place at = blocks_.place(block);
      if (!at.backward && at.microbatch == 0) {
        // The first bucket that reaches the part, or all of them.
        const auto holds =
            std::find_if(parameters_.begin(), parameters_.end(),
                         [&](const ParameterBucket& bucket) { return bucket.part >= at.part; });
        const size_t part = layout_.overlap_param_gather ? holds->part : parameters_.back().part;
        needed.push_back(program.at(name_of(Name::What::gathered, part)));
      }
    }
    if ((updates || !layout_.overlap_grad_reduce) && program.has(reduced_))
      needed.push_back(program.at(reduced_));
    return needed;
  }

  void after_operation(size_t block, size_t operation, Position computed,
                       Unrolled& program) const override {
    const StageBlocks::Place at = blocks_.place(block);
    const bool reduces = layout_.sync_every_microbatch || blocks_.is_last_microbatch(at);
    if (!at.backward || !reduces) return;
    const bool last_operation = at.part == 0 && operation == last_operation_;
    for (const GradientBucket& bucket : gradients_) {
      const bool now = layout_.overlap_grad_reduce
                           ? bucket.part == at.part && bucket.operation == operation
                           : last_operation;
      if (now) reduce(bucket, at, computed, program);
    }
  }

  int64_t taken(size_t) const override { return 0; }
  int64_t freed(size_t) const override { return 0; }

 private:
  bool alone() const { return collectives_.shard.axes.empty() && collectives_.across.axes.empty(); }
  CollectiveOp reduction() const {
    return layout_.zero_stage == 0 ? CollectiveOp::all_reduce : CollectiveOp::reduce_scatter;
  }

  void announce(const GradientBucket& bucket, TrainingCollectives& collectives, Plan& plan) {
    const Bytes bytes = wire_ * bucket.parameters;
    if (!collectives.shard.axes.empty())
      collectives.announce(plan, reduction(), "gradient bucket", collectives.shard, bytes);
    if (!collectives.across.axes.empty())
      collectives.announce(plan, CollectiveOp::all_reduce, "gradient bucket's shard",
                           collectives.across, shard_bytes(collectives.shard, bytes));
  }

  void reduce(const GradientBucket& bucket, const StageBlocks::Place& at, Position computed,
              Unrolled& program) const {
    const Bytes bytes = wire_ * bucket.parameters;
    Label label;
    label.bucket = bucket.number;
    label.microbatch = static_cast<int32_t>(at.microbatch);
    Position reduced = computed;
    if (!collectives_.shard.axes.empty())
      reduced = collectives_.add(program, reduction(), "gradient bucket", collectives_.shard, bytes,
                                 label, {reduced});
    if (!collectives_.across.axes.empty())
      reduced = collectives_.add(program, CollectiveOp::all_reduce, "gradient bucket's shard",
                                 collectives_.across, shard_bytes(collectives_.shard, bytes), label,
                                 {reduced});
    // Buckets are reduced in order: the last one's end is the end of all.
    program.publish(reduced_, reduced);
  }

  static constexpr Name reduced_{Name::What::reduced};
  Layout layout_;
  const StageBlocks& blocks_;
  Bytes wire_;             // bytes of a gradient in the reduction
  size_t last_operation_;  // of a backward pass
  const TrainingCollectives& collectives_;
  std::vector<GradientBucket> gradients_;
  std::vector<ParameterBucket> parameters_;
};

}  // namespace

std::unique_ptr<const DataParallel> make_bucketed(const Job& job, const StageBlocks& blocks,
                                                  TrainingCollectives& collectives, Plan& plan) {
  return std::make_unique<Bucketed>(job, blocks, collectives, plan);
}

}  // namespace trnsim
