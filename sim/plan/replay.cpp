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

// "$key" stands for what the run states of itself, "$key*2" and "$key/2" for twice and half of it.
json filled(const json& part, const PublishedRun& run) {
  if (part.is_object()) {
    json made = json::object();
    for (const auto& [key, value] : part.items()) made[key] = filled(value, run);
    return made;
  }
  if (!part.is_string() || !part.get_ref<const std::string&>().starts_with('$')) return part;
  const std::string text = part.get<std::string>().substr(1);
  const std::string key = text.substr(0, text.find_first_of("*/"));
  const auto found = run.configuration.find(key);
  if (found == run.configuration.end()) throw InputError("does not state " + key);
  if (key == text) return *found;
  const auto value = found->get<uint64_t>();
  if (text.substr(key.size()) == "*2") return 2 * value;
  if (text.substr(key.size()) != "/2") throw InputError("no rule can say " + part.dump());
  if (value % 2 != 0) throw InputError("states an odd " + key + ", " + std::to_string(value));
  return value / 2;
}

// Chips that a run takes of each domain: all; or the most whole nodes that all domains can have
// alike (of 72, 64); or, of a single one, as many as it has. Throws InputError if there are none.
uint64_t chips_of_a_domain(const PublishedRun& run) {
  const uint64_t domain = run.configuration.value("domain_size", uint64_t{1});
  const uint64_t node = run.configuration.value("accel_per_node", domain);
  if (run.accelerators < domain) return run.accelerators;
  for (uint64_t chips = domain / node * node; chips > 0; chips -= node)
    if (run.accelerators % chips == 0) return chips;
  throw InputError(std::to_string(run.accelerators) + " accelerators are no whole domains of " +
                   std::to_string(domain));
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
std::vector<json> recomputations(const json& training, uint64_t layers) {
  const auto mode = [](const json& name) { return json::object({{"recompute", name}}); };
  if (training.contains("recompute")) return {mode(training["recompute"])};
  std::vector<json> modes{mode("none"), mode("selective")};
  // Of full recomputation in so many layers of a stage, eighths are tried.
  constexpr uint64_t steps = 8;
  for (uint64_t step = 1; step < steps && layers >= steps; ++step) {
    modes.push_back(mode("full"));
    modes.back()["recompute_layers"] = layers * step / steps;
  }
  modes.push_back(mode("full"));
  return modes;
}

// "recompute full of 10 layers"
std::string words_of(const json& recomputation) {
  std::string words = "recompute " + recomputation["recompute"].get<std::string>();
  if (recomputation.contains("recompute_layers"))
    words += " of " + recomputation["recompute_layers"].dump() + " layers";
  return words;
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

// What a unit of the system has less than its file says.
std::vector<Override> part_of_domains(const PublishedRun& run) {
  const uint64_t chips = chips_of_a_domain(run);
  if (chips == run.configuration.value("domain_size", uint64_t{1})) return {};
  return {{"system.scale_up.dimensions.0.size", std::to_string(chips)}};
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
  made["system"]["units"] = run.accelerators / chips_of_a_domain(run);
  return made;
}

Replay replay(const PublishedRun& run, const ReplayRules& rules, Fidelity fidelity) {
  Replay made;
  try {
    json scenario = rules.scenario(run);
    scenario["engine"] = {{"fidelity", to_string(fidelity)}};
    json& training = scenario["training"];
    const std::vector<json> batches = micro_batches(training, run);
    const uint64_t chunks = scenario["layout"].value("pipeline", uint64_t{1}) *
                            scenario["layout"].value("virtual_stages", uint64_t{1});
    const std::vector<json> modes =
        recomputations(training, run.configuration.value("layers", uint64_t{0}) / chunks);
    made.why = "does not fit in memory";
    for (const json& batch : batches) {
      for (const json& mode : modes) {
        training["micro_batch"] = batch;
        training.erase("recompute_layers");
        training.update(mode);
        const Document document =
            Document::parse(scenario.dump(), run.id, rules.folder(), part_of_domains(run));
        const Job job = read_scenario(document, run.id).jobs.front();
        if (!fits(job)) continue;
        if (batches.size() > 1) made.assumed.push_back("micro_batch " + batch.dump());
        if (modes.size() > 1) made.assumed.push_back(words_of(mode));
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
