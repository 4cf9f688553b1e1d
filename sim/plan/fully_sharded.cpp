// ZeRO-3, FSDP and hybrid sharding.

#include "plan/data_parallel.h"

namespace trnsim {
namespace {

class FullySharded final : public DataParallel {
 public:
  FullySharded(const Job& job, const StageBlocks& blocks, TrainingCollectives& collectives,
               Plan& plan)
      : layout_(job.layout),
        blocks_(blocks),
        parts_(blocks.parts()),
        held_(job.training.parameter_bytes()),
        wire_(job.training.reduction_bytes()),
        collectives_(collectives) {
    for (const ModelPart& part : parts_.kinds) announce(part, collectives, plan);
  }

  void before(size_t block, Unrolled& program) const override {
    const size_t ahead = layout_.overlap_param_gather ? layout_.prefetch : 0;
    for (size_t next = block == 0 ? 0 : block + ahead; next <= block + ahead; ++next)
      if (gathers(next)) gather(next, ahead, program);
  }

  std::vector<Position> needs(size_t block, const Unrolled& program) const override {
    std::vector<Position> needed;
    if (gathers(block)) needed.push_back(program.at(name_of(Name::What::gathered, block)));
    if (block == 0) return needed;
    const bool must_wait = block == blocks_.optimizer() || !layout_.overlap_grad_reduce;
    const Name reduced = name_of(Name::What::reduced, block - 1);
    if (must_wait && program.has(reduced)) needed.push_back(program.at(reduced));
    return needed;
  }

  void after_operation(size_t block, size_t operation, Position computed,
                       Unrolled& program) const override {
    const StageBlocks::Place at = blocks_.place(block);
    if (at.backward && operation + 1 == parts_.at(at.part).backward.size() && reduces(at))
      reduce(block, computed, program);
  }

  int64_t taken(size_t block) const override {
    const StageBlocks::Place at = blocks_.place(block);
    return at.backward && reduces(at) ? whole_gradient(at.part) : 0;
  }

  int64_t freed(size_t block) const override {
    if (collectives_.shard.axes.empty()) return 0;
    const StageBlocks::Place at = blocks_.place(block);
    const bool stays = stays_gathered() ? !at.backward || !blocks_.is_last_microbatch(at)
                                        : !at.backward && (blocks_.turns_after(block) ||
                                                           !layout_.reshard_after_forward);
    return stays ? 0 : static_cast<int64_t>(held_ * parts_.at(at.part).parameters);
  }

 private:
  // In a pipeline what is not resharded serves all microbatches, of which several are under way.
  bool stays_gathered() const { return layout_.pipeline > 1 && !layout_.reshard_after_forward; }

  // A part stays gathered from its forward to its backward pass where that follows at once.
  bool gathers(size_t block) const {
    if (collectives_.shard.axes.empty() || block >= blocks_.optimizer()) return false;
    const StageBlocks::Place at = blocks_.place(block);
    if (stays_gathered()) return !at.backward && at.microbatch == 0;
    return !at.backward || (layout_.reshard_after_forward && !blocks_.turns_after(block - 1));
  }

  bool reduces(const StageBlocks::Place& at) const {
    if (parts_.at(at.part).trained == 0) return false;
    const bool alone = collectives_.shard.axes.empty() && collectives_.across.axes.empty();
    return !alone && (layout_.sync_every_microbatch || blocks_.is_last_microbatch(at));
  }

  int64_t whole_gradient(size_t part) const {
    // Summed up over microbatches it is there all the time.
    return layout_.sync_every_microbatch ? static_cast<int64_t>(wire_ * parts_.at(part).trained)
                                         : 0;
  }

  void announce(const ModelPart& part, TrainingCollectives& collectives, Plan& plan) {
    if (!collectives.shard.axes.empty()) {
      collectives.announce(plan, CollectiveOp::all_gather, parameters_of(part), collectives.shard,
                           held_ * part.parameters);
      if (part.trained > 0)
        collectives.announce(plan, CollectiveOp::reduce_scatter, gradients_of(part),
                             collectives.shard, wire_ * part.trained);
    }
    if (!collectives.across.axes.empty() && part.trained > 0)
      collectives.announce(plan, CollectiveOp::all_reduce, gradients_of(part), collectives.across,
                           shard_bytes(collectives.shard, wire_ * part.trained));
  }

  static std::string parameters_of(const ModelPart& part) {
    return part.name + std::string(" parameters");
  }
  static std::string gradients_of(const ModelPart& part) {
    return part.name + std::string(" gradients");
  }

  Label label(const StageBlocks::Place& at) const {
    Label made;
    made.layer = parts_.layer_of(at.part);
    made.microbatch = static_cast<int32_t>(at.microbatch);
    return made;
  }

  void gather(size_t block, size_t ahead, Unrolled& program) const {
    const StageBlocks::Place at = blocks_.place(block);
    const ModelPart& part = parts_.at(at.part);
    const Bytes bytes = held_ * part.parameters;
    std::vector<Position> after;
    // A gathered layer is freed when it has been computed: only then is there room for one more.
    if (block > ahead)
      after.push_back(program.at(name_of(Name::What::computed, block - 1 - ahead)));
    const Name reduced = name_of(Name::What::reduced, block - 1);
    if (!layout_.overlap_grad_reduce && block > 0 && program.has(reduced))
      after.push_back(program.at(reduced));
    program.publish(
        name_of(Name::What::gathered, block),
        collectives_.add(program, CollectiveOp::all_gather, parameters_of(part), collectives_.shard,
                         bytes, label(at), std::move(after), static_cast<int64_t>(bytes)));
  }

  void reduce(size_t block, Position computed, Unrolled& program) const {
    const StageBlocks::Place at = blocks_.place(block);
    const ModelPart& part = parts_.at(at.part);
    const Bytes bytes = wire_ * part.trained;
    Position reduced = computed;
    const int64_t freed = -whole_gradient(at.part);
    if (!collectives_.shard.axes.empty())
      reduced = collectives_.add(program, CollectiveOp::reduce_scatter, gradients_of(part),
                                 collectives_.shard, bytes, label(at), {reduced}, 0, freed);
    if (!collectives_.across.axes.empty())
      reduced =
          collectives_.add(program, CollectiveOp::all_reduce, gradients_of(part),
                           collectives_.across, shard_bytes(collectives_.shard, bytes), label(at),
                           {reduced}, 0, collectives_.shard.axes.empty() ? freed : 0);
    program.publish(name_of(Name::What::reduced, block), reduced);
  }

  Layout layout_;
  const StageBlocks& blocks_;
  const ModelParts& parts_;
  Bytes held_;  // bytes of a parameter as it is gathered
  Bytes wire_;  // bytes of a gradient in the reduction
  const TrainingCollectives& collectives_;
};

}  // namespace

std::unique_ptr<const DataParallel> make_fully_sharded(const Job& job, const StageBlocks& blocks,
                                                       TrainingCollectives& collectives,
                                                       Plan& plan) {
  return std::make_unique<FullySharded>(job, blocks, collectives, plan);
}

}  // namespace trnsim
