#include "system/algorithm.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace trnsim {
namespace {

constexpr std::array<std::pair<Algorithm, const char*>, 9> names{{
    {Algorithm::ring, "ring"},
    {Algorithm::two_way_ring, "two_way_ring"},
    {Algorithm::direct, "direct"},
    {Algorithm::halving_doubling, "halving_doubling"},
    {Algorithm::bruck, "bruck"},
    {Algorithm::pat, "pat"},
    {Algorithm::double_binary_tree, "double_binary_tree"},
    {Algorithm::nvls, "nvls"},
    {Algorithm::sharp, "sharp"},
}};

}  // namespace

std::string to_string(Algorithm algorithm) {
  for (const auto& [known, name] : names)
    if (known == algorithm) return name;
  throw std::logic_error("algorithm without a name");
}

std::vector<std::string> algorithm_names() {
  std::vector<std::string> all;
  for (const auto& [known, name] : names) all.emplace_back(name);
  return all;
}

Algorithm algorithm_of(const std::string& name) {
  for (const auto& [known, its] : names)
    if (its == name) return known;
  throw std::logic_error("no algorithm has this name");
}

std::string to_string(const Algorithms& algorithms) {
  if (const auto& told = algorithms.library) {
    std::string text = "library";
    if (!told->algorithm.empty()) text += ": " + told->algorithm;
    if (!told->protocol.empty()) text += (told->algorithm.empty() ? ": " : ", ") + told->protocol;
    return text;
  }
  std::string text = to_string(algorithms.everywhere);
  for (const auto& [dimension, algorithm] : algorithms.along)
    text += "; " + dimension + ": " + to_string(algorithm);
  return text;
}

Algorithms read_algorithms(JsonReader json) {
  Algorithms made;
  if (!json.is_object()) {
    std::vector<std::string> names = algorithm_names();
    names.emplace_back("library");
    const std::string name = json.as_one_of(names);
    if (name == "library")
      made.library.emplace();
    else
      made.everywhere = algorithm_of(name);
    return made;
  }
  if (auto algorithm = json.find("library")) {
    made.library = {algorithm->as_string(), {}};
    if (auto protocol = json.find("protocol")) made.library->protocol = protocol->as_string();
    json.reject_unknown_keys();
    return made;
  }
  for (const auto& [dimension, name] : json.members()) {
    const Algorithm algorithm = algorithm_of(name.as_one_of(algorithm_names()));
    if (dimension == "other")
      made.everywhere = algorithm;
    else
      made.along[dimension] = algorithm;
  }
  return made;
}

}  // namespace trnsim
