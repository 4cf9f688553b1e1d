// DDP, ZeRO-1 and ZeRO-2.

#include <algorithm>

#include "plan/buckets.h"
#include "plan/data_parallel.h"

namespace trnsim {
namespace {

// What is reduced and gathered over the same ranks.
struct Family {
  int32_t number = 0;
  std::string of;  // "", or whose parameters they are
  const Group* shard = nullptr;
  const Group* across = nullptr;
  std::vector<GradientBucket> gradients = {};
  std::vector<ParameterBucket> parameters = {};

  bool alone() const { return shard->axes.empty() && across->axes.empty(); }
  std::string gradient() const { return of + "gradient bucket"; }
  std::string gradient_shard() const { return of + "gradient bucket's shard"; }
  std::string parameter() const { return of + "parameter bucket"; }
  /// The last of the buckets in the order in which they are reduced, and the gather that reaches a
  /// part.
  Name reduced() const { return {Name::What::reduced, number}; }
  Name gathered(size_t part) const {
    return {Name::What::gathered, static_cast<int32_t>(part), number};
  }
};

class Bucketed final : public DataParallel {
 public:
  Bucketed(const Job& job, const StageBlocks& blocks, TrainingCollectives& collectives, Plan& plan)
      : layout_(job.layout),
        blocks_(blocks),
        held_(job.training.parameter_bytes()),
        wire_(job.training.reduction_bytes()),
        last_operation_(blocks.parts().at(0).backward.size() - 1),
        collectives_(collectives) {
    fill({0, "", &collectives.shard, &collectives.across}, Held::by_replicas, collectives, plan);
    if (layout_.splits_experts())
      fill({1, "expert ", &collectives.expert_replicas, &nobody_}, Held::by_expert_replicas,
           collectives, plan);
  }

  void before(size_t block, Unrolled& program) const override {
    // The parameters that the optimizer of the step before updated.
    if (block > 0) return;
    for (const Family& family : families_)
      for (const ParameterBucket& bucket : family.parameters)
        program.publish(family.gathered(bucket.part),
                        collectives_.add(program, CollectiveOp::all_gather, family.parameter(),
                                         *family.shard, held_ * bucket.parameters, {}, {}));
  }

  std::vector<Position> needs(size_t block, const Unrolled& program) const override {
    std::vector<Position> needed;
    const bool updates = block == blocks_.optimizer();
    for (const Family& family : families_) {
      if (!updates && !family.parameters.empty()) {
        const StageBlocks::Place at = blocks_.place(block);
        if (!at.backward && at.microbatch == 0)
          needed.push_back(program.at(family.gathered(gathered_for(family, at.part))));
      }
      if ((updates || !layout_.overlap_grad_reduce) && program.has(family.reduced()))
        needed.push_back(program.at(family.reduced()));
    }
    return needed;
  }

  void after_operation(size_t block, size_t operation, Position computed,
                       Unrolled& program) const override {
    const StageBlocks::Place at = blocks_.place(block);
    const bool reduces = layout_.sync_every_microbatch || blocks_.is_last_microbatch(at);
    if (!at.backward || !reduces) return;
    const bool last_operation = at.part == 0 && operation == last_operation_;
    for (const Family& family : families_)
      for (const GradientBucket& bucket : family.gradients) {
        const bool now = layout_.overlap_grad_reduce
                             ? bucket.part == at.part && bucket.operation == operation
                             : last_operation;
        if (now) reduce(family, bucket, at, computed, program);
      }
  }

  int64_t taken(size_t) const override { return 0; }
  int64_t freed(size_t) const override { return 0; }

 private:
  CollectiveOp reduction() const {
    return layout_.zero_stage == 0 ? CollectiveOp::all_reduce : CollectiveOp::reduce_scatter;
  }

  void fill(Family family, Held held, TrainingCollectives& collectives, Plan& plan) {
    if (family.alone()) return;
    const ModelParts& parts = blocks_.parts();
    const BucketSize& size = layout_.reduce_bucket;
    family.gradients = gradient_buckets(parts, held, std::max<uint64_t>(1, size.of(wire_) / wire_),
                                        size.first / wire_, layout_.dynamic_buckets);
    for (const GradientBucket& bucket : family.gradients) {
      const Bytes bytes = wire_ * bucket.parameters;
      if (!family.shard->axes.empty())
        collectives.announce(plan, reduction(), family.gradient(), *family.shard, bytes);
      if (!family.across->axes.empty())
        collectives.announce(plan, CollectiveOp::all_reduce, family.gradient_shard(),
                             *family.across, shard_bytes(*family.shard, bytes));
    }
    if (layout_.zero_stage > 0 && !family.shard->axes.empty()) {
      family.parameters = parameter_buckets(
          parts, held, std::max<uint64_t>(1, layout_.gather_bucket.of(held_) / held_));
      for (const ParameterBucket& bucket : family.parameters)
        collectives.announce(plan, CollectiveOp::all_gather, family.parameter(), *family.shard,
                             held_ * bucket.parameters);
    }
    families_.push_back(std::move(family));
  }

  // The first bucket that reaches the part, or all of them; the last where the part has none.
  size_t gathered_for(const Family& family, size_t part) const {
    const auto holds =
        std::find_if(family.parameters.begin(), family.parameters.end(),
                     [&](const ParameterBucket& bucket) { return bucket.part >= part; });
    return layout_.overlap_param_gather && holds != family.parameters.end()
               ? holds->part
               : family.parameters.back().part;
  }

  void reduce(const Family& family, const GradientBucket& bucket, const StageBlocks::Place& at,
              Position computed, Unrolled& program) const {
    const Bytes bytes = wire_ * bucket.parameters;
    Label label;
    label.bucket = bucket.number;
    label.microbatch = static_cast<int32_t>(at.microbatch);
    Position reduced = computed;
    if (!family.shard->axes.empty())
      reduced = collectives_.add(program, reduction(), family.gradient(), *family.shard, bytes,
                                 label, {reduced});
    if (!family.across->axes.empty())
      reduced =
          collectives_.add(program, CollectiveOp::all_reduce, family.gradient_shard(),
                           *family.across, shard_bytes(*family.shard, bytes), label, {reduced});
    // Buckets are reduced in order: the last one's end is the end of all.
    program.publish(family.reduced(), reduced);
  }

  Layout layout_;
  const StageBlocks& blocks_;
  Bytes held_;             // bytes of a parameter as it is gathered
  Bytes wire_;             // bytes of a gradient in the reduction
  size_t last_operation_;  // of a backward pass
  const TrainingCollectives& collectives_;
  Group nobody_;
  std::vector<Family> families_;
};

}  // namespace

std::unique_ptr<const DataParallel> make_bucketed(const Job& job, const StageBlocks& blocks,
                                                  TrainingCollectives& collectives, Plan& plan) {
  return std::make_unique<Bucketed>(job, blocks, collectives, plan);
}

}  // namespace trnsim
