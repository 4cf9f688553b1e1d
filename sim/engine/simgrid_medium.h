#pragma once

#include <memory>

#include "engine/medium.h"

namespace trnsim {

/// The medium in which messages are SimGrid's flows: max-min fair shares of every link that they
/// cross. Only one can be made in a process.
std::unique_ptr<Medium> make_simgrid_medium(const Graph& graph);

/// "SimGrid 3.32.0"
std::string simgrid_version();

}  // namespace trnsim
