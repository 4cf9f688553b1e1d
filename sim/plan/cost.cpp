#include "plan/cost.h"

#include <algorithm>
#include <stdexcept>

namespace trnsim {
namespace {

constexpr double bf16 = 2;  // bytes
constexpr double fp32 = 4;

using Operations = std::vector<Operation>;
using Kind = Operation::Kind;

struct Shape {
  double tokens, hidden, query, key_value, ffn, vocabulary, sequence;

  Shape(const Architecture& model, const Training& training)
      : tokens(static_cast<double>(training.micro_batch * training.sequence_length)),
        hidden(static_cast<double>(model.hidden)),
        query(static_cast<double>(model.heads * model.head_dim)),
        key_value(static_cast<double>(model.kv_heads * model.head_dim)),
        ffn(static_cast<double>(model.ffn)),
        vocabulary(static_cast<double>(model.vocabulary)),
        sequence(static_cast<double>(training.sequence_length)) {}
};

Operation product(const char* name, double rows, double inner, double columns) {
  Operation made{.name = name, .kind = Kind::matrix};
  made.flops = 2 * rows * inner * columns;
  made.bytes = bf16 * (rows * inner + inner * columns + rows * columns);
  made.parameters = static_cast<uint64_t>(inner) * static_cast<uint64_t>(columns);
  return made;
}

Operation elementwise(const char* name, double bytes, uint64_t parameters = 0) {
  return {.name = name, .kind = Kind::memory, .bytes = bytes, .parameters = parameters};
}

Operation attention(const Shape& shape) {
  Operation made{.name = "attention", .kind = Kind::attention};
  made.flops = 4 * shape.tokens * shape.sequence * shape.query / 2;
  made.bytes = bf16 * shape.tokens * (2 * shape.query + 2 * shape.key_value);
  return made;
}

// A norm reads its input and writes its output; as part of it the residual is added: one more read
// and write.
Operation norm(const char* name, const Shape& shape) {
  return elementwise(name, 4 * bf16 * shape.tokens * shape.hidden,
                     static_cast<uint64_t>(shape.hidden));
}

// The backward pass of `forward`, last operation first.
Operations backward_of(const Operations& forward) {
  Operations backward;
  for (auto op = forward.rbegin(); op != forward.rend(); ++op) {
    Operation made = *op;
    switch (op->kind) {
      case Kind::matrix:
        made.name += " input gradient";
        made.parameters = 0;
        backward.push_back(made);
        made.name = op->name + " weight gradient";
        made.parameters = op->parameters;
        break;
      case Kind::attention:
        made.flops *= 2.5;
        made.bytes *= 2;
        break;
      case Kind::memory:
        made.bytes *= 1.5;  // reads the input and the output's gradient, writes the input's
        break;
    }
    backward.push_back(made);
  }
  return backward;
}

}  // namespace

Operations embedding_forward(const Architecture& model, const Training& training) {
  const Shape shape(model, training);
  return {elementwise("embedding", 2 * bf16 * shape.tokens * shape.hidden,
                      model.embedding_parameters())};
}

Operations embedding_backward(const Architecture& model, const Training& training) {
  return backward_of(embedding_forward(model, training));
}

Operations layer_forward(const Architecture& model, const Training& training) {
  const Shape shape(model, training);
  const double qkv = shape.query + 2 * shape.key_value;
  const double halves = model.gated_mlp ? 2 : 1;
  return {
      norm("attention norm", shape),
      product("qkv", shape.tokens, shape.hidden, qkv),
      elementwise("rotary embedding", 2 * bf16 * shape.tokens * (shape.query + shape.key_value)),
      attention(shape),
      product("attention output", shape.tokens, shape.query, shape.hidden),
      norm("mlp norm", shape),
      product("mlp up", shape.tokens, shape.hidden, halves * shape.ffn),
      elementwise("activation", bf16 * shape.tokens * (halves + 1) * shape.ffn),
      product("mlp down", shape.tokens, shape.ffn, shape.hidden),
  };
}

Operations layer_backward(const Architecture& model, const Training& training) {
  const Operations forward = layer_forward(model, training);
  Operations backward;
  for (const Operation& op : forward) {
    const bool again = training.recompute == Recompute::full ||
                       (training.recompute == Recompute::selective && op.kind == Kind::attention);
    if (!again) continue;
    Operation repeated = op;
    repeated.recomputation = true;
    repeated.parameters = 0;
    backward.push_back(repeated);
  }
  for (Operation& op : backward_of(forward)) backward.push_back(std::move(op));
  return backward;
}

Operations head_forward(const Architecture& model, const Training& training) {
  const Shape shape(model, training);
  Operation logits = product("logits", shape.tokens, shape.hidden, shape.vocabulary);
  logits.full_precision = true;
  if (model.tied_embeddings) logits.parameters = 0;  // complete only with the embedding
  // Reads bf16 logits, makes fp32 probabilities and the gradient of both.
  return {norm("final norm", shape), logits,
          elementwise("loss", (bf16 + 2 * fp32 + bf16) * shape.tokens * shape.vocabulary)};
}

Operations head_backward(const Architecture& model, const Training& training) {
  Operations forward = head_forward(model, training);
  forward.pop_back();  // the loss already made the gradient of the logits
  return backward_of(forward);
}

Operations optimizer_step(uint64_t parameters, const Training& training) {
  // AdamW reads the gradient, the fp32 copy and both moments, and writes the three and the bf16
  // parameter; SGD has one moment.
  const double moments = training.optimizer == Optimizer::adamw ? 2 : 1;
  const double per_parameter =
      static_cast<double>(training.gradient_bytes()) + 2 * fp32 * (1 + moments) + bf16;
  return {elementwise("optimizer", per_parameter * static_cast<double>(parameters))};
}

double recomputed_flops(const Architecture& model, const Training& training) {
  double flops = 0;
  for (const Operation& op : layer_backward(model, training))
    if (op.recomputation) flops += op.flops;
  return flops * static_cast<double>(model.layers);
}

Seconds duration(const Operation& operation, const Chip& chip, const std::string& precision) {
  // Attention's core and the logits stay in bf16 where the rest of the model is fp8.
  const bool bf16_only = operation.kind == Kind::attention || operation.full_precision;
  const auto peak = chip.peak.find(bf16_only ? "bf16" : precision);
  if (peak == chip.peak.end()) throw std::logic_error("the chip has no peak for this precision");
  const double efficiency =
      operation.kind == Kind::attention ? chip.attention_efficiency : chip.gemm_efficiency;
  const Seconds compute = operation.flops / (peak->second * efficiency);
  const Seconds memory = operation.bytes / (chip.hbm_bandwidth * chip.hbm_efficiency);
  return std::max(compute, memory) + chip.op_overhead;
}

}  // namespace trnsim
