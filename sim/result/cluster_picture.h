#pragma once

#include "result/picture.h"
#include "system/system.h"

namespace trnsim {

/// Draws below `top` how the units of a system join: the switches above them as a tree, of each
/// group the first and the last part, and of several rails the first and the last.
void draw_cluster(Picture& picture, const System& system, double top);

}  // namespace trnsim
