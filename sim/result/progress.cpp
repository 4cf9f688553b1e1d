#include "result/progress.h"

#include <spdlog/spdlog.h>

namespace trnsim {

void Progress::ended(const Span& span) {
  constexpr uint64_t often = 256;  // a look at the clock costs as much as a step
  if (++steps_ % often != 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::seconds(2)) return;
  last_ = now;
  const double wall = std::chrono::duration<double>(now - start_).count();
  spdlog::info(
      "{:.0f} s: {:.3f} s simulated, at {}; {:.2f} million messages, {:.0f} thousand a second",
      wall, span.end, describe(*graph_.plan, span.step->label),
      static_cast<double>(messages_) / 1e6, static_cast<double>(messages_) / wall / 1e3);
}

}  // namespace trnsim
