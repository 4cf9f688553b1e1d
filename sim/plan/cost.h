#pragma once

#include <string>
#include <vector>

#include "system/system.h"
#include "workload/architecture.h"
#include "workload/recipe.h"

namespace trnsim {

/// One operation of a chip, by what it needs.
struct Operation {
  enum class Kind { matrix, attention, memory };
  std::string name;
  Kind kind = Kind::memory;
  double flops = 0;
  double bytes = 0;             // that HBM moves
  uint64_t parameters = 0;      // whose gradient is complete after it
  bool recomputation = false;   // done a second time to save memory
  bool full_precision = false;  // runs in bf16 also where the rest is fp8
};

/// The operations of one microbatch of one rank, in the order in which they run. FLOPs count a
/// multiplication and an addition as two; causal attention needs half of its matrix.
std::vector<Operation> embedding_forward(const Architecture& model, const Training& training);
std::vector<Operation> embedding_backward(const Architecture& model, const Training& training);
std::vector<Operation> layer_forward(const Architecture& model, const Training& training);
/// Each matrix product of the forward pass becomes two (for the input and for the weights); fused
/// attention makes its matrix again, 2.5 times the forward FLOPs (FlashAttention-2,
/// arXiv:2307.08691); recomputed operations come first.
std::vector<Operation> layer_backward(const Architecture& model, const Training& training);
/// The final norm, the logits and the loss.
std::vector<Operation> head_forward(const Architecture& model, const Training& training);
std::vector<Operation> head_backward(const Architecture& model, const Training& training);
/// The update of the parameters that this rank holds.
std::vector<Operation> optimizer_step(uint64_t parameters, const Training& training);

/// FLOPs that one microbatch of one rank does a second time to save memory.
double recomputed_flops(const Architecture& model, const Training& training);

/// Seconds that a chip takes: the larger of FLOPs and bytes over what the chip reaches of its peaks
/// (roofline; Williams et al., CACM 2009), and the chip's overhead for an operation.
Seconds duration(const Operation& operation, const Chip& chip, const std::string& precision);

}  // namespace trnsim
