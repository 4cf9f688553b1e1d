#include "plan/overlap.h"

namespace trnsim {
namespace {

bool is_product(const Operation& operation) { return operation.kind == Operation::Kind::matrix; }

// What all of the next operation, or all of the one before, waits for.
bool is_collective_over_tensor(const Operation& operation) {
  return operation.kind == Operation::Kind::transfer &&
         operation.transfer.over == Transfer::Over::tensor && operation.transfer.op &&
         operation.transfer.beside == 0;
}

Operation piece_of_product(const Operation& whole, uint32_t pieces) {
  Operation piece = whole;
  piece.part /= pieces;
  piece.parameters = 0;
  return piece;
}

Operation piece_of_collective(const Operation& whole, uint32_t pieces, uint32_t beside) {
  Operation piece = whole;
  piece.transfer.bytes = divide_up(piece.transfer.bytes, pieces);
  piece.transfer.beside = beside;
  return piece;
}

void add_collective_then_product(const Operation& collective, const Operation& product,
                                 uint32_t pieces, Operations& made) {
  for (uint32_t i = 0; i < pieces; ++i) made.push_back(piece_of_collective(collective, pieces, i));
  for (uint32_t i = 0; i < pieces; ++i) made.push_back(piece_of_product(product, pieces));
  made.back().parameters = product.parameters;
}

void add_product_then_collective(const Operation& product, const Operation& collective,
                                 uint32_t pieces, Operations& made) {
  for (uint32_t i = 0; i < pieces; ++i) {
    made.push_back(piece_of_product(product, pieces));
    if (i + 1 == pieces) made.back().parameters = product.parameters;
    made.push_back(piece_of_collective(collective, pieces, pieces - 1 - i));
  }
}

}  // namespace

Operations passed_round(const Operations& operations) {
  Operations made;
  for (const Operation& operation : operations) {
    if (operation.blocks == 1) {
      made.push_back(operation);
      continue;
    }
    Operation block = operation;
    block.blocks = 1;
    block.flops /= operation.blocks;
    block.scores /= operation.blocks;
    block.bytes /= operation.blocks;
    Transfer next{Transfer::Over::context,
                  CollectiveOp::send_recv,
                  {},
                  operation.block_bytes * (operation.backward ? 2 : 1),
                  1};
    for (uint32_t i = 0; i < operation.blocks; ++i) {
      if (i + 1 < operation.blocks) made.push_back(transfer_operation("keys and values", next));
      made.push_back(block);
    }
    next.bytes = operation.block_bytes;
    next.beside = 0;
    if (operation.backward) made.push_back(transfer_operation("key and value gradients", next));
  }
  return made;
}

Operations in_pieces(const Operations& operations, uint32_t pieces) {
  Operations made;
  for (size_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    const Operation* next = i + 1 < operations.size() ? &operations[i + 1] : nullptr;
    if (next != nullptr && is_collective_over_tensor(operation) && is_product(*next)) {
      add_collective_then_product(operation, *next, pieces, made);
      ++i;
    } else if (next != nullptr && is_product(operation) && is_collective_over_tensor(*next)) {
      if (operation.backward) {
        made.push_back(piece_of_collective(*next, 1, 1));
        made.push_back(operation);
      } else {
        add_product_then_collective(operation, *next, pieces, made);
      }
      ++i;
    } else {
      made.push_back(operation);
    }
  }
  return made;
}

}  // namespace trnsim
