#pragma once

#include "engine/graph.h"

namespace trnsim {

/// One rank for each program, of which all are in step: a message between two programs takes what
/// the slowest between them takes with its own pattern alone on the wire. An estimate for analytic
/// fidelity: exact where the ranks of a program are alike, else never below any of them; no ranks
/// are told apart and nothing is refined. The plan must have no slow chip.
Graph in_step(const Plan& plan, const Network& network);

}  // namespace trnsim
