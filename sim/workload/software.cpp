#include "workload/software.h"

namespace trnsim {

Software read_software(JsonReader json) {
  Software made;
  if (auto format = json.find("format")) format->as_one_of({"trnsim.software.v1"});
  made.name = json.at("name").as_string();
  const auto seconds = [&](const char* key) {
    return json.at(key).as_number(Unit::seconds, &made.numbers, 0.0, 3600.0);
  };
  made.op_overhead = seconds("op_overhead");
  made.step_overhead = seconds("step_overhead");
  if (json.find("routing_overhead")) made.routing_overhead = seconds("routing_overhead");
  if (auto grouped = json.find("grouped_efficiency"))
    made.grouped_efficiency = grouped->as_number(Unit::ratio, &made.numbers, 1e-3, 1.0);
  if (auto passes = json.find("token_passes"))
    made.token_passes = passes->as_number(Unit::ratio, &made.numbers, 0.0, 100.0);
  json.reject_unknown_keys();
  return made;
}

}  // namespace trnsim
