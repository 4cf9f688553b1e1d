#pragma once

#include "result/picture.h"
#include "system/graph_fabric.h"

namespace trnsim {

/// Draws chips in a row, and above it switches by their distance from the nearest chip, each over
/// the middle of what it is joined to below. Of more than 64 chips, or of more than 256 nodes, the
/// first are drawn, with the links between them; the caption says so.
void draw_graph(Picture& picture, const GraphFabric& graph);

}  // namespace trnsim
