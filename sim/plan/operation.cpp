#include "plan/operation.h"

#include <utility>

namespace trnsim {
namespace {

constexpr double bf16 = 2;  // bytes

}  // namespace

Operation matrix_product(const std::string& name, double rows, double inner, double columns) {
  Operation made{.name = name, .kind = Operation::Kind::matrix};
  made.rows = rows;
  made.inner = inner;
  made.columns = columns;
  made.flops = 2 * rows * inner * columns;
  made.bytes = bf16 * (rows * inner + inner * columns + rows * columns);
  made.parameters = static_cast<uint64_t>(inner) * static_cast<uint64_t>(columns);
  return made;
}

Operation grouped_product(const std::string& name, double groups, double rows, double inner,
                          double columns) {
  Operation made = matrix_product(name, rows, inner, columns);
  made.groups = groups;
  made.flops *= groups;
  made.bytes *= groups;
  made.parameters *= static_cast<uint64_t>(groups);
  return made;
}

Operation memory_operation(const std::string& name, double bytes, uint64_t parameters) {
  return {.name = name, .kind = Operation::Kind::memory, .bytes = bytes, .parameters = parameters};
}

Operation transfer_operation(const std::string& name, Transfer transfer) {
  Operation made{.name = name, .kind = Operation::Kind::transfer};
  made.kernels = 0;
  made.transfer = transfer;
  return made;
}

Operations backward_of(const Operations& forward) {
  Operations backward;
  for (auto op = forward.rbegin(); op != forward.rend(); ++op) {
    Operation made = *op;
    made.backward = true;
    made.routes = false;
    switch (op->kind) {
      case Operation::Kind::matrix:
        made.bias = false;
        made.name = op->name + " input gradient";
        made.parameters = 0;
        std::swap(made.inner, made.columns);  // (rows x columns) (columns x inner)
        if (op->input_gradient) backward.push_back(made);
        if (op->bias)
          backward.push_back(memory_operation(op->name + " bias gradient",
                                              bf16 * op->groups * op->rows * op->columns));
        if (op->frozen) continue;
        made.name = op->name + " weight gradient";
        made.parameters = op->parameters;
        made.rows = op->inner;  // (inner x rows) (rows x columns)
        made.inner = op->rows;
        made.columns = op->columns;
        break;
      case Operation::Kind::attention:
        made.flops *= 2.5;
        made.bytes *= 2;
        break;
      case Operation::Kind::transfer:
        if (!op->transfer.backward_op) continue;
        made.name = op->name + " gradient";
        std::swap(made.transfer.op, made.transfer.backward_op);
        break;
      case Operation::Kind::memory:
        // Reads the input and the output's gradient, writes the input's.
        made.bytes = op->backward_bytes > 0 ? op->backward_bytes : 1.5 * op->bytes;
        break;
    }
    backward.push_back(made);
  }
  return backward;
}

}  // namespace trnsim
