#pragma once

#include <string>
#include <vector>

#include "system/network.h"
#include "system/systems.h"

namespace trnsim::test {

/// A level of links without losses: bandwidth and latency as in "10 GB/s", "1 us".
inline std::string graph_level(const std::string& name, const std::string& bandwidth,
                               const std::string& latency) {
  const auto number = [](const std::string& value) {
    return R"({"value": )" + value + R"(, "source": "a test"})";
  };
  return R"({"name": ")" + name + R"(", "bandwidth": )" + number('"' + bandwidth + '"') +
         R"(, "latency": )" + number('"' + latency + '"') + R"(, "efficiency": )" + number("1") +
         '}';
}

/// A system of H100 chips that are joined by the graph; `members` are those of the graph's object.
inline System graph_system(const std::string& members) {
  const std::string text = R"({"name": "graph", "chip": {"file": "chips/h100.json"},
      "graph": {"name": "fabric", )" +
                           members + R"(},
      "prices": {"spot": {"value": "1 USD/h", "source": "a test"}},
      "power": {"chip": {"value": "1 W", "source": "a test"},
                "host": {"value": "1 W", "source": "a test"},
                "pue": {"value": 1, "source": "a test"}}})";
  const Document document = Document::parse(text, "graph.json", topologies(), {});
  return read_system(JsonReader(document));
}

/// The names of the links from one chip to another.
inline std::vector<std::string> route_names(const Network& network, Rank from, Rank to) {
  std::vector<Link> links;
  network.route(from, to, links);
  std::vector<std::string> names;
  for (const Link link : links) names.push_back(network.name(link));
  return names;
}

}  // namespace trnsim::test
