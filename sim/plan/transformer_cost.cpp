#include "plan/transformer_cost.h"

#include "workload/activations.h"
#include "workload/stages.h"

namespace trnsim {
namespace {

constexpr double bf16 = 2;  // bytes
constexpr double fp32 = 4;

// `tokens` are those of one rank; of these norms have only `norm_tokens` under sequence
// parallelism. Each still attends to a whole `sequence`.
struct Shape {
  double sequences, tokens, norm_tokens, hidden, query, key_value, ffn, vocabulary, sequence;

  Shape(const Architecture& model, const Training& training, const Layout& layout)
      : sequences(static_cast<double>(training.micro_batch)),
        tokens(static_cast<double>(training.micro_batch * training.sequence_length) /
               static_cast<double>(layout.context)),
        norm_tokens(tokens / static_cast<double>(layout.sequence_shards())),
        hidden(static_cast<double>(model.hidden)),
        query(static_cast<double>(model.heads * model.head_dim)),
        key_value(static_cast<double>(model.kv_heads * model.head_dim)),
        ffn(static_cast<double>(model.ffn)),
        vocabulary(static_cast<double>(model.vocabulary)),
        sequence(static_cast<double>(training.sequence_length)) {}
};

Operation product(const char* name, double rows, double inner, double columns, bool bias,
                  bool eager = false) {
  Operation made = matrix_product(name, rows, inner, columns);
  made.casts = true;
  if (bias) made.parameters += static_cast<uint64_t>(columns);
  made.bias = bias && eager;  // what is fused sums it up beside the product
  return made;
}

Operation attention(const Architecture& model, const Shape& shape) {
  const double part_of_matrix = model.attention == Attention::causal ? 0.5 : 1;
  Operation made{.name = "attention", .kind = Operation::Kind::attention};
  made.flops = 4 * shape.tokens * shape.sequence * shape.query * part_of_matrix;
  made.bytes = bf16 * shape.tokens * (2 * shape.query + 2 * shape.key_value);
  made.head_dim = static_cast<double>(model.head_dim);
  if (model.attention == Attention::causal) made.sequence = shape.sequence;
  return made;
}

// What tensor and context parallelism put between the operations of a layer.
class Transfers {
 public:
  Transfers(const Layout& layout, const Shape& shape)
      : layout_(layout),
        hidden_(static_cast<Bytes>(bf16 * shape.tokens * shape.hidden)),
        query_(static_cast<Bytes>(bf16 * shape.tokens * shape.query)),
        key_value_(static_cast<Bytes>(2 * bf16 * shape.tokens * shape.key_value)) {}

  // Before products whose columns are split: f of Megatron-LM (arXiv:1909.08053), whose backward
  // pass sums the input's gradient; under sequence parallelism g of arXiv:2205.05198.
  void before_columns(Operations& made) const {
    if (layout_.tensor == 1) return;
    if (layout_.sequence_parallel)
      add(made, {over_tensor, CollectiveOp::all_gather, CollectiveOp::reduce_scatter, hidden_});
    else
      add(made, {over_tensor, {}, CollectiveOp::all_reduce, hidden_});
  }
  // After them: what has been gathered is not kept, so it is gathered again for the weights'
  // gradient, beside the product that makes the input's (arXiv:2205.05198, section 4.2.2).
  void after_columns(Operations& made) const {
    if (layout_.tensor > 1 && layout_.sequence_parallel)
      add(made, {over_tensor, {}, CollectiveOp::all_gather, hidden_, 1});
  }
  // After products whose rows are split, and the embedding.
  void after_rows(Operations& made) const {
    if (layout_.tensor == 1) return;
    if (layout_.sequence_parallel)
      add(made, {over_tensor, CollectiveOp::reduce_scatter, CollectiveOp::all_gather, hidden_});
    else
      add(made, {over_tensor, CollectiveOp::all_reduce, {}, hidden_});
  }
  // Of a loss over a split vocabulary: the largest logit, the target's, and the sum of exponentials
  // of each token (Megatron-LM, vocab_parallel_cross_entropy).
  void of_loss(Operations& made, double tokens) const {
    if (layout_.tensor == 1) return;
    for (int i = 0; i < 3; ++i)
      add(made, {over_tensor, CollectiveOp::all_reduce, {}, static_cast<Bytes>(fp32 * tokens)});
  }

