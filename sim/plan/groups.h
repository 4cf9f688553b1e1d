#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/passes.h"
#include "system/system.h"

namespace trnsim {

/// The axes of the fabric, from the fastest to the slowest: the dimensions of a unit, then the
/// units below one group of each layer of switches. Where the units do not fill whole groups, the
/// layers above that are one axis.
std::vector<Axis> fabric_axes(const System& system);

/// Splits axes into those of the groups of `inner` neighbouring ranks and those across such groups;
/// an axis may be cut in two. Throws std::invalid_argument if the groups are no product of axes;
/// its message names the nearest size that is.
std::pair<std::vector<Axis>, std::vector<Axis>> split_axes(const std::vector<Axis>& axes,
                                                           Rank inner);

/// Why the algorithm cannot run along this axis of the system, if it cannot.
std::optional<std::string> obstacle(Algorithm algorithm, const Axis& axis, const System& system);

}  // namespace trnsim
