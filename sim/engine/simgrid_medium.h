#pragma once

#include <memory>

#include "engine/medium.h"
#include "plan/simgrid_settings.h"

namespace trnsim {

/// The medium in which messages are SimGrid's flows: max-min fair shares of every link that they
/// cross. Only one can be made in a process. `settings` must have no obstacle().
std::unique_ptr<Medium> make_simgrid_medium(const Graph& graph,
                                            const SimgridSettings& settings = {});

/// "SimGrid 3.32.0"
std::string simgrid_version();

}  // namespace trnsim