  void around_attention(Operation attention, Operations& made) const {
    if (layout_.context == 1) {
      made.push_back(attention);
      return;
    }
    switch (layout_.context_method) {
      case ContextMethod::ring:
        attention.blocks = static_cast<uint32_t>(layout_.context);
        attention.block_bytes = key_value_;
        attention.sequence /= static_cast<double>(layout_.context);  // of one block
        made.push_back(attention);
        return;
      case ContextMethod::all_gather: {
        const Bytes all = key_value_ * layout_.context;
        add(made, {over_context, CollectiveOp::all_gather, CollectiveOp::reduce_scatter, all});
        made.push_back(attention);
        add(made, {over_context, {}, CollectiveOp::all_gather, all});
        return;
      }
      case ContextMethod::ulysses:
        add(made, {over_context, CollectiveOp::all_to_all, CollectiveOp::all_to_all,
                   query_ + key_value_});
        made.push_back(attention);
        add(made, {over_context, CollectiveOp::all_to_all, CollectiveOp::all_to_all, query_});
    }
  }

 private:
  static constexpr Transfer::Over over_tensor = Transfer::Over::tensor;
  static constexpr Transfer::Over over_context = Transfer::Over::context;

  static void add(Operations& made, const Transfer& transfer) {
    made.push_back(transfer_operation(
        transfer.over == over_tensor ? "activations" : "keys and values", transfer));
  }

