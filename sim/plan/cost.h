#pragma once

#include <vector>

#include "plan/operation.h"
#include "system/system.h"
#include "workload/architecture.h"
#include "workload/recipe.h"

namespace trnsim {

/// The parts of the model, first to last: embedding (of a convolutional network: its stem), layers,
/// head. Parts that are alike stand in one entry. Recomputed operations come first in the backward
/// pass; the loss, which stands in the forward pass, already makes the gradient of the logits.
/// A rank has its share of each: `model` is the whole, the layout says how it is split.
std::vector<PartOperations> model_operations(const Architecture& model, const Training& training,
                                             const Layout& layout = {});
/// The update of the parameters that this rank holds.
Operations optimizer_step(uint64_t parameters, const Training& training);

/// FLOPs that one microbatch does a second time to save memory, on all of its ranks together.
double recomputed_flops(const Architecture& model, const Training& training,
                        const Layout& layout = {});

/// By what factor the slowest of so many chips is expected to be slower than the mean one, if their
/// times are normally distributed with this standard deviation, as a part of the mean: 1 + spread
/// times the expected largest of so many standard normal values.
double slowest_of(uint64_t chips, double spread);

/// Seconds that a chip takes: the larger of FLOPs and bytes over what the chip reaches of its peaks
/// (roofline; Williams et al., CACM 2009), and the chip's overhead for each kernel.
///
/// A product of a layer that runs in fp8 first casts its inputs: bf16 is read, fp8 written, and
/// once more transposed for the products of the backward pass (Micikevicius et al., FP8 Formats for
/// Deep Learning, arXiv:2209.05433; NVIDIA Transformer Engine, fused cast and transpose); so in
/// mxfp8 and fp4, with scales of blocks (OCP Microscaling Formats, 1.0; NVIDIA, NVFP4).
///
/// Where the chip describes its tiles, a matrix product takes as long as its processors need for
/// whole waves of whole tiles, and then the result is written to HBM (tile and wave quantisation;
/// NVIDIA, Matrix Multiplication Background User's Guide). Its inner dimension is split where that
/// is faster (split-K; NVIDIA CUTLASS, Efficient GEMM).
Seconds duration(const Operation& operation, const Chip& chip, const Training& training);

}  // namespace trnsim
