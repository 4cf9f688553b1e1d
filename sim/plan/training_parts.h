#pragma once

#include <string>
#include <vector>

#include "plan/cost.h"
#include "plan/plan.h"
#include "plan/scenario.h"

namespace trnsim {

/// An operation on a given chip.
struct TimedOperation {
  Seconds seconds = 0;
  uint16_t name = 0;        // in Plan::names
  uint64_t parameters = 0;  // whose gradient is complete after it
  bool recomputation = false;
};

/// What is gathered, computed and reduced as one: the embedding (or the stem of a convolutional
/// network), a layer, or the head.
struct ModelPart {
  std::string name;  // parts that differ have different names
  std::vector<TimedOperation> forward;
  std::vector<TimedOperation> backward;
  uint64_t parameters = 0;
  Bytes kept = 0;  // activations that its backward pass needs
};

/// A model on a chip, part by part: embedding, every layer, head; and the optimizer's step. Parts
/// that are alike are held once.
struct ModelParts {
  std::vector<ModelPart> kinds;    // in the order in which they first run
  std::vector<uint32_t> sequence;  // the kind of each part
  std::vector<TimedOperation> optimizer;
  size_t count = 0;  // of parts

  const ModelPart& at(size_t index) const { return kinds[sequence[index]]; }
  /// Which layer part `index` is, or Label::none.
  int32_t layer_of(size_t index) const {
    return index == 0 || index + 1 == count ? Label::none : static_cast<int32_t>(index - 1);
  }
};

/// Costs every operation of the job on its chip; names them in the plan. `parameters_held` are
/// those that this rank's optimizer updates.
ModelParts time_parts(const Job& job, uint64_t parameters_held, Plan& plan);

/// The index of `name` in the plan's names; adds it if it is new.
uint16_t name_index(Plan& plan, const std::string& name);

}  // namespace trnsim
