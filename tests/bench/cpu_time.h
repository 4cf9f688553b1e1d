#pragma once

#include <ctime>

namespace trnsim::bench {

/// Seconds of processor time that this process has used: what else runs on the machine moves it
/// less than the time on the wall.
inline double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace trnsim::bench
