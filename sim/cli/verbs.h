#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace trnsim {

/// Each adds a verb to the command line. The verb's work is done when its callback runs, after the
/// command line has been read; it returns the exit code.
using Work = std::function<int()>;

void add_run(CLI::App& app, Work& work);
void add_compare(CLI::App& app, Work& work);
void add_topology(CLI::App& app, Work& work);
void add_check(CLI::App& app, Work& work);
void add_validate(CLI::App& app, Work& work);
void add_collective(CLI::App& app, Work& work);

/// "0.1.0 (SimGrid 3.32.0)"
std::string version();

}  // namespace trnsim
