#include "plan/replay.h"

#include <algorithm>

#include "workload/memory.h"

namespace trnsim {
namespace {

using nlohmann::json;

// One condition: a value, a list of values (null: not stated), or {"from", "to"}, both inclusive.
bool holds(const json& condition, const json& stated) {
  if (condition.is_array())
    return std::any_of(condition.begin(), condition.end(),
                       [&](const json& value) { return holds(value, stated); });
  if (condition.is_object())
    return stated.is_number() && stated.get<double>() >= condition.value("from", -1e300) &&
           stated.get<double>() <= condition.value("to", 1e300);
  return condition == stated;
}

bool applies(const json& when, const PublishedRun& run) {
  return std::all_of(when.items().begin(), when.items().end(), [&](const auto& condition) {
    const auto found = run.configuration.find(condition.key());
    return holds(condition.value(), found == run.configuration.end() ? json() : *found);
  });
}

// "$key" stands for what the run states of itself.
json filled(const json& part, const PublishedRun& run) {
  if (part.is_object()) {
    json made = json::object();
    for (const auto& [key, value] : part.items()) made[key] = filled(value, run);
    return made;
  }
  if (!part.is_string() || !part.get_ref<const std::string&>().starts_with('$')) return part;
  const std::string key = part.get<std::string>().substr(1);
  const auto found = run.configuration.find(key);
  if (found == run.configuration.end()) throw InputError("does not state " + key);
  return *found;
}

// A run of fewer chips than a scale-up domain has takes a part of one.
void set_units(json& scenario, const PublishedRun& run) {
  const uint64_t domain = run.configuration.value("domain_size", uint64_t{1});
  if (run.accelerators % domain != 0)
    throw InputError(std::to_string(run.accelerators) + " accelerators are no whole domains of " +
                     std::to_string(domain));
  scenario["system"]["units"] = run.accelerators / domain;
}

void check_bounds(JsonReader bounds) {
  for (const char* key : {"from", "to"})
    if (auto bound = bounds.find(key)) bound->as_quantity(Unit::ratio, -1e300, 1e300);
  bounds.reject_unknown_keys();
}

bool fits(const Job& job) {
  return total(memory_parts(job.model, job.training, job.layout)) <=
         static_cast<Bytes>(job.system.chip.hbm_capacity.value);
}

// What a run leaves open: the values to try, the one to prefer first.
std::vector<json> recomputations(const json& training) {
  if (training.contains("recompute")) return {training["recompute"]};
  return {"none", "selective", "full"};
}

std::vector<json> micro_batches(const json& training, const PublishedRun& run) {
  if (training.contains("micro_batch")) return {training["micro_batch"]};
  const uint64_t rank =
      run.configuration.value("gbs", uint64_t{1}) / run.configuration.value("dp", run.accelerators);
  if (rank == 0) throw InputError("has fewer sequences than ranks");
  constexpr uint64_t most = 4096;  // sequences of one rank that are tried
  std::vector<json> divisors;
  for (uint64_t size = std::min(rank, most); size >= 1; --size)
    if (rank % size == 0) divisors.emplace_back(size);
  return divisors;
}

}  // namespace

ReplayRules ReplayRules::load(const std::filesystem::path& file) {
  const Document document = Document::load(file, {});
  JsonReader root(document);
  root.at("format").as_one_of({"trnsim.replay.v1"});
  ReplayRules rules;
  rules.folder_ = file.parent_path();
  const auto read = [&](const char* list, const char* then, std::vector<Rule>& made) {
    for (JsonReader& rule : root.at(list).items()) {
      for (auto& [key, condition] : rule.at("when").members())
        if (condition.is_object()) check_bounds(condition);
      if (std::string(then) == "set")
        rule.at(then).members();
      else
        rule.at(then).as_string();
      if (rule.at("source").as_string().empty()) rule.at("source").fail("must not be empty");
      rule.reject_unknown_keys();
      const json& one = document.root()[list][made.size()];
      made.push_back({one["when"], one[then]});
    }
  };
  read("refusals", "why", rules.refusals_);
  read("systems", "system", rules.systems_);
  read("settings", "set", rules.settings_);
  root.reject_unknown_keys();
  return rules;
}

json ReplayRules::scenario(const PublishedRun& run) const {
  for (const Rule& rule : refusals_)
    if (applies(rule.when, run)) throw InputError(rule.then.get<std::string>());
  const auto system = std::find_if(systems_.begin(), systems_.end(),
                                   [&](const Rule& rule) { return applies(rule.when, run); });
  if (system == systems_.end())
    throw InputError("no rule names a system for " + run.accelerator + " on fabric " +
                     run.configuration.value("fabric", "unstated"));
  json made = {{"format", "trnsim.scenario.v1"}, {"name", run.id}};
  made["system"]["file"] = system->then;
  for (const Rule& rule : settings_)
    if (applies(rule.when, run)) made.merge_patch(filled(rule.then, run));
  set_units(made, run);
  return made;
}

Replay replay(const PublishedRun& run, const ReplayRules& rules, Fidelity fidelity) {
  Replay made;
  try {
    json scenario = rules.scenario(run);
    scenario["engine"] = {{"fidelity", to_string(fidelity)}};
    json& training = scenario["training"];
    const std::vector<json> batches = micro_batches(training, run);
    const std::vector<json> modes = recomputations(training);
    made.why = "does not fit in memory";
    for (const json& batch : batches) {
      for (const json& mode : modes) {
        training["micro_batch"] = batch;
        training["recompute"] = mode;
        const Document document = Document::parse(scenario.dump(), run.id, rules.folder(), {});
        const Job job = read_scenario(document, run.id).jobs.front();
        if (!fits(job)) continue;
        if (batches.size() > 1) made.assumed.push_back("micro_batch " + batch.dump());
        if (modes.size() > 1) made.assumed.push_back("recompute " + mode.get<std::string>());
        made.job = job;
        made.why.clear();
        return made;
      }
    }
  } catch (const InputError& error) {
    made.why = error.what();
  }
  return made;
}

}  // namespace trnsim
