#include "plan/transformer_cost.h"

#include "workload/activations.h"

namespace trnsim {
namespace {

constexpr double bf16 = 2;  // bytes
constexpr double fp32 = 4;

struct Shape {
  double sequences, tokens, hidden, query, key_value, ffn, vocabulary, sequence;

  Shape(const Architecture& model, const Training& training)
      : sequences(static_cast<double>(training.micro_batch)),
        tokens(static_cast<double>(training.micro_batch * training.sequence_length)),
        hidden(static_cast<double>(model.hidden)),
        query(static_cast<double>(model.heads * model.head_dim)),
        key_value(static_cast<double>(model.kv_heads * model.head_dim)),
        ffn(static_cast<double>(model.ffn)),
        vocabulary(static_cast<double>(model.vocabulary)),
        sequence(static_cast<double>(training.sequence_length)) {}
};

Operation product(const char* name, double rows, double inner, double columns, bool bias) {
  Operation made = matrix_product(name, rows, inner, columns);
  if (bias) made.parameters += static_cast<uint64_t>(columns);
  return made;
}

Operation attention(const Architecture& model, const Shape& shape) {
  const double part_of_matrix = model.attention == Attention::causal ? 0.5 : 1;
  Operation made{.name = "attention", .kind = Operation::Kind::attention};
  made.flops = 4 * shape.tokens * shape.sequence * shape.query * part_of_matrix;
  made.bytes = bf16 * shape.tokens * (2 * shape.query + 2 * shape.key_value);
  return made;
}

// Reads `elements` and its parameters, writes as many elements.
Operation norm(const char* name, double elements, uint64_t parameters) {
  return memory_operation(name, bf16 * (2 * elements + static_cast<double>(parameters)),
                          parameters);
}

// As part of a norm the residual is added: one more read and write.
Operation norm_with_residual(const char* name, const Architecture& model, const Shape& shape) {
  Operation made = norm(name, shape.tokens * shape.hidden, model.norm_parameters());
  made.bytes += 2 * bf16 * shape.tokens * shape.hidden;
  return made;
}

Operations embedding(const Architecture& model, const Shape& shape) {
  // One row of each table is read, their sum is written.
  const double tables = 1 + (model.max_positions > 0 ? 1 : 0) + (model.segments > 0 ? 1 : 0);
  const uint64_t rows = model.vocabulary + model.max_positions + model.segments;
  Operations made = {memory_operation(
      "embedding", (tables + 1) * bf16 * shape.tokens * shape.hidden, rows * model.hidden)};
  if (model.embedding_norm)
    made.push_back(norm("embedding norm", shape.tokens * shape.hidden, model.norm_parameters()));
  return made;
}

Operations layer(const Architecture& model, const Shape& shape) {
  const bool all = model.biases == Biases::all;
  const double halves = model.gated_mlp ? 2 : 1;
  const double query_key = shape.tokens * (shape.query + shape.key_value);
  Operations made = {norm_with_residual("attention norm", model, shape),
                     product("qkv", shape.tokens, shape.hidden, shape.query + 2 * shape.key_value,
                             model.biases != Biases::none)};
  if (model.qk_norm)
    made.push_back(
        norm("query and key norm", query_key, 2 * model.norm_parameters(model.head_dim)));
  if (model.positions == Positions::rotary)
    made.push_back(memory_operation("rotary embedding", 2 * bf16 * query_key));
  made.push_back(attention(model, shape));
  made.push_back(product("attention output", shape.tokens, shape.query, shape.hidden, all));
  made.push_back(norm_with_residual("mlp norm", model, shape));
  made.push_back(product("mlp up", shape.tokens, shape.hidden, halves * shape.ffn, all));
  made.push_back(memory_operation("activation", bf16 * shape.tokens * (halves + 1) * shape.ffn));
  made.push_back(product("mlp down", shape.tokens, shape.ffn, shape.hidden, all));
  return made;
}

// Of the first token of each sequence: a square layer and two classes.
void add_next_sentence_head(const Shape& shape, Operations& head) {
  head.push_back(product("pooler", shape.sequences, shape.hidden, shape.hidden, true));
  head.push_back(product("next sentence", shape.sequences, shape.hidden, 2, true));
}

void add_masked_lm_transform(const Architecture& model, const Shape& shape, Operations& head) {
  const double elements = shape.tokens * shape.hidden;
  head.push_back(product("head transform", shape.tokens, shape.hidden, shape.hidden, true));
  head.push_back(memory_operation("head activation", 2 * bf16 * elements));
  head.push_back(norm("head norm", elements, model.norm_parameters()));
}

// All but the loss.
Operations head(const Architecture& model, const Shape& shape) {
  Operations made;
  if (model.final_norm) made.push_back(norm_with_residual("final norm", model, shape));
  if (model.next_sentence_head) add_next_sentence_head(shape, made);
  if (model.masked_lm_head) add_masked_lm_transform(model, shape, made);
  Operation logits = matrix_product("logits", shape.tokens, shape.hidden, shape.vocabulary);
  logits.full_precision = true;
  if (model.tied_embeddings) logits.parameters = 0;  // complete only with the embedding
  if (model.masked_lm_head) logits.parameters += model.vocabulary;
  made.push_back(logits);
  return made;
}

// Reads bf16 logits, makes fp32 probabilities and the gradient of both.
Operation loss(const Shape& shape) {
  return memory_operation("loss", (bf16 + 2 * fp32 + bf16) * shape.tokens * shape.vocabulary);
}

}  // namespace

std::vector<PartOperations> transformer_operations(const Architecture& model,
                                                   const Training& training) {
  const Shape shape(model, training);
  PartOperations first{.name = "embedding", .forward = embedding(model, shape)};
  first.backward = backward_of(first.forward);
  first.parameters = model.embedding_parameters();
  first.kept = embedding_activation_bytes(model, training);

  PartOperations middle{.name = "layer", .repeats = model.layers, .forward = layer(model, shape)};
  middle.backward = backward_of(middle.forward);
  middle.parameters = model.layer_parameters();
  middle.kept = layer_activation_bytes(model, training);

  PartOperations last{.name = "head", .forward = head(model, shape)};
  last.backward = backward_of(last.forward);
  last.forward.push_back(loss(shape));
  last.parameters = model.head_parameters();
  last.kept = logits_bytes(model, training);
  return {first, middle, last};
}

}  // namespace trnsim
