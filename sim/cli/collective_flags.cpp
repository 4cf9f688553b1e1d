#include "cli/collective_flags.h"

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/units.h"
#include "cli/questions.h"
#include "plan/groups.h"
#include "plan/library_group.h"

namespace trnsim {
namespace {

// Sizes as nccl-tests reads them: K, M, G and T are powers of 1024.
Bytes read_size(const std::string& option, const std::string& text) {
  constexpr double most = 1e15;
  size_t end = 0;
  double value = -1;
  try {
    value = std::stod(text, &end);
  } catch (const std::exception&) {
  }
  const std::string unit = text.substr(std::min(end, text.size()));
  const std::string letters = "KMGT";
  const size_t power = unit.size() == 1 ? letters.find(unit) : std::string::npos;
  if (!unit.empty() && power != std::string::npos)
    for (size_t i = 0; i <= power; ++i) value *= 1024;
  else if (!unit.empty())
    value = -1;
  if (!(value >= 1 && value <= most))
    throw InputError(option + ": \"" + text +
                     "\" is no size; write for example 8, 64K, 128M or 16G (powers of 1024)");
  return static_cast<Bytes>(value);
}

Algorithm read_algorithm(const std::string& name) {
  if (name == "best" || name == "library")
    throw InputError("--algorithm: \"" + name + "\" is for all dimensions, and stands alone");
  const std::vector<std::string> names = algorithm_names();
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw InputError("--algorithm: \"" + name + "\" must be \"library\", \"best\" or " +
                     one_of(names));
  return algorithm_of(name);
}

// "library", "library=tree" or "library=tree/LL".
std::optional<LibraryChoice> read_library_choice(const CollectiveFlags& flags,
                                                 const CollectiveJob& job) {
  const std::string& text = flags.algorithms.front();
  const std::string name = text.substr(0, text.find('='));
  if (flags.algorithms.size() > 1 || name != "library") return std::nullopt;
  LibraryChoice made;
  if (name != text) made.algorithm = text.substr(name.size() + 1);
  if (const size_t slash = made.algorithm.find('/'); slash != std::string::npos) {
    made.protocol = made.algorithm.substr(slash + 1);
    made.algorithm.resize(slash);
  }
  if (const auto why = obstacle(made, job.system, group_axes(job)))
    throw InputError("--algorithm: \"" + text + "\": the collective library of " + job.system.name +
                     ' ' + *why);
  return made;
}

// "ring", or "plane=direct" for one dimension; or what the library does.
Algorithms read_choice(const CollectiveFlags& flags, const CollectiveJob& job) {
  Algorithms made;
  made.library = read_library_choice(flags, job);
  if (made.library) return made;
  for (const std::string& text : flags.algorithms) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
      made.everywhere = read_algorithm(text);
    else
      made.along[text.substr(0, equals)] = read_algorithm(text.substr(equals + 1));
  }
  std::vector<std::string> names;
  for (const Axis& axis : group_axes(job)) {
    names.push_back(axis.name);
    const Algorithm algorithm = made.of(axis.name);
    if (const auto why = obstacle(algorithm, axis, job.system); why && axis.size > 1)
      throw InputError("--algorithm: \"" + to_string(algorithm) + "\" along " + axis.name + " (" +
                       std::to_string(axis.size) + " ranks) " + *why);
  }
  for (const auto& [name, algorithm] : made.along)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw InputError("--algorithm: the group has no dimension \"" + name + "\"; it has " +
                       one_of(names));
  return made;
}

System load_system(const CollectiveFlags& flags) {
  std::vector<Override> overrides = parse_overrides(flags.sets);
  overrides.push_back({"units", std::to_string(flags.units)});
  const Document document = Document::load(flags.system, overrides);
  return read_system(JsonReader(document));
}

CollectiveOp read_op(const std::string& name) {
  std::vector<std::string> names;
  for (const CollectiveOp op : collective_ops()) names.push_back(to_string(op));
  if (std::find(names.begin(), names.end(), name) != names.end()) return collective_op_of(name);
  names.emplace_back("all_to_all_v");
  throw InputError("--op: \"" + name + "\" must be " + one_of(names));
}

Fidelity read_fidelity(const std::string& name) {
  for (const Fidelity fidelity : {Fidelity::message, Fidelity::phase, Fidelity::analytic})
    if (to_string(fidelity) == name) return fidelity;
  throw InputError("--fidelity: \"" + name + "\" must be \"message\", \"phase\" or \"analytic\"");
}

// What differs by pair of ranks; with --skew for a buffer of `bytes`.
PairSizes read_sizes(const CollectiveFlags& flags, Rank ranks, Bytes bytes) {
  if (flags.sizes.empty() == (flags.skew == 0))
    throw InputError("--op: \"all_to_all_v\" needs --sizes or --skew, and not both");
  if (flags.sizes.empty()) {
    if (!(flags.skew >= 1 && flags.skew <= ranks))
      throw InputError("--skew: must be from 1 (all alike) to the " + std::to_string(ranks) +
                       " ranks of the group (all for one)");
    return skewed_sizes(ranks, bytes, flags.skew);
  }
  const Document document = Document::load(flags.sizes, {});
  PairSizes sizes = read_pair_sizes(JsonReader(document));
  if (sizes.ranks != ranks)
    throw InputError("--sizes: " + flags.sizes + " is for " + std::to_string(sizes.ranks) +
                     " ranks, the group has " + std::to_string(ranks));
  return sizes;
}

// What people get who ask for nothing: what the library does, if it is known and can run the group.
bool library_can(const CollectiveJob& job) {
  return is_chosen(job.op) && !obstacle(LibraryChoice{}, job.system, group_axes(job));
}

AskedCollective read_one(CollectiveFlags flags, const System& system) {
  AskedCollective asked;
  CollectiveJob& job = asked.job;
  const bool is_v = flags.op == "all_to_all_v";
  job.op = is_v ? CollectiveOp::all_to_all : read_op(flags.op);
  job.pieces = flags.pieces;
  job.engine = {read_fidelity(flags.fidelity), !flags.unfolded};
  for (const std::string& text : flags.settings) {
    const auto [key, value] = split_setting(text);
    if (const auto why = obstacle(key, value)) throw InputError("--cfg: " + key + ' ' + *why);
    job.engine.simgrid[key] = value;
  }
  job.system = system;
  job.group = {flags.count == 0 ? system.chips() : flags.count, flags.stride, flags.offset,
               flags.everywhere};
  if (const auto why = obstacle(job.group, system)) throw InputError("--count: " + *why);
  if (is_v) {
    job.sizes = read_sizes(flags, job.group.count, 1);
    if (!flags.sizes.empty()) asked.bytes = job.sizes->largest_buffer();
    asked.skew = flags.skew;
  } else if (!flags.sizes.empty() || flags.skew != 0) {
    throw InputError("--op: only \"all_to_all_v\" has --sizes or --skew");
  }
  if (flags.algorithms.empty()) flags.algorithms = {library_can(job) ? "library" : "best"};
  asked.best = flags.algorithms == std::vector<std::string>{"best"};
  if (!asked.best) job.algorithms = read_choice(flags, job);
  return asked;
}

Rank read_count(const std::string& key, const std::string& value) {
  constexpr unsigned long most = 20'000'000;
  size_t end = 0;
  unsigned long count = most + 1;
  try {
    count = std::stoul(value, &end);
  } catch (const std::exception&) {
  }
  if (end != value.size() || count > most)
    throw InputError("--with: " + key + ": \"" + value + "\" must be a whole number up to " +
                     std::to_string(most));
  return static_cast<Rank>(count);
}

// "op=all_gather,count=8,stride=8,size=64M": the group and the algorithm are not those of the
// first.
AskedCollective read_beside(const CollectiveFlags& first, const std::string& text,
                            const System& system) {
  CollectiveFlags flags;
  flags.fidelity = first.fidelity;
  flags.unfolded = first.unfolded;
  flags.settings = first.settings;
  Bytes bytes = 0;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    const size_t equals = part.find('=');
    const std::string key = part.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
    const std::vector<std::string> keys{"op",     "size",  "count",  "stride",
                                        "offset", "every", "pieces", "algorithm"};
    if (value.empty() || std::find(keys.begin(), keys.end(), key) == keys.end())
      throw InputError("--with: \"" + part + "\" must be KEY=VALUE with KEY " + one_of(keys));
    if (key == "op") flags.op = value;
    if (key == "size") bytes = read_size("--with: size", value);
    if (key == "count") flags.count = read_count(key, value);
    if (key == "stride") flags.stride = std::max<Rank>(1, read_count(key, value));
    if (key == "offset") flags.offset = read_count(key, value);
    if (key == "every") flags.everywhere = value == "true";
    if (key == "pieces") flags.pieces = std::max<Rank>(1, read_count(key, value));
    if (key == "algorithm") flags.algorithms = {value};
  }
  AskedCollective asked = read_one(flags, system);
  asked.bytes = bytes;
  return asked;
}

}  // namespace

