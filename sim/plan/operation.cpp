#include "plan/operation.h"

namespace trnsim {

Operation matrix_product(const std::string& name, double rows, double inner, double columns) {
  constexpr double bf16 = 2;  // bytes
  Operation made{.name = name, .kind = Operation::Kind::matrix};
  made.flops = 2 * rows * inner * columns;
  made.bytes = bf16 * (rows * inner + inner * columns + rows * columns);
  made.parameters = static_cast<uint64_t>(inner) * static_cast<uint64_t>(columns);
  return made;
}

Operation memory_operation(const std::string& name, double bytes, uint64_t parameters) {
  return {.name = name, .kind = Operation::Kind::memory, .bytes = bytes, .parameters = parameters};
}

Operations backward_of(const Operations& forward) {
  Operations backward;
  for (auto op = forward.rbegin(); op != forward.rend(); ++op) {
    Operation made = *op;
    switch (op->kind) {
      case Operation::Kind::matrix:
        made.name = op->name + " input gradient";
        made.parameters = 0;
        if (op->input_gradient) backward.push_back(made);
        made.name = op->name + " weight gradient";
        made.parameters = op->parameters;
        break;
      case Operation::Kind::attention:
        made.flops *= 2.5;
        made.bytes *= 2;
        break;
      case Operation::Kind::memory:
        made.bytes *= 1.5;  // reads the input and the output's gradient, writes the input's
        break;
    }
    backward.push_back(made);
  }
  return backward;
}

}  // namespace trnsim
