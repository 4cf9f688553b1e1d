#pragma once

#include <filesystem>
#include <memory>

#include "engine/executor.h"

namespace trnsim {

/// A sink that writes the trace event format that Perfetto and Chrome open: a process for the
/// representative of each rank class (named by its rank and class size), a thread for each of its
/// streams, an event for each step with its layer, microbatch, bytes and group. Written as it
/// comes; the file appears when the simulation has finished.
std::unique_ptr<Sink> make_chrome_trace(const std::filesystem::path& path, const Graph& graph);

}  // namespace trnsim
