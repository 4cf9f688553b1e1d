#include "plan/replay.h"

#include <algorithm>

#include "workload/memory.h"

namespace trnsim {
namespace {

using nlohmann::json;

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

bool fits(const Job& job) {
  return total(memory_parts(job.model, job.training, job.layout)) <=
         static_cast<Bytes>(job.system.chip.hbm_capacity.value);
}

// What a run leaves open: the values to try, the one to prefer first.
std::vector<json> recomputations(const json& training, uint64_t layers) {
  const auto mode = [](const json& name) { return json::object({{"recompute", name}}); };
  if (training.contains("recompute")) return {mode(training["recompute"])};
  std::vector<json> modes{mode("none"), mode("selective")};
  // Of full recomputation in so many layers of a chunk, at most eighths are tried.
  const uint64_t steps = std::min<uint64_t>(8, layers);
  for (uint64_t step = 1; step < steps; ++step) {
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
  return ReplayRules(Rules::load(file, "trnsim.replay.v1"));
}

json ReplayRules::scenario(const PublishedRun& run) const {
  json made = {{"format", "trnsim.scenario.v1"}, {"name", run.id}};
  made["system"]["file"] = rules_.system(
      run.configuration, "no rule names a system for " + run.accelerator + " on fabric " +
                             run.configuration.value("fabric", "unstated"));
  for (const json& setting : rules_.settings(run.configuration))
    made.merge_patch(filled(setting, run));
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
        recomputations(training, divide_up(run.configuration.value("layers", uint64_t{0}), chunks));
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
        scenario.erase("name");
        made.scenario = scenario.dump() + std::to_string(chips_of_a_domain(run));
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
