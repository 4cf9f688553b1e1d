#include <charconv>
#include <sstream>
#include <stdexcept>

#include "base/error.h"
#include "result/imported_fabric.h"

namespace trnsim {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t most_nodes = 100'000;

enum class Kind { gpu, nvswitch, other_switch };

class SimaiReader {
 public:
  SimaiReader(std::string_view text, const std::string& file)
      : text_(std::string(text)), file_(file), levels_("imported from " + file) {}

  ImportedFabric read() {
    read_nodes();
    read_links();
    Json chips = Json::array();
    Json switches = Json::array();
    for (size_t node = 0; node < kinds_.size(); ++node)
      (kinds_[node] == Kind::gpu ? chips : switches).push_back(name(node));
    if (chips.empty()) fail("all nodes are switches; there is no GPU");
    ImportedFabric made;
    made.name = gpu_type_ + ", " + std::to_string(chips.size()) + " GPUs";
    made.fabric["graph"] = {{"name", "SimAI topology"}, {"chips_forward", false},
                            {"chips", chips},           {"switches", switches},
                            {"levels", levels_.json()}, {"links", links_}};
    made.left_out = {
        "the GPU type (" + gpu_type_ + "), which names the chip and says nothing of it",
        "the GPUs of a server (" + std::to_string(gpus_per_server_) + "): ranks are one axis",
        "routing over all of equally short ways: of several one is taken"};
    if (errors_ > 0)
      made.left_out.push_back("error rates of " + std::to_string(errors_) + " links");
    return made;
  }

 private:
  [[noreturn]] void fail(const std::string& rule) const {
    throw InputError(file_ + ": line " + std::to_string(line_) + ": " + rule);
  }

  // The words of the next line that has any.
  bool next_line() {
    std::string line;
    words_.clear();
    while (words_.empty() && std::getline(text_, line)) {
      ++line_;
      std::istringstream split(line);
      for (std::string word; split >> word;) words_.push_back(word);
    }
    return !words_.empty();
  }

  uint64_t whole(const std::string& word, uint64_t most) const {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value > most)
      fail('"' + word + "\" must be a whole number from 0 to " + std::to_string(most));
    return value;
  }

  double quantity(const std::string& word, Unit unit) const {
    try {
      return parse_quantity(word, unit);
    } catch (const std::invalid_argument& error) {
      fail(error.what());
    }
  }

  void read_nodes() {
    if (!next_line() || words_.size() != 6)
      fail("must be: nodes, GPUs of a server, NVSwitches, other switches, links, GPU type");
    const uint64_t nodes = whole(words_[0], most_nodes);
    gpus_per_server_ = whole(words_[1], most_nodes);
    const uint64_t nvswitches = whole(words_[2], nodes);
    const uint64_t others = whole(words_[3], nodes);
    links_stated_ = whole(words_[4], most_nodes);
    gpu_type_ = words_[5];
    kinds_.assign(nodes, Kind::gpu);
    if (nvswitches + others == 0) return;
    if (!next_line() || words_.size() != nvswitches + others)
      fail("must list the " + std::to_string(nvswitches + others) +
           " numbers of the switches, and has " + std::to_string(words_.size()));
    for (size_t i = 0; i < words_.size(); ++i) {
      Kind& kind = kinds_[node(words_[i])];
      if (kind != Kind::gpu) fail("node " + words_[i] + " is listed twice");
      kind = i < nvswitches ? Kind::nvswitch : Kind::other_switch;
    }
  }

  size_t node(const std::string& word) const {
    if (kinds_.empty()) fail("there are no nodes");
    return whole(word, kinds_.size() - 1);
  }

  std::string name(size_t node) const {
    return (kinds_[node] == Kind::gpu        ? "GPU "
            : kinds_[node] == Kind::nvswitch ? "NVSwitch "
                                             : "switch ") +
           std::to_string(node);
  }

  void read_links() {
    while (next_line()) {
      if (words_.size() != 5) fail("must be: from, to, bandwidth, latency, error rate");
      const BytesPerSecond bandwidth = quantity(words_[2], Unit::bytes_per_second);
      const Seconds latency = quantity(words_[3], Unit::seconds);
      if (quantity(words_[4], Unit::ratio) != 0) ++errors_;
      links_.push_back({{"level", levels_.name(bandwidth, latency)},
                        {"from", name(node(words_[0]))},
                        {"to", name(node(words_[1]))}});
    }
    if (links_.size() != links_stated_)
      fail("the file has " + std::to_string(links_.size()) + " links; its first line says " +
           std::to_string(links_stated_));
  }

  std::istringstream text_;
  std::string file_;
  int line_ = 0;
  std::vector<std::string> words_;
  std::string gpu_type_;
  uint64_t gpus_per_server_ = 0;
  uint64_t links_stated_ = 0;
  uint64_t errors_ = 0;
  std::vector<Kind> kinds_;
  ImportedLevels levels_;
  Json links_ = Json::array();
};

}  // namespace

ImportedFabric import_simai(std::string_view text, const std::string& file) {
  require_utf8(text, file);
  return SimaiReader(text, file).read();
}

}  // namespace trnsim
