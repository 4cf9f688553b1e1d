#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "engine/executor.h"
#include "result/result.h"

namespace trnsim {

/// A file without a name that goes with the last handle: a worker process writes, its parent reads.
class UnnamedFile {
 public:
  /// Throws InputError if there is no room for it.
  UnnamedFile();
  /// Throws InputError if it cannot be written.
  void write(const std::string& text) const;
  /// Everything that was written; empty if nothing was.
  std::string read() const;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
};

/// How much of a step a timeline holds. Beyond it, neighbours on a stream are drawn as one.
struct TimelineLimits {
  size_t spans = 50000;
  size_t rank_classes = 32;
  size_t link_classes = 4096;  // above it, no load of links
  size_t bins = 512;           // of the load of a link
};

/// A sink that writes into `file`, when the step has ended, what the report page draws over time:
/// the spans of the representatives' streams, the sums of each operation on each stream, and the
/// load of the busiest link of each kind. Its memory is bounded by the limits, whatever the step.
std::unique_ptr<Sink> make_timeline(const Graph& graph, const Network& network,
                                    const UnnamedFile& file, const TimelineLimits& limits = {});

}  // namespace trnsim
