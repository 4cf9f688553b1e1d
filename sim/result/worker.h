#pragma once

#include <functional>
#include <string>
#include <vector>

namespace trnsim {

/// Runs each task in a forked process, at most as many at once as there are cores, and returns what
/// each returned, in their order. What a task throws (InputError, CannotRun, another exception) is
/// thrown again here with its message; a worker that dies is a std::runtime_error that says how.
std::vector<std::string> run_in_workers(const std::vector<std::function<std::string()>>& tasks);

}  // namespace trnsim
