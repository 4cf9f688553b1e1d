#include "plan/scenario.h"

#include <algorithm>
#include <stdexcept>

#include "plan/comparison.h"
#include "plan/groups.h"
#include "plan/library_group.h"
#include "workload/stages.h"

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
  if (auto settings = json.find("simgrid"))
    for (auto& [key, value] : settings->members()) {
      const std::string text = value.is_string() ? value.as_string() : value.shown();
      if (options.fidelity == Fidelity::analytic)
        value.fail("analytic fidelity does without SimGrid");
      if (const auto why = obstacle(key, text)) value.fail(*why);
      options.simgrid[key] = text;
    }
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
    fault.chip = static_cast<Rank>(chip->as_integer(0, UINT32_MAX));
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
  fault.factor = factor.as_quantity(Unit::ratio, 0.0, 1e9);
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

// A layout that a compared system does not change follows its number of chips.
Layout layout_of(const System& system, const std::optional<JsonReader>& json, const Layout* base) {
  Layout free = *base;
  free.best_algorithm = true;  // unless it says which
  if (json) return read_layout(*json, &free, system.chips());
  Layout layout = *base;
  layout.best_algorithm = true;
  follow_chips(layout, system.chips());
  return layout;
}

// What `key` of `json` says, or `json` itself where it does not say it.
JsonReader place_of(JsonReader json, const char* key) {
  const auto found = json.find(key);
  return found ? *found : json;
}

void check_shard(const Job& job, const JsonReader& layout) {
  const Layout& of = job.layout;
  if (of.shard == 1 || of.shard == of.replicas()) return;
  try {
    if (of.replicas() % of.shard != 0)
      throw std::invalid_argument("does not divide data (" + std::to_string(of.replicas()) + ")");
    layout_groups(job.system, of);
  } catch (const std::invalid_argument& error) {
    place_of(layout, "shard")
        .fail("shard " + std::to_string(of.shard) + " on " + job.system.name + ": " + error.what());
  }
}

void check_peaks(const Job& job, const JsonReader& training) {
  if (!job.system.chip.peak.contains(job.training.peak()))
    place_of(training, "precision")
        .fail('"' + job.training.precision + "\" has no peak on " + job.system.chip.name);
  if (!job.system.chip.peak.contains("bf16"))
    place_of(training, "precision")
        .fail(job.system.chip.name + " has no bf16 peak, which attention and logits need");
  const std::string& kernel = job.training.attention_kernel;
  std::vector<std::string> known;
  for (const auto& [name, described] : job.system.chip.attention) known.push_back(name);
  if (!kernel.empty() && kernel != "unfused" && !job.system.chip.attention.contains(kernel))
    place_of(training, "attention_kernel")
        .fail('"' + kernel + "\" is no attention kernel of " + job.system.chip.name +
              (known.empty() ? "; it describes none" : "; it has " + one_of(known)));
}

void check_recomputation(const Job& job, const JsonReader& training) {
  const uint64_t layers = job.training.recompute_layers;
  if (layers == Training::all_layers) return;
  if (job.model.convolutional)
    place_of(training, "recompute_layers").fail("counts the layers of a transformer");
  if (layers > job.model.layers)
    place_of(training, "recompute_layers")
        .fail(std::to_string(layers) + " is more layers than " + job.model.name + " has (" +
              std::to_string(job.model.layers) + ')');
}

// About what a chip would hold; no count of these overflows.
double rough_bytes(const ConvolutionalNetwork& network, double images) {
  double bytes = 0;
  const auto add = [&](const Convolution& layer, double repeats) {
    const auto pixels = static_cast<double>(layer.in_size) * static_cast<double>(layer.in_size);
    const auto in = static_cast<double>(layer.in);
    const auto out = static_cast<double>(layer.out);
    const auto kernel = static_cast<double>(layer.kernel);
    bytes += repeats * (18 * kernel * kernel * in * out + 4 * images * pixels * (in + out));
  };
  add(network.stem, 1);
  for (const ResidualBlock& block : network.blocks) {
    for (const Convolution& layer : block.convolutions)
      add(layer, static_cast<double>(block.repeats));
    if (block.projection) add(*block.projection, static_cast<double>(block.repeats));
  }
  return bytes +
         18 * static_cast<double>(network.classes) * static_cast<double>(network.last().out);
}

