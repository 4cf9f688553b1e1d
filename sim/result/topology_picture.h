#pragma once

#include <string>

#include "system/system.h"

namespace trnsim {

/// A Graphviz picture of one unit, with its chips where their first three coordinates put them, and
/// of how units join, in one graph for `dot` (which takes the positions that are in it). Lines of a
/// dimension beyond the second are drawn from the first row of chips alone, and of units that are
/// too large to be read only a part is drawn; the captions say so. Of a graph the chips are the
/// lowest row, and above them the switches, each row a hop further away.
std::string topology_picture(const System& system);

}  // namespace trnsim
