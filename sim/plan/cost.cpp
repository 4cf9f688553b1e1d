#include "plan/cost.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "plan/convolutional_cost.h"
#include "plan/transformer_cost.h"
#include "workload/stages.h"

namespace trnsim {
namespace {

// Whether an operation of the layers runs again before the backward pass of its layer.
bool runs_again(const Operation& operation, Recompute recompute) {
  if (operation.kind == Operation::Kind::transfer && !operation.transfer.op) return false;
  if (recompute != Recompute::selective) return recompute == Recompute::full;
  return operation.kind == Operation::Kind::attention ||
         (operation.kind == Operation::Kind::transfer &&
          operation.transfer.over == Transfer::Over::context);
}

Operations recomputed(const Operations& forward, Recompute recompute) {
  Operations again;
  for (const Operation& operation : forward) {
    if (!runs_again(operation, recompute)) continue;
    again.push_back(operation);
    again.back().recomputation = true;
    again.back().parameters = 0;
  }
  return again;
}

// What the chip reaches of its bf16 peak. Of kernels that it describes: the efficiency of long
// sequences falls with the part that fills and drains, and with narrow heads.
double attention_efficiency(const Operation& operation, const Chip& chip,
                            const Training& training) {
  const auto found = chip.attention.find(training.attention_kernel);
  if (found == chip.attention.end()) return chip.attention_efficiency;
  const AttentionKernel& kernel = found->second;
  const AttentionKernel::Pass& pass = operation.backward ? kernel.backward : kernel.forward;
  double efficiency = pass.efficiency;
  if (operation.sequence > 0) efficiency *= operation.sequence / (operation.sequence + pass.half);
  constexpr double usual_head = 128;
  if (operation.head_dim > 0 && operation.head_dim < usual_head)
    efficiency *= std::pow(kernel.narrow, std::log2(usual_head / operation.head_dim));
  return efficiency;
}

// The part of the processors that is busy while they make `tiles` tiles, one each at a time.
double fill(double tiles, double processors) {
  return tiles / (processors * std::ceil(tiles / processors));
}

// What is lost at the ends of the inner dimension and of the result.
double product_fill(const Operation& operation, const ProductFill& fill) {
  if (operation.rows == 0) return 1;
  const double results = std::sqrt(operation.rows * operation.columns);
  return operation.inner / (operation.inner + fill.inner) * results / (results + fill.results);
}

// Products, softmax and dropout as kernels of their own. Bytes of HBM for each score forward:
// written by the first product (2), read and written by scaling, mask and softmax (4), by dropout
// with its mask (5), read by the second product (2); backward 19 of the same kinds.
Seconds unfused_attention(const Operation& operation, const Chip& chip) {
  const double products = operation.scores * 4 * operation.head_dim * (operation.backward ? 2 : 1);
  const double bytes = operation.scores * (operation.backward ? 19 : 13);
  return products / (chip.peak.at("bf16") * chip.gemm_efficiency) +
         bytes / (chip.hbm_bandwidth * chip.hbm_efficiency);
}

// The fastest of both orientations of a tile and of powers of two of splits of the inner dimension.
Seconds product_seconds(const Operation& operation, const Chip& chip, double flops_per_second) {
  const Seconds busy = operation.flops / (flops_per_second * product_fill(operation, chip.fill));
  if (chip.tiles.processors.value == 0 || operation.rows == 0) return busy;
  constexpr double bf16 = 2;  // bytes
  constexpr double fp32 = 4;
  constexpr double most_splits = 64;
  const ProductTiles& tile = chip.tiles;
  const double results = operation.groups * operation.rows * operation.columns;
  const double bytes_per_second = chip.hbm_bandwidth * chip.hbm_efficiency;
  Seconds best = std::numeric_limits<double>::infinity();
  for (const auto& [high, wide] : {std::pair{tile.rows.value, tile.columns.value},
                                   std::pair{tile.columns.value, tile.rows.value}}) {
    const double tiles =
        operation.groups * std::ceil(operation.rows / high) * std::ceil(operation.columns / wide);
    // Tiles at the edge are made whole.
    const double waste = tiles * high * wide / results;
    for (double splits = 1; splits <= most_splits; splits *= 2) {
      // Partial sums are written and read in fp32, the result is written once.
      const double partial = splits > 1 ? 2 * fp32 * splits : 0;
      best = std::min(best, busy * waste / fill(tiles * splits, tile.processors) +
                                (partial + bf16) * results / bytes_per_second);
    }
  }
  return best;
}

// Bytes that casting an element moves: it is read in bf16 and written as it is and transposed. A
// scale of 1 byte for each 32 elements is written beside both in mxfp8, for each 16 in fp4, where
// in addition the largest element of the whole tensor is looked for first.
double cast_bytes(const std::string& precision) {
  if (precision == "fp8") return 2 + 2 * 1;
  if (precision == "mxfp8") return 2 + 2 * (1 + 1.0 / 32);
  if (precision == "fp4") return 2 + 2 + 2 * (0.5 + 1.0 / 16);
  return 0;
}

// Both inputs of a forward product are cast; of the two backward ones only the gradient is new, and
// it is cast once, for the product that completes parameters, or where these are frozen for the
// one that there is.
Seconds cast_seconds(const Operation& operation, const Chip& chip, const Training& training) {
  if (!operation.casts) return 0;
  const bool casts_gradient = operation.parameters > 0 || operation.frozen;
  const double gradient =
      operation.frozen ? operation.rows * operation.inner : operation.inner * operation.columns;
  const double elements = operation.backward
                              ? (casts_gradient ? gradient : 0)
                              : operation.inner * (operation.rows + operation.columns);
  return cast_bytes(training.precision) * operation.groups * elements /
         (chip.hbm_bandwidth * chip.hbm_efficiency);
}

double grouped_efficiency(const Operation& operation, const Chip& chip, const Training& training) {
  if (operation.groups <= 1) return 1;
  if (training.software && training.software->grouped_efficiency)
    return *training.software->grouped_efficiency;
  return chip.grouped_efficiency ? chip.grouped_efficiency->value : 1;
}

double token_passes(const Operation& operation, const Training& training) {
  const bool stated = operation.of_tokens && training.software && training.software->token_passes;
  return stated ? training.software->token_passes->value : 1;
}

double product_efficiency(const std::string& precision, const Chip& chip) {
  if (precision == "fp8") return chip.gemm_efficiency_fp8;
  if (precision == "fp4") return chip.gemm_efficiency_fp4;
  return chip.gemm_efficiency;
}

}  // namespace

std::vector<PartOperations> model_operations(const Architecture& model, const Training& training,
                                             const Layout& layout) {
  std::vector<PartOperations> parts =
      model.convolutional ? convolutional_operations(model, training)
                          : transformer_operations(rank_shard(model, layout), training, layout);
  for (size_t i = 1; i + 1 < parts.size(); ++i)
    parts[i].again = recomputed(parts[i].forward, training.recompute);
  return parts;
}

Operations optimizer_step(uint64_t parameters, const Training& training) {
  constexpr double bf16 = 2;  // bytes
  constexpr double fp32 = 4;
  // AdamW reads the gradient, the fp32 copy and both moments, and writes the three and the bf16
  // parameter; SGD has one moment.
  const double moments = training.optimizer == Optimizer::adamw ? 2 : 1;
  const double per_parameter =
      static_cast<double>(training.gradient_bytes()) + 2 * fp32 * (1 + moments) + bf16;
  return {memory_operation("optimizer", per_parameter * static_cast<double>(parameters))};
}

double recomputed_flops(const Architecture& model, const Training& training, const Layout& layout) {
  std::vector<double> of_layers;
  for (const PartOperations& part : model_operations(model, training)) {
    double flops = 0;
    for (const Operation& operation : part.again) flops += operation.flops;
    of_layers.insert(of_layers.end(), part.repeats, flops);
  }
  double sum = 0;
  for (uint64_t stage = 0; stage < layout.pipeline; ++stage)
    for (uint64_t chunk = 0; chunk < layout.virtual_stages; ++chunk) {
      const Chunk of = chunk_of(model, layout, stage, chunk);
      for (uint64_t layer = 0; layer < of.layers; ++layer)
        if (training.recomputes(layer)) sum += of_layers.at(1 + of.first_layer + layer);
    }
  return sum;
}

double slowest_of(uint64_t chips, double spread) {
  if (chips < 2 || spread == 0) return 1;
  // The expected largest of so many standard normal values: of the chance that all are below x,
  // the integral of what it lacks above 0 and of what it has below.
  constexpr double reach = 9;
  constexpr int steps = 4096;
  const auto n = static_cast<double>(chips);
  const auto all_below = [n](double x) {
    return std::exp(n * std::log1p(-0.5 * std::erfc(x / std::sqrt(2.0))));
  };
  const double width = reach / steps;
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    const double x = (i + 0.5) * width;
    sum += (1 - all_below(x)) - std::exp(n * std::log(0.5 * std::erfc(x / std::sqrt(2.0))));
  }
  return 1 + spread * sum * width;
}

