#include "plan/published_collective.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace trnsim {
namespace {

using nlohmann::json;

const std::vector<const char*> texts = {
    "group",         "source",  "locator", "system", "accelerator", "intra_network",
    "inter_network", "library", "dtype",   "place",  "notes",       "algorithm"};
const std::vector<const char*> measured = {"time_us", "derived_time_us", "algbw_gbs", "busbw_gbs"};

PublishedCollective read_row(JsonReader row) {
  PublishedCollective made;
  made.id = row.at("id").as_string();
  json& stated = made.configuration;
  for (const char* key : texts)
    if (auto found = row.find(key)) stated[key] = found->as_string();
  made.group = row.at("group").as_string();
  JsonReader op = row.at("collective");
  for (const CollectiveOp known : collective_ops())
    if (to_string(known) == op.as_string()) made.op = known;
  stated["collective"] = op.as_string();
  const auto count = [&](const char* key) {
    const auto value = static_cast<uint64_t>(row.at(key).as_integer(1, 20'000'000));
    stated[key] = value;
    return static_cast<Rank>(value);
  };
  made.ranks = count("n_ranks");
  made.nodes = count("n_nodes");
  count("ranks_per_node");
  if (auto year = row.find("year")) stated["year"] = year->as_integer(1, 9999);
  made.bytes = static_cast<Bytes>(row.at("size_bytes").as_integer(0, int64_t{1} << 50));
  stated["size_bytes"] = made.bytes;
  std::optional<Seconds> time;
  for (const char* key : measured)
    if (auto found = row.find(key)) {
      const double value = found->as_quantity(Unit::ratio, 0, 1e15);
      if (!time && std::string_view(key).ends_with("time_us") && value > 0) time = value * 1e-6;
    }
  made.measured = time;
  row.reject_unknown_keys();
  return made;
}

}  // namespace

std::vector<PublishedCollective> load_published_collectives(const std::filesystem::path& file) {
  const Document document = Document::load_list(file);
  std::vector<PublishedCollective> made;
  std::set<std::string> ids;
  for (JsonReader& row : JsonReader(document).items()) {
    made.push_back(read_row(row));
    if (!ids.insert(made.back().id).second)
      row.at("id").fail('"' + made.back().id + "\" names two measurements");
  }
  if (made.empty()) JsonReader(document).fail("holds no measurement");
  return made;
}

CollectiveRules CollectiveRules::load(const std::filesystem::path& file) {
  const Document document = Document::load(file, {});
  JsonReader root(document);
  root.at("format").as_one_of({"trnsim.collective_rules.v1"});
  CollectiveRules rules;
  rules.folder_ = file.parent_path();
  rules.refusals_ = read_rules(document, "refusals", "why");
  rules.systems_ = read_rules(document, "systems", "system");
  rules.settings_ = read_rules(document, "settings", "set");
  for (const char* list : {"refusals", "systems", "settings"}) root.find(list);
  root.reject_unknown_keys();
  return rules;
}

CollectiveRules::Replay CollectiveRules::replay(const PublishedCollective& of,
                                                Fidelity fidelity) const {
  Replay made;
  const auto& stated = of.configuration;
  if (!of.op) return {{}, 0, stated["collective"].get<std::string>() + " is not described"};
  for (const Rule& rule : refusals_)
    if (rule.applies_to(stated)) return {{}, 0, rule.then.get<std::string>()};
  const auto system = std::find_if(systems_.begin(), systems_.end(),
                                   [&](const Rule& rule) { return rule.applies_to(stated); });
  if (system == systems_.end())
    return {{}, 0, "no rule names a system for " + stated.value("system", "an unstated one")};
  json settings = json::object();
  for (const Rule& rule : settings_)
    if (rule.applies_to(stated)) settings.merge_patch(rule.then);
  json text = {
      {"ranks_a_chip", settings.value("ranks_a_chip", 1)},
      {"launch",
       settings.value("launch", json({{"value", "0 s"}, {"source", "nothing else is stated"}}))},
      {"algorithm", settings.value("algorithm", json("library"))},
      {"system", settings.value("system", json::object())}};
  text["system"]["file"] = system->then;
  try {
    const Document document = Document::parse(text.dump(), of.id, folder_, {});
    JsonReader root(document);
    const auto ranks_a_chip = static_cast<Rank>(root.at("ranks_a_chip").as_integer(1, 1000));
    made.launch = root.at("launch").as_number(Unit::seconds, nullptr, 0.0, 1.0);
    CollectiveJob job;
    job.op = *of.op;
    job.bytes = of.bytes;
    job.engine.fidelity = fidelity;
    job.algorithms = read_algorithms(root.at("algorithm"));
    job.system = read_system(root.at("system"));
    job.group.count = of.ranks / ranks_a_chip;
    const Rank unit = job.system.chips_per_unit();
    if (job.group.count <= unit) {
      job.system.units = 1;
      if (job.group.count < unit && !job.system.graph && job.system.scale_up.size() == 1)
        job.system.scale_up.front().size = job.group.count;  // what else a unit has does nothing
    } else {
      if (job.group.count % unit != 0)
        throw InputError(std::to_string(of.ranks) + " ranks are no whole units of " +
                         job.system.name);
      job.system.units = job.group.count / unit;
    }
    if (const auto why = obstacle(job.group, job.system)) throw InputError(*why);
    made.job = job;
  } catch (const InputError& error) {
    made.why = error.what();
  }
  return made;
}

}  // namespace trnsim
