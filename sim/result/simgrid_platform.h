#pragma once

#include <ostream>

#include "system/network.h"

namespace trnsim {

/// Throws InputError if a platform of this system would hold more than 500,000 routes: units x
/// chips of a unit x (chips of a unit + 1) inside units, and units x (units - 1) between them; with
/// rails one for each pair of chips.
void require_platform_size(const System& system);

/// Writes a platform for SimGrid 3.32 (XML, DTD 4.1) with the links, names, payload capacities and
/// routes of `network`. A unit is a zone "unit 0" of hosts "unit 0 chip 0", ... of the first peak
/// rate of their chip, with a router where its NICs lead out; the root zone holds the layers. The
/// latency of a hop stands on its first link, so that a route has the sum that Network gives it.
/// Units below one switch, which has no link of its own, pass the link "lowest switch", which takes
/// no time and shares nothing.
void write_simgrid_platform(std::ostream& out, const System& system, const Network& network);

}  // namespace trnsim
