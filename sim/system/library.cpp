#include "system/library.h"

#include <array>
#include <utility>

namespace trnsim {
namespace {

constexpr std::array<std::pair<LibraryWay::Kind, const char*>, 5> kinds{{
    {LibraryWay::Kind::ring, "ring"},
    {LibraryWay::Kind::tree, "tree"},
    {LibraryWay::Kind::nvls, "nvls"},
    {LibraryWay::Kind::nvls_tree, "nvls_tree"},
    {LibraryWay::Kind::pat, "pat"},
}};

LibraryWay read_way(JsonReader json, std::vector<Number>& numbers) {
  const auto seconds = [&](const char* key) {
    auto read = json.find(key);
    return read ? read->as_number(Unit::seconds, &numbers, 0.0, 1.0) : Number{};
  };
  const auto rate = [&](const char* key) {
    auto read = json.find(key);
    return read ? read->as_number(Unit::bytes_per_second, &numbers, 1e6, 1e18) : Number{};
  };
  std::vector<std::string> names;
  for (const auto& [kind, name] : kinds) names.emplace_back(name);
  LibraryWay way;
  const std::string algorithm = json.at("algorithm").as_one_of(names);
  for (const auto& [kind, name] : kinds)
    if (algorithm == name) way.kind = kind;
  way.protocol = json.at("protocol").as_string();
  way.launch = seconds("launch");
  way.inside = seconds("inside");
  way.across = seconds("across");
  way.each = seconds("each");
  way.payload = json.at("payload").as_number(Unit::ratio, &numbers, 1e-3, 1.0);
  auto inside = json.find("payload_inside");
  way.payload_inside = inside ? inside->as_number(Unit::ratio, &numbers, 1e-3, 1.0) : way.payload;
  way.most_inside = rate("most_inside");
  way.most_across = rate("most_across");
  json.reject_unknown_keys();
  return way;
}

}  // namespace

std::string name_of(LibraryWay::Kind kind) {
  for (const auto& [known, name] : kinds)
    if (known == kind) return name;
  return "";
}

Library read_library(JsonReader json, std::vector<Number>& numbers) {
  Library library;
  if (auto format = json.find("format")) format->as_one_of({"trnsim.library.v1"});
  library.name = json.at("name").as_string();
  if (auto wire = json.find("wire")) library.wire = wire->as_number(Unit::seconds, &numbers, 0, 1);
  if (auto fill = json.find("fill"))
    library.fill = fill->as_number(Unit::ratio, &numbers, 0.0, 10.0);
  if (auto ways = json.find("ways"))
    for (JsonReader& way : ways->items()) {
      library.ways.push_back(read_way(way, numbers));
      for (size_t i = 0; i + 1 < library.ways.size(); ++i)
        if (library.ways[i].kind == library.ways.back().kind &&
            library.ways[i].protocol == library.ways.back().protocol)
          way.fail("describes " + name_of(library.ways[i].kind) + " with " +
                   library.ways[i].protocol + " a second time");
    }
  if (auto sizes = json.find("sizes"))
    for (JsonReader& size : sizes->items()) {
      LibrarySize read;
      read.from = size.at("from").as_number(Unit::bytes, &numbers, 0, 1e18);
      if (library.sizes.empty() ? read.from.value > 0
                                : read.from.value <= library.sizes.back().from.value)
        size.at("from").fail("sizes must begin at 0 B and grow");
      read.algorithm = algorithm_of(size.at("algorithm").as_one_of(algorithm_names()));
      size.reject_unknown_keys();
      library.sizes.push_back(std::move(read));
    }
  if (library.ways.empty() == library.sizes.empty())
    json.fail("a library has either \"ways\" or \"sizes\"");
  json.reject_unknown_keys();
  return library;
}

}  // namespace trnsim
