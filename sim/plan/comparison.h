#pragma once

#include <string>
#include <vector>

#include "plan/scenario.h"

namespace trnsim {

/// What compared systems have in common: "chips", "flops" (peak of the precision), "cost" (price an
/// hour), "power", or "time" (of a step).
const std::vector<std::string>& comparison_bases();

/// How much of it a job's system has: chips, FLOP/s, USD an hour, watts. Not for "time".
double amount(const Job& job, const std::string& basis);

/// Gives the job this many units: data follows the chips; hybrid sharding keeps its shard. False,
/// and nothing changed, if the global batch or the shard does not divide then.
bool set_units(Job& job, Rank units);

/// The most units of the job that have at most what `own` has of `basis` and over which its batch
/// divides; 1 if even one has more, or the batch of no such number divides.
Rank units_at(const Job& own, const Job& job, const std::string& basis);

}  // namespace trnsim