double rough_bytes(const Architecture& model, double tokens) {
  if (model.convolutional) return rough_bytes(*model.convolutional, tokens);
  const double layers = static_cast<double>(model.layers);
  const double hidden = static_cast<double>(model.hidden);
  const double ffn = static_cast<double>(model.ffn);
  const double query = static_cast<double>(model.heads) * static_cast<double>(model.head_dim);
  const double rows = static_cast<double>(model.vocabulary) +
                      static_cast<double>(model.max_positions) +
                      static_cast<double>(model.segments);
  const double parameters = layers * hidden * (4 * query + 3 * ffn) + 2 * hidden * (rows + hidden);
  return 18 * parameters + layers * tokens * (8 * hidden + 12 * query + 6 * ffn) +
         6 * tokens * (static_cast<double>(model.vocabulary) + hidden);
}

// Beyond this bytes would not be counted right; it is far beyond what any chip holds.
void check_size(const Job& job, const JsonReader& training) {
  constexpr double most_bytes = 1e18;
  const double tokens = static_cast<double>(job.training.micro_batch) *
                        static_cast<double>(job.training.sequence_length);
  if (rough_bytes(job.model, tokens) > most_bytes)
    training.fail("the model and its micro batch need more than 10^18 bytes a chip");
}

void check_sequence(const Job& job, const JsonReader& training) {
  const uint64_t longest = job.model.longest_sequence();
  if (job.training.sequence_length <= longest) return;
  const std::string limit = job.model.convolutional
                                ? "an image counts as one token; it must be 1"
                                : "it must be at most " + std::to_string(longest) +
                                      ", the positions that " + job.model.name + " has learned";
  place_of(training, "sequence_length")
      .fail(std::to_string(job.training.sequence_length) + " is too long: " + limit);
}

void check_library(const Job& job, const LibraryChoice& told, const JsonReader& place) {
  for (const std::vector<Axis>& axes : axes_with_choice(job.system, job.layout))
    if (const auto why = obstacle(told, job.system, axes))
      place.fail("the collective library of " + job.system.name + ' ' + *why);
  if (!job.system.library.ways.empty() && (job.layout.pieces > 1 || !job.layout.ordered))
    place.fail(job.system.library.name +
               " cuts buffers by itself and has one stream; \"pieces\" must be 1 and "
               "\"collective_streams\" \"one\"");
}

// Every dimension that is named must be there, and its algorithm possible along the groups' axes.
void check_algorithms(const Job& job, const Algorithms& algorithms, const JsonReader& place) {
  if (algorithms.library) return check_library(job, *algorithms.library, place);
  for (const std::vector<Axis>& axes : axes_with_choice(job.system, job.layout))
    for (const Axis& axis : axes) {
      if (axis.size == 1) continue;
      const Algorithm algorithm = algorithms.of(axis.name);
      if (const auto why = obstacle(algorithm, axis, job.system))
        place.fail('"' + to_string(algorithm) + "\" along " + axis.name + " of " + job.system.name +
                   " (" + std::to_string(axis.size) + " ranks) " + *why);
    }
  std::vector<std::string> names;
  for (const Axis& axis : fabric_axes(job.system)) names.push_back(axis.name);
  for (const auto& [name, algorithm] : algorithms.along)
    if (std::find(names.begin(), names.end(), name) == names.end())
      place.fail('"' + name + "\" is no dimension of " + job.system.name + "; it has " +
                 one_of(names));
}

