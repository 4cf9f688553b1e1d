#include "cli/import.h"

#include <iostream>

#include "base/error.h"
#include "base/input_file.h"
#include "base/json_reader.h"
#include "base/output_file.h"
#include "result/imported_fabric.h"
#include "system/system.h"

namespace trnsim {
namespace {

std::optional<nlohmann::json> chip_of(const std::string& file) {
  if (file.empty()) return std::nullopt;
  const Document document = Document::load(file, {});
  JsonReader(document).at("format").as_one_of({"trnsim.chip.v1"});
  read_chip(JsonReader(document));
  return document.root();
}

ImportedFabric read(const Import& import) {
  const std::string text = read_text(import.file);
  if (import.kind == "simgrid") return import_simgrid(text, import.file);
  if (import.kind == "astra") return import_astra(text, import.file);
  if (import.kind == "simai") return import_simai(text, import.file);
  const std::vector<std::string> kinds{"simgrid", "astra", "simai"};
  throw InputError("--import: \"" + import.kind + "\" must be " + one_of(kinds) +
                   did_you_mean(import.kind, kinds));
}

}  // namespace

int import_system(const Import& import) {
  const auto chip = chip_of(import.chip);
  const ImportedFabric imported = read(import);
  const std::string text = system_json(imported, chip).dump(1) + '\n';
  read_system(JsonReader(Document::parse(text, import.file, "", {})));
  for (const std::string& what : imported.left_out) std::cerr << "left out: " << what << '\n';
  if (import.out.empty()) {
    std::cout << text << std::flush;
    if (!std::cout) throw InputError("standard output: cannot be written");
  } else {
    const std::filesystem::path out(import.out);
    if (out.has_parent_path()) make_folder(out.parent_path());
    write_file(out, text);
  }
  return 0;
}

}  // namespace trnsim