Seconds duration(const Operation& operation, const Chip& chip, const Training& training) {
  // Attention's core and the logits stay in bf16 where the rest of the model is fp8.
  const bool bf16_only = operation.kind == Operation::Kind::attention || operation.full_precision;
  const auto peak = chip.peak.find(bf16_only ? "bf16" : training.peak());
  if (peak == chip.peak.end()) throw std::logic_error("the chip has no peak for this precision");
  const bool unfused =
      operation.kind == Operation::Kind::attention && training.attention_kernel == "unfused";
  const Seconds compute =
      unfused ? unfused_attention(operation, chip)
      : operation.kind == Operation::Kind::attention
          ? operation.flops / (peak->second * attention_efficiency(operation, chip, training))
          : product_seconds(operation, chip,
                            peak->second * product_efficiency(peak->first, chip) *
                                grouped_efficiency(operation, chip, training));
  const Seconds memory = token_passes(operation, training) * operation.bytes /
                         (chip.hbm_bandwidth * chip.hbm_efficiency);
  return operation.part * (std::max(compute, memory) + cast_seconds(operation, chip, training)) +
         operation.kernels *
             (training.software ? training.software->op_overhead : chip.op_overhead) +
         (training.software && operation.routes ? training.software->routing_overhead.value : 0);
}

}  // namespace trnsim