  const Layout& layout_;
  Bytes hidden_;     // of the layer's input, of all of the rank's tokens
  Bytes query_;      // of its queries
  Bytes key_value_;  // of its keys and values
};

// Reads `elements` and its parameters, writes as many elements.
Operation norm(const char* name, double elements, uint64_t parameters) {
  return memory_operation(name, bf16 * (2 * elements + static_cast<double>(parameters)),
                          parameters);
}

// Operation by operation, bytes an element. A layer norm is one kernel forward (reads and writes
// bf16) and two backward (one for the input, one for the parameters:
// torch.nn.functional.layer_norm). An RMS norm in fp32 is a cast, a square, a mean, a product, a
// cast back and the weight: 2 + 4, 4 + 4, 4, 4 + 4, 4 + 2, 2 + 2; backward the same kernels with
// two inputs each.
Operation eager_norm(const char* name, const Architecture& model, const Shape& shape) {
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
                            const Shape& shape, Operations& made) {
  const double elements = shape.norm_tokens * shape.hidden;
  if (training.execution == Execution::eager) {
    Operation residual = memory_operation("residual", 3 * bf16 * elements);
    residual.backward_bytes = residual.bytes;
    made.push_back(residual);
    made.push_back(eager_norm(name, model, shape));
    return;
  }
  made.push_back(norm(name, elements, model.norm_parameters()));
  made.back().bytes += 2 * bf16 * elements;
}

// Eager, Q and K are cast to fp32, turned and cast back: 2 + 4, 4 + 4, 4 + 2 bytes an element.
Operation rotary(const Training& training, double query_key) {
  Operation made = memory_operation("rotary embedding", 2 * bf16 * query_key);
  if (training.execution != Execution::eager) return made;
  made.bytes = made.backward_bytes = 20 * query_key;
  made.kernels = 6;  // three for each of Q and K
  return made;
}

// Eager, a gate is an activation (2 + 2 bytes an element) and a product (4 + 2); backward two
// products and the activation's gradient (6 each).
Operation activation(const Architecture& model, const Training& training, const Shape& shape) {
  const double elements = shape.tokens * shape.ffn;
  Operation made = memory_operation("activation", bf16 * (model.gated_mlp ? 3 : 2) * elements);
  if (training.execution != Execution::eager || !model.gated_mlp) return made;
  made.bytes = 10 * elements;
  made.backward_bytes = 18 * elements;
  made.kernels = 2;
  return made;
}

Operations embedding(const Architecture& model, const Shape& shape, const Transfers& transfers) {
  // One row of each table is read, their sum is written.
  const double tables = 1 + (model.max_positions > 0 ? 1 : 0) + (model.segments > 0 ? 1 : 0);
  const uint64_t rows = model.vocabulary + model.max_positions + model.segments;
  Operations made = {memory_operation(
      "embedding", (tables + 1) * bf16 * shape.tokens * shape.hidden, rows * model.hidden)};
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
  made.back().bytes += bf16 * of.rows * of.columns;
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

Operations layer(const Architecture& model, const Training& training, const Shape& shape,
                 const Transfers& transfers) {
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
  add(adapters.qkv, product("qkv", shape.tokens, shape.hidden, shape.query + 2 * shape.key_value,
                            model.biases != Biases::none, eager));
  if (!model.adapters || adapters.qkv) transfers.after_columns(made);
  if (model.qk_norm)
    made.push_back(
        norm("query and key norm", query_key, 2 * model.norm_parameters(model.head_dim)));
  if (model.positions == Positions::rotary) made.push_back(rotary(training, query_key));
  transfers.around_attention(attention(model, shape), made);
  add(adapters.attention_output,
      product("attention output", shape.tokens, shape.query, shape.hidden, all, eager));
  transfers.after_rows(made);
  add_norm_with_residual("mlp norm", model, training, shape, made);
  transfers.before_columns(made);
  add(adapters.mlp_up,
      product("mlp up", shape.tokens, shape.hidden, halves * shape.ffn, all, eager));
  if (!model.adapters || adapters.mlp_up) transfers.after_columns(made);
  made.push_back(activation(model, training, shape));
  add(adapters.mlp_down, product("mlp down", shape.tokens, shape.ffn, shape.hidden, all, eager));
  transfers.after_rows(made);
  if (model.adapters) freeze(made);
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
Operations head(const Architecture& model, const Training& training, const Shape& shape,
                const Transfers& transfers, bool copies_embedding) {
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
Operation loss(const Training& training, const Shape& shape) {
  const double logit = training.loss == Loss::fused ? 3 * bf16 : bf16 + 2 * fp32 + bf16;
  return memory_operation("loss", logit * shape.tokens * shape.vocabulary);
}

}  // namespace

std::vector<PartOperations> transformer_operations(const Architecture& model,
                                                   const Training& training, const Layout& layout) {
  const Shape shape(model, training, layout);
  const Transfers transfers(layout, shape);
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

  PartOperations middle{.name = "layer",
                        .repeats = model.layers,
                        .forward = layer(model, training, shape, transfers)};
  middle.backward = backward_of(middle.forward);
  middle.parameters = model.layer_parameters();
  middle.trained = model.trained_layer_parameters();
  middle.kept = layer_activation_bytes(model, training.keeping_all(), layout);
  middle.kept_to_recompute = layer_activation_bytes(model, training, layout);

  const bool copies = copies_embedding(model, layout);
  PartOperations last{.name = "head", .forward = head(model, training, shape, transfers, copies)};
  if (model.adapters) freeze(last.forward);
  last.backward = backward_of(last.forward);
  last.forward.push_back(loss(training, shape));
  transfers.of_loss(last.forward, shape.tokens);
  last.parameters = model.head_parameters() + (copies ? model.vocabulary * model.hidden : 0);
  last.trained = model.adapters ? 0 : last.parameters;
  last.kept = logits_bytes(model, training, layout);
  return {first, middle, last};
}

}  // namespace trnsim
