// How an input becomes the next one. Few changes of single bytes leave JSON that a strict reader
// follows to its end, so most changes here are to one value of the tree.

#include <algorithm>
#include <random>

#include "base/json_reader.h"
#include "inputs.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace trnsim::fuzz {
namespace {

using nlohmann::json;
using Random = std::minstd_rand;

// Where limits lie, and where integers and doubles end.
const std::vector<json> numbers = {
    0,          1,          -1,           2,         3,         64,    65536,   20'000'000,
    1000000000, 4294967295, 4294967296,   INT64_MAX, INT64_MIN, 1e308, -1e-308, 0.5,
    UINT64_MAX, nullptr,    json::array()};

template <typename Container>
auto& any(Container& from, Random& random) {
  return from[random() % from.size()];
}

void collect(json& value, std::vector<json*>& all) {
  all.push_back(&value);
  if (value.is_structured())
    for (json& member : value) collect(member, all);
}

std::string mutated(std::string text) {
  const size_t before = text.size();
  text.resize(before + 32);
  text.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(text.data()), before, text.size()));
  return text;
}

void mutate_text(json& scalar) {
  if (scalar.is_string()) {
    scalar = mutated(scalar.get<std::string>());
    return;
  }
  const json changed = parsed(mutated(scalar.dump()));
  if (!changed.is_discarded()) scalar = changed;
}

void remove_member(json& of, Random& random) {
  if (!of.empty()) of.erase(std::next(of.begin(), static_cast<int>(random() % of.size())));
}

void add_member(json& to, const json& member, Random& random) {
  if (to.is_array())
    to.insert(std::next(to.begin(), static_cast<int>(random() % (to.size() + 1))), member);
  else
    to[mutated("file")] = member;
}

void inline_includes(json& tree) {
  if (!stays_inside(tree, innermost)) return;
  try {
    tree = Document::parse(tree.dump(), "input", innermost, {}).root();
  } catch (const InputError&) {
    // It stays as it is.
  }
}

void mutate(json& tree, Random& random) {
  std::vector<json*> all;
  collect(tree, all);
  json& here = *any(all, random);
  const json other = *any(all, random);
  switch (random() % 8) {
    case 0:
      here = other;
      return;
    case 1:
      here = any(numbers, random);
      return;
    case 2:
      inline_includes(tree);
      return;
    case 3:
    case 4:
      if (here.is_structured()) remove_member(here, random);
      return;
    default:
      if (here.is_structured())
        add_member(here, other, random);
      else
        mutate_text(here);
  }
}

}  // namespace
}  // namespace trnsim::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  using namespace trnsim::fuzz;
  Random random(seed);
  nlohmann::json tree = parsed({reinterpret_cast<const char*>(data), size});
  if (tree.is_structured() && random() % 4 != 0) {
    mutate(tree, random);
    const std::string text = tree.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (text.size() <= max_size) {
      std::copy(text.begin(), text.end(), data);
      return text.size();
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}
