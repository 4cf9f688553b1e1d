#include "result/topology.h"

#include <iostream>
#include <memory>

#include "base/output_file.h"
#include "cli/import.h"
#include "cli/questions.h"
#include "cli/verbs.h"
#include "result/simgrid_platform.h"
#include "result/topology_picture.h"

namespace trnsim {
namespace {

struct Options {
  std::string system;
  std::vector<std::string> sets;
  std::optional<Rank> units;
  std::optional<Rank> from;
  std::optional<Rank> to;
  std::string dot;
  std::string platform;
  Import import;
  bool json = false;
};

System load_system(const Options& options) {
  if (options.units == 0U) throw InputError("--units: 0 must be at least 1");
  std::vector<Override> overrides = parse_overrides(options.sets);
  if (options.units) overrides.push_back({"units", std::to_string(*options.units)});
  const Document document = Document::load(options.system, overrides);
  JsonReader json(document);
  // Without it a scenario would be refused for a key that it lacks.
  json.at("format").as_one_of({"trnsim.system.v1"});
  return read_system(json);
}

void require_chip(const std::string& option, Rank rank, Rank chips) {
  if (rank >= chips)
    throw InputError(option + ": there is no chip " + std::to_string(rank) +
                     "; the last of all units is " + std::to_string(chips - 1));
}

std::optional<ChipPair> pair_of(const Options& options, const System& system) {
  if (!options.from) return std::nullopt;
  require_chip("--from", *options.from, system.chips());
  require_chip("--to", *options.to, system.chips());
  if (*options.from == *options.to)
    throw InputError("--to: chip " + std::to_string(*options.to) +
                     " is where the route begins; name another");
  return ChipPair{*options.from, *options.to};
}

void make_folder_of(const std::filesystem::path& file) {
  if (file.has_parent_path()) make_folder(file.parent_path());
}

int topology(const Options& options) {
  const System system = load_system(options);
  const Network network(system);
  const std::optional<ChipPair> pair = pair_of(options, system);
  if (!options.platform.empty()) {
    require_platform_size(system);
    make_folder_of(options.platform);
    OutputFile file(options.platform);
    write_simgrid_platform(file.stream(), system, network);
    file.commit();
  }
  if (!options.dot.empty()) {
    make_folder_of(options.dot);
    write_file(options.dot, topology_picture(system));
  }
  if (options.json)
    std::cout << topology_json(system, network, pair).dump(2) << '\n';
  else
    std::cout << topology_report(system, network, pair);
  std::cout.flush();
  if (!std::cout) throw InputError("standard output: cannot be written");
  return 0;
}

}  // namespace

void add_topology(CLI::App& app, Work& work) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "topology", "Show what a system file says: links, routes, distances, bisection");
  verb->add_option("system", options->system, "System file")->required();
  CLI::Option* from =
      verb->add_option("--from", options->from, "Chip at which the route that is shown begins")
          ->type_name("CHIP");
  CLI::Option* to =
      verb->add_option("--to", options->to,
                       "Chip at which it ends; chips are counted through all units, from 0")
          ->type_name("CHIP");
  from->needs(to);
  to->needs(from);
  verb->add_option("--units", options->units, "Number of units, in place of the file's")
      ->type_name("N");
  verb->add_option("--set", options->sets, "Change one value of the system: path=value")
      ->type_name("PATH=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_flag("--json", options->json, "Print one JSON object in place of the tables");
  verb->add_option("--dot", options->dot,
                   "File for a picture of one unit and of how units join: dot -Tsvg FILE")
      ->type_name("FILE");
  verb->add_option("--platform", options->platform,
                   "File for a SimGrid platform (XML, DTD 4.1) with the same links and routes")
      ->type_name("FILE");
  CLI::Option* import =
      verb->add_option("--import", options->import.kind,
                       "Read the file as that of another simulator, and write a system file: a "
                       "platform of SimGrid, ASTRA-sim's network.yml, SimAI's topology")
          ->type_name("simgrid|astra|simai");
  verb->add_option("--chip", options->import.chip, "Chip file of the imported system")
      ->type_name("FILE")
      ->needs(import);
  verb->add_option("--out", options->import.out,
                   "File for the imported system, in place of standard output")
      ->type_name("FILE")
      ->needs(import);
  for (const char* other : {"--from", "--to", "--units", "--set", "--json", "--dot", "--platform"})
    import->excludes(verb->get_option(other));
  verb->footer(
      "Examples:\n"
      "  trnsim topology topologies/trn3-gen2-ultraserver.json\n"
      "  trnsim topology topologies/trn3-gen2-ultraserver.json --units 4 --from 17 --to 103\n"
      "  trnsim topology topologies/tpu-v5p.json --set scale_up.dimensions.0.size=16\n"
      "  trnsim topology topologies/trn2-ultraserver.json --dot out/trn2.dot --platform "
      "out/trn2.xml\n"
      "  trnsim topology topologies/trn3-gen2-ultracluster.json --json\n"
      "  trnsim topology --import simgrid out/trn2.xml --chip topologies/chips/trainium2.json \\\n"
      "      --out out/imported.json\n"
      "Exit code: 0 done, 1 a fault of trnsim, 2 the input is wrong");
  verb->callback([options, &work] {
    work = [options] {
      if (options->import.kind.empty()) return topology(*options);
      options->import.file = options->system;
      return import_system(options->import);
    };
  });
}

}  // namespace trnsim
