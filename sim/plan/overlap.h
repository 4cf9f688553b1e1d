#pragma once

#include "plan/operation.h"

namespace trnsim {

/// Attention over blocks that are passed round a ring: each block is attended to while the next one
/// is on its way (Ring Attention, arXiv:2310.01889). Backward, blocks pass with their gradients,
/// which go one step further in the end, home. Other operations stay as they are.
Operations passed_round(const Operations& operations);

/// Collectives over tensor beside the products next to them. One before a product goes in `pieces`,
/// of which each lets a piece of the product begin, by rows; one after a product goes in pieces
/// that follow those of the product, each its part of the product's time (Transformer Engine runs
/// them on streams of their own, so that one fills what the end of another leaves idle); one after
/// the gradient of weights runs beside that product, which it does not need.
Operations in_pieces(const Operations& operations, uint32_t pieces);

}  // namespace trnsim
