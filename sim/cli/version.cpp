#include "cli/verbs.h"
#include "engine/simgrid_medium.h"

namespace trnsim {

std::string version() { return std::string(TRNSIM_VERSION) + " (" + simgrid_version() + ')'; }

}  // namespace trnsim
