#include "plan/buckets.h"

namespace trnsim {

std::vector<GradientBucket> gradient_buckets(const ModelParts& parts, Held held, uint64_t size,
                                             uint64_t first, bool dynamic) {
  std::vector<GradientBucket> buckets;
  uint64_t filled = 0;
  const auto close = [&](size_t part, size_t operation) {
    buckets.push_back({part, operation, static_cast<int32_t>(buckets.size()), filled});
    filled = 0;
  };
  for (size_t part = parts.count; part-- > 0;) {
    const std::vector<TimedOperation>& operations = parts.at(part).backward;
    const size_t last = operations.size() - 1;
    for (size_t i = 0; i < operations.size(); ++i)
      for (const uint64_t parameters :
           held == Held::by_replicas ? operations[i].parameters : operations[i].routed) {
        filled += parameters;
        const bool full = filled >= (buckets.empty() && first > 0 ? first : size);
        if (full) close(part, dynamic ? i : last);
      }
  }
  if (filled > 0) close(0, parts.at(0).backward.size() - 1);
  return buckets;
}

std::vector<ParameterBucket> parameter_buckets(const ModelParts& parts, Held held, uint64_t size) {
  std::vector<ParameterBucket> buckets;
  uint64_t filled = 0;
  for (size_t part = 0; part < parts.count; ++part) {
    const ModelPart& of = parts.at(part);
    filled += held == Held::by_replicas ? of.trained - of.routed : of.routed;
    if (filled < size && part + 1 < parts.count) continue;
    // What is left may be frozen: then the last bucket reaches to the end.
    if (filled == 0 && !buckets.empty()) buckets.back().part = part;
    if (filled == 0) continue;
    buckets.push_back({part, filled});
    filled = 0;
  }
  return buckets;
}

}  // namespace trnsim
