#include "plan/transformer_cost.h"

#include "plan/layer_cost.h"
#include "workload/activations.h"
#include "workload/stages.h"

namespace trnsim {
namespace {

Operation attention(const Architecture& model, const LayerShape& shape) {
  const double part_of_matrix = model.attention == Attention::causal ? 0.5 : 1;
  Operation made{.name = "attention", .kind = Operation::Kind::attention};
  made.flops = 2 * shape.tokens * shape.sequence * (shape.query + shape.value) * part_of_matrix;
  // Queries, keys, values and the result; values are as wide as keys where heads share them.
  const double values = shape.key_value * shape.value / shape.query;
  made.bytes = bf16_bytes * shape.tokens * (shape.query + shape.key_value + values + shape.value);
  made.head_dim = static_cast<double>(model.head_dim);
  made.scores = shape.tokens * shape.sequence * static_cast<double>(model.heads);
  if (model.attention == Attention::causal) made.sequence = shape.sequence;
  return made;
}

// Reads `elements` and its parameters, writes as many elements.
Operation norm(const char* name, double elements, uint64_t parameters) {
  return memory_operation(name, bf16_bytes * (2 * elements + static_cast<double>(parameters)),
                          parameters);
}

// Operation by operation, bytes an element. A layer norm is one kernel forward (reads and writes
// bf16) and two backward (one for the input, one for the parameters:
// torch.nn.functional.layer_norm). An RMS norm in fp32 is a cast, a square, a mean, a product, a
// cast back and the weight: 2 + 4, 4 + 4, 4, 4 + 4, 4 + 2, 2 + 2; backward the same kernels with
// two inputs each.
Operation eager_norm(const char* name, const Architecture& model, const LayerShape& shape) {
  const double elements = shape.norm_tokens * shape.hidden;
  const bool layer = model.norm == Norm::layer;
  Operation made = norm(name, elements, model.norm_parameters());
  made.bytes = (layer ? 4 : 36) * elements;
  made.backward_bytes = (layer ? 10 : 72) * elements;
  made.kernels = layer ? 1 : 6;
  return made;
}

// Fused, the residual is added as part of a norm: one more read and write. Eager, it is a kernel
// that reads two and writes one, and so is the sum of the two gradients.
void add_norm_with_residual(const char* name, const Architecture& model, const Training& training,
                            const LayerShape& shape, Operations& made) {
  const double elements = shape.norm_tokens * shape.hidden;
  if (training.execution == Execution::eager) {
    Operation residual = memory_operation("residual", 3 * bf16_bytes * elements);
    residual.backward_bytes = residual.bytes;
    made.push_back(residual);
    made.push_back(eager_norm(name, model, shape));
    return;
  }
  made.push_back(norm(name, elements, model.norm_parameters()));
  made.back().bytes += 2 * bf16_bytes * elements;
}

// Eager, Q and K are cast to fp32, turned and cast back: 2 + 4, 4 + 4, 4 + 2 bytes an element.
Operation rotary(const Training& training, double query_key) {
  Operation made = memory_operation("rotary embedding", 2 * bf16_bytes * query_key);
  if (training.execution != Execution::eager) return made;
  made.bytes = made.backward_bytes = 20 * query_key;
  made.kernels = 6;  // three for each of Q and K
  return made;
}

Operations embedding(const Architecture& model, const LayerShape& shape,
                     const LayerTransfers& transfers) {
  // One row of each table is read, their sum is written.
  const double tables = 1 + (model.max_positions > 0 ? 1 : 0) + (model.segments > 0 ? 1 : 0);
  const uint64_t rows = model.vocabulary + model.max_positions + model.segments;
  Operations made = {memory_operation(
      "embedding", (tables + 1) * bf16_bytes * shape.tokens * shape.hidden, rows * model.hidden)};
  transfers.after_rows(made);
  if (model.embedding_norm)
    made.push_back(
        norm("embedding norm", shape.norm_tokens * shape.hidden, model.norm_parameters()));
  return made;
}

// A product, and where it has one its adapter: down to the rank and up, whose result is added.
void add_product(const Architecture& model, bool adapted, const Operation& of, Operations& made) {
  made.push_back(of);
  if (!adapted) return;
  const auto rank = static_cast<double>(model.adapters->rank);
  made.push_back(matrix_product(of.name + " adapter down", of.rows, of.inner, rank));
  made.push_back(matrix_product(of.name + " adapter up", of.rows, rank, of.columns));
  for (auto adapter = made.end() - 2; adapter != made.end(); ++adapter)
    adapter->full_precision = true;
  made.back().bytes += bf16_bytes * of.rows * of.columns;
}

// What the model had before its adapters is not trained.
void freeze(Operations& operations) {
  for (Operation& operation : operations) {
    if (operation.name.find(" adapter ") != std::string::npos) continue;
    operation.parameters = 0;
    operation.frozen = true;
    operation.bias = false;
  }
}

// Queries, and keys with values, by way of a latent that every rank of tensor makes whole.
void add_latent_products(const Architecture& model, const LayerShape& shape, Operations& made) {
  const LatentAttention& of = *model.latent;
  const auto rank = static_cast<double>(of.key_value_rank);
  const auto query_rank = static_cast<double>(of.query_rank);
  const auto rope = static_cast<double>(of.rope_dim);
  const auto heads = static_cast<double>(model.heads);
  if (of.query_rank > 0) {
    made.push_back(cast_product("query down", shape.tokens, shape.hidden, query_rank, false));
    made.push_back(
        norm("query norm", shape.tokens * query_rank, model.norm_parameters(of.query_rank)));
    made.push_back(cast_product("query up", shape.tokens, query_rank, shape.query, false));
  } else {
    made.push_back(cast_product("query", shape.tokens, shape.hidden, shape.query, false));
  }
  made.push_back(cast_product("key value down", shape.tokens, shape.hidden, rank + rope, false));
  made.push_back(
      norm("key value norm", shape.tokens * rank, model.norm_parameters(of.key_value_rank)));
  made.push_back(cast_product("key value up", shape.tokens, rank,
                              shape.query - heads * rope + shape.value, false));
}

Operations layer(const Architecture& model, const Training& training, const Layout& layout,
                 const LayerShape& shape, const LayerTransfers& transfers) {
  const bool all = model.biases == Biases::all;
  const bool eager = training.execution == Execution::eager;
  const Adapters adapters = model.adapters.value_or(Adapters{});
  const double halves = model.gated_mlp ? 2 : 1;
  const double query_key = shape.tokens * (shape.query + shape.key_value);
  Operations made;
  const auto add = [&](bool adapted, const Operation& of) {
    add_product(model, adapted, of, made);
  };
  add_norm_with_residual("attention norm", model, training, shape, made);
  transfers.before_columns(made);
  if (model.latent)
    add_latent_products(model, shape, made);
  else
    add(adapters.qkv,
        cast_product("qkv", shape.tokens, shape.hidden, shape.query + 2 * shape.key_value,
                     model.biases != Biases::none, eager));
  if (!model.adapters || adapters.qkv) transfers.after_columns(made);
  if (model.qk_norm)
    made.push_back(
        norm("query and key norm", query_key, 2 * model.norm_parameters(model.head_dim)));
  if (model.positions == Positions::rotary) made.push_back(rotary(training, query_key));
  transfers.around_attention(attention(model, shape), made);
  Operation output =
      cast_product("attention output", shape.tokens, shape.value, shape.hidden, all, eager);
  if (model.attention_sinks) output.parameters += model.heads;
  add(adapters.attention_output, output);
  transfers.after_rows(made);
  add_norm_with_residual("mlp norm", model, training, shape, made);
  if (model.experts) {
    add_mixture(model, training, layout, shape, transfers, made);
    return made;
  }
  transfers.before_columns(made);
  add(adapters.mlp_up,
      cast_product("mlp up", shape.tokens, shape.hidden, halves * shape.ffn, all, eager));
  if (!model.adapters || adapters.mlp_up) transfers.after_columns(made);
  made.push_back(mlp_activation(model, training, shape.tokens * shape.ffn));
  add(adapters.mlp_down,
      cast_product("mlp down", shape.tokens, shape.ffn, shape.hidden, all, eager));
  transfers.after_rows(made);
  if (model.adapters) freeze(made);
  return made;
}

// Of the first token of each sequence: a square layer and two classes.
void add_next_sentence_head(const LayerShape& shape, Operations& head) {
  head.push_back(cast_product("pooler", shape.sequences, shape.hidden, shape.hidden, true));
  head.push_back(cast_product("next sentence", shape.sequences, shape.hidden, 2, true));
}

void add_masked_lm_transform(const Architecture& model, const LayerShape& shape, Operations& head) {
  const double elements = shape.tokens * shape.hidden;
  head.push_back(cast_product("head transform", shape.tokens, shape.hidden, shape.hidden, true));
  head.push_back(memory_operation("head activation", 2 * bf16_bytes * elements));
  head.push_back(norm("head norm", elements, model.norm_parameters()));
}

// All but the loss.
Operations head(const Architecture& model, const Training& training, const LayerShape& shape,
                const LayerTransfers& transfers, bool copies_embedding) {
  Operations made;
  if (model.final_norm) add_norm_with_residual("final norm", model, training, shape, made);
  if (model.next_sentence_head) add_next_sentence_head(shape, made);
  if (model.masked_lm_head) add_masked_lm_transform(model, shape, made);
  Operation logits = matrix_product("logits", shape.tokens, shape.hidden, shape.vocabulary);
  logits.full_precision = true;
  // Complete only with the embedding, unless that is on another stage.
  if (model.tied_embeddings && !copies_embedding) logits.parameters = 0;
  if (model.masked_lm_head) logits.parameters += model.vocabulary;
  transfers.before_columns(made);
  made.push_back(logits);
  transfers.after_columns(made);
  return made;
}

// Plain, it reads bf16 logits, makes fp32 probabilities and the gradient of both. Fused, it reads
// bf16 logits forward, and backward reads them again and writes their bf16 gradient.
Operation loss(const Training& training, const LayerShape& shape) {
  const double logit =
      training.loss == Loss::fused ? 3 * bf16_bytes : bf16_bytes + 2 * fp32_bytes + bf16_bytes;
  return memory_operation("loss", logit * shape.tokens * shape.vocabulary);
}

}  // namespace

std::vector<PartOperations> transformer_operations(const Architecture& model,
                                                   const Training& training, const Layout& layout) {
  const LayerShape shape(model, training, layout);
  const LayerTransfers transfers(layout, shape);
  PartOperations first{.name = "embedding", .forward = embedding(model, shape, transfers)};
  first.backward = backward_of(first.forward);
  if (model.adapters) {
    freeze(first.forward);
    // Nothing before the first adapter needs a gradient.
    first.backward = {memory_operation("no gradient", 0)};
    first.backward.front().kernels = 0;
  }
  first.parameters = model.embedding_parameters();
  first.trained = model.trained_embedding_parameters();
  first.kept = embedding_activation_bytes(model, training, layout);

  std::vector<PartOperations> parts{first};
  const auto add_layers = [&](const char* name, const Architecture& of, uint64_t count) {
    if (count == 0) return;
    PartOperations made{
        .name = name, .repeats = count, .forward = layer(of, training, layout, shape, transfers)};
    made.backward = backward_of(made.forward);
    made.parameters = of.layer_parameters();
    made.trained = of.trained_layer_parameters();
    made.routed = of.routed_parameters();
    made.kept = layer_activation_bytes(of, training.keeping_all(), layout);
    made.kept_to_recompute = layer_activation_bytes(of, training, layout);
    parts.push_back(made);
  };
  if (model.experts) {
    add_layers("dense layer", model.dense(), model.dense_layers());
    add_layers("layer", model, model.layers - model.dense_layers());
  } else {
    add_layers("layer", model, model.layers);
  }

  const bool copies = copies_embedding(model, layout);
  PartOperations last{.name = "head", .forward = head(model, training, shape, transfers, copies)};
  if (model.adapters) freeze(last.forward);
  last.backward = backward_of(last.forward);
  last.forward.push_back(loss(training, shape));
  transfers.of_loss(last.forward, shape.tokens);
  last.parameters = model.head_parameters() + (copies ? model.vocabulary * model.hidden : 0);
  last.trained = model.adapters ? 0 : last.parameters;
  last.kept = logits_bytes(model, training, layout);
  parts.push_back(last);
  return parts;
}

}  // namespace trnsim
