#pragma once

#include <memory>

#include "engine/medium.h"

namespace trnsim {

/// The medium in which a message takes its bytes over the share of its fullest link that it has
/// while only its own pattern is on the wire: a longest path, exact where collectives do not meet.
std::unique_ptr<Medium> make_analytic_medium(const Graph& graph);

}  // namespace trnsim
