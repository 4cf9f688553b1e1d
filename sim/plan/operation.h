#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "plan/collectives.h"

namespace trnsim {

/// A collective of activations or their gradients between operations of a layer.
struct Transfer {
  enum class Over { tensor, context, experts, experts_inside, experts_across };
  Over over = Over::tensor;
  std::optional<CollectiveOp> op;           // nothing in this pass
  std::optional<CollectiveOp> backward_op;  // of its backward pass, in its place
  Bytes bytes = 0;                          // exchanges_of() says of what
  uint32_t beside = 0;                      // operations after it that do not need its result
  uint32_t copies = 1;                      // of tokens to experts: of each token
};

/// One operation of a chip, by what it needs. FLOPs count a multiplication and an addition as two.
struct Operation {
  enum class Kind { matrix, attention, memory, transfer };
  std::string name;
  Kind kind = Kind::memory;
  double flops = 0;
  double bytes = 0;           // that HBM moves
  double backward_bytes = 0;  // that its backward pass moves, if not what follows from `bytes`
  int kernels = 1;            // that it is launched as
  double rows = 0;            // of a matrix product, (rows x inner) (inner x columns), if known
  double inner = 0;
  double columns = 0;
  double groups = 1;    // of a matrix product: how many such there are in it, one for each expert
  double sequence = 0;  // of attention, tokens, if it is causal
  double head_dim = 0;
  double scores = 0;            // of attention: all that a softmax is taken over, masked or not
  uint32_t blocks = 1;          // of attention: of keys and values, passed round a ring of ranks
  Bytes block_bytes = 0;        // of attention: of one of them
  Transfer transfer = {};       // of a transfer
  double part = 1;              // of a matrix product: what this piece is of what stands here
  bool backward = false;        // a part of the backward pass
  bool casts = false;           // of a matrix product: its inputs are cast where it runs in fp8
  bool bias = false;            // of a matrix product: its gradient takes a pass of its own
  uint64_t parameters = 0;      // whose gradient is complete after it
  bool recomputation = false;   // done a second time to save memory
  bool full_precision = false;  // runs in bf16 also where the rest is fp8
  bool input_gradient = true;   // of a matrix product: something before it has parameters
  bool frozen = false;          // of a matrix product: its weights need no gradient
  bool routed = false;          // its parameters are those of routed experts
  bool of_tokens = false;       // moves tokens to or from their experts
  bool routes = false;          // the host waits for it, to know how many tokens go where
};

using Operations = std::vector<Operation>;

/// A part of a model, or several in a row that are alike: the operations of one microbatch of one
/// rank, in the order in which they run.
struct PartOperations {
  std::string name;
  uint64_t repeats = 1;
  Operations forward = {};
  Operations backward = {};
  Operations again = {};        // what runs before the backward pass where the layer is recomputed
  uint64_t parameters = 0;      // of one of them
  uint64_t trained = 0;         // of these
  uint64_t routed = 0;          // of these, of routed experts
  Bytes kept = 0;               // activations that the backward pass of one of them needs
  Bytes kept_to_recompute = 0;  // and where it runs again
};

/// (rows x inner) times (inner x columns) in bf16; inner x columns are parameters.
Operation matrix_product(const std::string& name, double rows, double inner, double columns);
/// As many of them as groups, in one launch.
Operation grouped_product(const std::string& name, double groups, double rows, double inner,
                          double columns);
/// What is limited by HBM alone.
Operation memory_operation(const std::string& name, double bytes, uint64_t parameters = 0);

/// A collective between operations: `op` in this pass, `backward_op` in its place in the backward
/// pass.
Operation transfer_operation(const std::string& name, Transfer transfer);

/// The backward pass, last operation first. A matrix product becomes two (for the input and for the
/// weights); fused attention makes its matrix again, 2.5 times the forward FLOPs (FlashAttention-2,
/// arXiv:2307.08691), and moves twice its bytes, and passes blocks with their gradients; a memory
/// operation moves 1.5 times its bytes.
Operations backward_of(const Operations& forward);

}  // namespace trnsim
