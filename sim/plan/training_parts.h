#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/cost.h"
#include "plan/plan.h"
#include "plan/scenario.h"

namespace trnsim {

/// An operation on a given chip: compute, or a collective between operations.
struct TimedOperation {
  Seconds seconds = 0;
  uint16_t name = 0;  // in Plan::names
  bool recomputation = false;
  std::vector<uint64_t> parameters = {};  // whose gradients are complete after it, as they are
  std::vector<uint64_t> routed = {};      // the same of routed experts that other ranks hold
  std::string what = {};                  // that is transferred
  std::optional<Transfer> transfer = {};
};

/// What is gathered, computed and reduced as one: the embedding (or the stem of a convolutional
/// network), a layer, or the head.
struct ModelPart {
  std::string name;  // parts that differ have different names
  std::vector<TimedOperation> forward;
  std::vector<TimedOperation> backward;
  uint64_t parameters = 0;
  uint64_t trained = 0;     // of them
  uint64_t routed = 0;      // of these, which other ranks hold copies of than of the rest
  Bytes kept = 0;           // activations that its backward pass needs
  bool recomputed = false;  // its forward pass runs again first in the backward pass
  size_t entry = 0;         // of model_operations()
};

/// What one stage has of a model on a chip, part by part: of each of its chunks embedding, layers
/// and head; and the optimizer's step. Parts that are alike are held once.
struct ModelParts {
  struct Place {
    uint32_t kind = 0;
    int32_t layer = 0;  // of the model, or Label::none
  };
  std::vector<ModelPart> kinds;  // in the order in which they first run
  std::vector<Place> sequence;   // chunk after chunk
  std::vector<size_t> chunks;    // where each begins, and where the last one ends
  std::vector<TimedOperation> optimizer;
  size_t count = 0;  // of parts

  const ModelPart& at(size_t index) const { return kinds[sequence[index].kind]; }
  /// Which layer of the model part `index` is, or Label::none.
  int32_t layer_of(size_t index) const { return sequence[index].layer; }
};

/// Costs operations on the job's chip, with their collectives beside them where the layout says so;
/// names them in the plan.
std::vector<TimedOperation> timed(Operations operations, const Job& job, Plan& plan);

/// Costs every operation of a stage of the job on its chip; names them in the plan.
/// `parameters_held` are those that this rank's optimizer updates.
ModelParts time_parts(const Job& job, uint64_t stage, uint64_t parameters_held, Plan& plan);

/// The index of `name` in the plan's names; adds it if it is new.
uint16_t name_index(Plan& plan, const std::string& name);

}  // namespace trnsim
