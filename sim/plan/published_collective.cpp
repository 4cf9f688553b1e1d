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
  for (const char* key : {"n_nodes", "ranks_per_node"}) count(key);
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

Rules load_collective_rules(const std::filesystem::path& file) {
  return Rules::load(file, "trnsim.collective_rules.v1");
}

CollectiveReplay replay(const PublishedCollective& of, const Rules& rules, Fidelity fidelity) {
  const json& stated = of.configuration;
  if (!of.op) return {{}, stated["collective"].get<std::string>() + " is not described"};
  try {
    json text = {{"ranks_a_chip", 1}, {"algorithm", "library"}};
    text["system"]["file"] = rules.system(
        stated, "no rule names a system for " + stated.value("system", "an unstated one"));
    for (const json& setting : rules.settings(stated)) text.merge_patch(setting);
    const Document document = Document::parse(text.dump(), of.id, rules.folder(), {});
    JsonReader root(document);
    const auto ranks_a_chip = static_cast<Rank>(root.at("ranks_a_chip").as_integer(1, 1000));
    CollectiveJob job;
    job.op = *of.op;
    job.bytes = of.bytes;
    job.engine.fidelity = fidelity;
    job.algorithms = read_algorithms(root.at("algorithm"));
    job.system = read_system(root.at("system"));
    root.reject_unknown_keys();
    job.group.count = of.ranks / ranks_a_chip;
    const Rank unit = job.system.chips_per_unit();
    if (job.group.count > unit && job.group.count % unit != 0)
      throw InputError(std::to_string(of.ranks) + " ranks are no whole units of " +
                       job.system.name);
    job.system.units = std::max<Rank>(1, job.group.count / unit);
    if (job.group.count < unit && !job.system.graph && job.system.scale_up.size() == 1)
      job.system.scale_up.front().size = job.group.count;  // what else a unit has does nothing
    if (const auto why = obstacle(job.group, job.system)) throw InputError(*why);
    return {job, {}};
  } catch (const InputError& error) {
    return {{}, error.what()};
  }
}

}  // namespace trnsim
