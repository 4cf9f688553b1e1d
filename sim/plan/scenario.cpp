#include "plan/scenario.h"

#include <algorithm>
#include <stdexcept>

namespace trnsim {
namespace {

EngineOptions read_engine(JsonReader json) {
  EngineOptions options;
  if (auto fidelity = json.find("fidelity")) {
    const std::string text = fidelity->as_one_of({"message", "phase", "analytic"});
    options.fidelity = text == "message" ? Fidelity::message
                       : text == "phase" ? Fidelity::phase
                                         : Fidelity::analytic;
  }
  if (auto fold = json.find("fold")) options.fold = fold->as_bool();
  json.reject_unknown_keys();
  return options;
}

Fault read_fault(JsonReader json, const System& system) {
  Fault fault;
  auto chip = json.find("chip");
  auto link = json.find("link");
  if (chip.has_value() == link.has_value()) json.fail("must name either a \"chip\" or a \"link\"");
  const char* what = chip ? "compute" : "bandwidth";
  if (chip) {
    fault.chip = static_cast<Rank>(chip->as_integer(0, INT64_C(1) << 32));
    if (*fault.chip >= system.chips())
      chip->fail(chip->shown() + " is not among the chips 0 to " +
                 std::to_string(system.chips() - 1));
  } else {
    fault.link = link->as_string();
    const Network network(system);
    try {
      network.find(*fault.link);
    } catch (const std::out_of_range&) {
      link->fail(link->shown() + " is no link of this system; a link is named for example \"" +
                 network.name(0) + '"');
    }
  }
  JsonReader factor = json.at(what);
  fault.factor = factor.as_quantity(Unit::ratio);
  if (fault.factor < 1e-3 || fault.factor > 1e3)
    factor.fail(factor.shown() +
                " must be from 0.001 to 1000 times the healthy one; a dead chip or "
                "link is another job, not a slower one");
  json.reject_unknown_keys();
  return fault;
}

// The nearest multiple of `step` that is at least one step.
uint64_t nearest_multiple(uint64_t value, uint64_t step) {
  return std::max<uint64_t>(1, (value + step / 2) / step) * step;
}

void check_job(const Job& job, JsonReader& root, const std::string& system_place) {
  const Rank chips = job.system.chips();
  if (job.layout.data != chips) {
    JsonReader data = root.at("layout").at("data");
    data.fail(data.shown() + " x tensor 1 x pipeline 1 x context 1 is not the " +
              std::to_string(chips) + " chips of " + system_place);
  }
  const uint64_t per_microbatch = job.training.micro_batch * job.layout.data;
  if (job.training.global_batch % per_microbatch != 0) {
    JsonReader batch = root.at("training").at("global_batch");
    batch.fail(batch.shown() + " is no multiple of micro_batch x data (" +
               std::to_string(job.training.micro_batch) + " x " + std::to_string(job.layout.data) +
               " = " + std::to_string(per_microbatch) + ") on " + system_place +
               "; the nearest is " +
               std::to_string(nearest_multiple(job.training.global_batch, per_microbatch)));
  }
  if (!job.system.chip.peak.contains(job.training.precision)) {
    JsonReader precision = root.at("training").at("precision");
    precision.fail(precision.shown() + " has no peak on " + job.system.chip.name);
  }
}

void check_purchase(const JsonReader& json, const System& system, const std::string& purchase) {
  if (system.prices.contains(purchase)) return;
  std::vector<std::string> kinds;
  for (const auto& [kind, price] : system.prices) kinds.push_back(kind);
  json.fail('"' + purchase + "\" is no price of " + system.name + "; it has " + one_of(kinds));
}

// A compared system without "units" gets as many as fit the chips of the scenario's own.
Job compared_job(const Job& own, JsonReader json) {
  Job job = own;
  job.faults.clear();
  const bool counted = json.find("units").has_value();
  job.system = read_system(json);
  if (!counted)
    job.system.units = std::max<Rank>(1, own.system.chips() / job.system.chips_per_unit());
  job.layout.data = job.system.chips();
  return job;
}

}  // namespace

std::string to_string(Fidelity fidelity) {
  switch (fidelity) {
    case Fidelity::message:
      return "message";
    case Fidelity::phase:
      return "phase";
    case Fidelity::analytic:
      return "analytic";
  }
  throw std::logic_error("fidelity without a name");
}

Scenario load_scenario(const std::filesystem::path& path, const std::vector<Override>& overrides) {
  const Document document = Document::load(path, overrides);
  JsonReader root(document);
  root.at("format").as_one_of({"trnsim.scenario.v1"});
  Scenario scenario;
  scenario.path = path.lexically_normal().string();
  scenario.name = root.at("name").as_string();

  Job job;
  job.system = read_system(root.at("system"));
  job.model = read_architecture(root.at("workload"));
  job.training = read_training(root.at("training"));
  job.layout = read_layout(root.at("layout"));
  if (auto engine = root.find("engine")) job.engine = read_engine(*engine);
  if (auto faults = root.find("faults"))
    for (const JsonReader& fault : faults->items())
      job.faults.push_back(read_fault(fault, job.system));
  job.purchase = "capacity_block";
  auto purchase = root.find("purchase");
  if (purchase) job.purchase = purchase->as_string();
  check_purchase(purchase ? *purchase : root.at("system").at("prices"), job.system, job.purchase);
  check_job(job, root, job.system.name);

  if (auto at = root.find("compare_at"))
    if (at->as_string() != "chips") at->fail(at->shown() + " must be \"chips\" in this version");
  std::vector<Job> compared;
  if (auto systems = root.find("compare_with")) {
    for (const JsonReader& system : systems->items()) {
      Job other = compared_job(job, system);
      check_purchase(system, other.system, other.purchase);
      check_job(other, root, other.system.name);
      compared.push_back(std::move(other));
    }
  }
  root.reject_unknown_keys();
  scenario.jobs.push_back(std::move(job));
  for (Job& other : compared) scenario.jobs.push_back(std::move(other));
  return scenario;
}

Network network_of(const Job& job) {
  Network network(job.system);
  for (const Fault& fault : job.faults)
    if (fault.link) network.scale(network.find(*fault.link), fault.factor);
  return network;
}

}  // namespace trnsim
