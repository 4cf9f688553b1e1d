#pragma once

#include <string>

#include "result/result.h"

namespace trnsim {

/// The report that a person reads: the runs side by side, the busiest links, what it rests on.
std::string text_report(const ScenarioResult& result);
/// The assumed numbers of each run, with ranges and reasons.
std::string assumptions_report(const ScenarioResult& result);
/// The parts of a job's memory against what a chip has.
std::string memory_table(const RunResult& run);
/// "ZeRO-3 over 576, ring, micro batch 1, selective recompute"
std::string layout_text(const Job& job);
/// "Llama 3.1 70B · sequence 2048 · batch 576 · ZeRO-3 over 576 · bf16"
std::string title_of(const Job& job);

}  // namespace trnsim