void check_ranks(const Job& job, const JsonReader& layout) {
  const Layout& of = job.layout;
  if (of.data * of.model_ranks() == job.system.chips()) return;
  place_of(layout, "data")
      .fail(std::to_string(of.data) + " x tensor " + std::to_string(of.tensor) + " x pipeline " +
            std::to_string(of.pipeline) + " x context " + std::to_string(of.context) +
            " is not the " + std::to_string(job.system.chips()) + " chips of " + job.system.name);
}

void check_misfit(const Job& job, const JsonReader& layout) {
  if (const auto found = misfit(job.model, job.training, job.layout))
    place_of(layout, found->key.c_str()).fail(found->why);
}

// `layout` and `training` are where the job's values are stated.
void check_job(const Job& job, const JsonReader& layout, const JsonReader& training) {
  check_misfit(job, layout);
  check_ranks(job, layout);
  const uint64_t per_microbatch = job.training.micro_batch * job.layout.data;
  if (job.training.global_batch % per_microbatch != 0)
    place_of(training, "global_batch")
        .fail(std::to_string(job.training.global_batch) +
              " is no multiple of micro_batch x data (" + std::to_string(job.training.micro_batch) +
              " x " + std::to_string(job.layout.data) + " = " + std::to_string(per_microbatch) +
              ") on " + job.system.name + "; the nearest is " +
              std::to_string(nearest_multiple(job.training.global_batch, per_microbatch)));
  check_peaks(job, training);
  check_recomputation(job, training);
  check_sequence(job, training);
  check_size(job, training);
  check_shard(job, layout);
  check_algorithms(job, job.layout.algorithms, place_of(layout, "algorithm"));
  for (const auto& [op, algorithms] : job.layout.algorithms_of)
    check_algorithms(job, algorithms, place_of(place_of(layout, "algorithm_of"), op.c_str()));
}

void check_purchase(const JsonReader& json, const System& system, const std::string& purchase) {
  if (system.prices.contains(purchase)) return;
  std::vector<std::string> kinds;
  for (const auto& [kind, price] : system.prices) kinds.push_back(kind);
  json.fail('"' + purchase + "\" is no price of " + system.name + "; it has " + one_of(kinds));
}

// A compared system has as many units as give it no more than the own one of what they are to have
// in common; at equal chips "units" may say how many. It may say what of "training" and "layout" is
// different on it; of the algorithms of collectives it gets the best unless it says which.
Job compared_job(const Job& own, JsonReader json, JsonReader& root, const std::string& at) {
  Job job = own;
  job.faults.clear();
  const bool counted = json.find("units").has_value();
  const auto training = json.find("training");
  const auto layout = json.find("layout");
  job.system = read_system(json);
  if (at == "chips" && !counted && !job.system.graph)
    job.system.units = std::max<Rank>(1, own.system.chips() / job.system.chips_per_unit());
  if (training) job.training = read_training(*training, &own.training);
  job.layout = layout_of(job.system, layout, &own.layout);
  const JsonReader stated = training ? *training : root.at("training");
  check_purchase(json, job.system, job.purchase);
  check_peaks(job, stated);
  check_recomputation(job, stated);
  if (at != "chips") set_units(job, at == "time" ? 1 : units_at(own, job, at));
  check_job(job, layout ? *layout : root.at("layout"), stated);
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
  return read_scenario(Document::load(path, overrides), path.lexically_normal().string());
}

Scenario read_scenario(const Document& document, const std::string& path) {
  JsonReader root(document);
  root.at("format").as_one_of({"trnsim.scenario.v1"});
  Scenario scenario;
  scenario.path = path;
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
  check_job(job, root.at("layout"), root.at("training"));

  if (auto at = root.find("compare_at")) scenario.compare_at = at->as_one_of(comparison_bases());
  std::vector<Job> compared;
  if (auto systems = root.find("compare_with")) {
    for (const JsonReader& system : systems->items()) {
      compared.push_back(compared_job(job, system, root, scenario.compare_at));
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