CollectiveJob AskedCollective::of_size(Bytes of_row, std::vector<Candidate>* tried) const {
  CollectiveJob made = job;
  made.bytes = bytes > 0 ? bytes : of_row;
  if (skew > 0) made.sizes = skewed_sizes(job.group.count, made.bytes, skew);
  if (made.sizes) made.bytes = made.sizes->largest_buffer();
  return best ? with_best_algorithms(made, tried) : made;
}

std::vector<Bytes> sizes_of(const CollectiveFlags& flags) {
  if (flags.op == "barrier" || !flags.sizes.empty()) return {0};
  const Bytes least = read_size("--min", flags.min);
  const Bytes most = read_size("--max", flags.max);
  if (least > most)
    throw InputError("--min: " + flags.min + " is more than --max (" + flags.max + ")");
  if (!(flags.factor > 1)) throw InputError("--factor: must be above 1, so that sizes grow");
  std::vector<Bytes> sizes;
  for (auto size = static_cast<double>(least); size <= static_cast<double>(most);
       size = std::max(size + 1, size * flags.factor))
    sizes.push_back(static_cast<Bytes>(size));
  return sizes;
}

std::vector<AskedCollective> read_collectives(const CollectiveFlags& flags) {
  const System system = load_system(flags);
  std::vector<AskedCollective> all{read_one(flags, system)};
  for (const std::string& text : flags.with) all.push_back(read_beside(flags, text, system));
  return all;
}

}  // namespace trnsim
