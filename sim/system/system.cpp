#include "system/system.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace trnsim {
namespace {

constexpr double no_limit = std::numeric_limits<double>::max();
constexpr Rank most_chips = 20'000'000;
constexpr Rank largest_mesh = 64;             // so that links stay countable in 32 bits
constexpr Rank largest_unit_of_rails = 4096;  // where they meet in it: its pairs are counted
constexpr double slowest_link = 1e3;  // bytes/s; below it SimGrid's absolute precision shows
constexpr double fastest_link = 1e18;

const std::vector<std::string> purchases = {"on_demand", "capacity_block", "reserved", "spot"};

// The numbers of one system, collected while it is read.
struct Numbers {
  std::vector<Number>& all;

  Number rate(JsonReader json) {
    return json.as_number(Unit::bytes_per_second, &all, slowest_link, fastest_link);
  }
  Number efficiency(JsonReader json) { return json.as_number(Unit::ratio, &all, 1e-3, 1.0); }
  Number seconds(JsonReader json) { return json.as_number(Unit::seconds, &all, 0.0, 3600.0); }
  Number watts(JsonReader json) { return json.as_number(Unit::watts, &all, 0.0, 1e9); }
};

ProductTiles read_tiles(JsonReader json, Numbers numbers) {
  const auto count = [&](const char* key) {
    return json.at(key).as_number(Unit::ratio, &numbers.all, 1.0, 65536.0);
  };
  const ProductTiles tiles{count("processors"), count("rows"), count("columns")};
  json.reject_unknown_keys();
  return tiles;
}

ProductFill read_fill(JsonReader json, Numbers numbers) {
  const auto width = [&](const char* key) {
    return json.at(key).as_number(Unit::ratio, &numbers.all, 0.0, 65536.0);
  };
  const ProductFill fill{width("inner"), width("results")};
  json.reject_unknown_keys();
  return fill;
}

AttentionKernel read_attention_kernel(JsonReader json, Numbers numbers) {
  const auto pass = [&](JsonReader read) {
    AttentionKernel::Pass made;
    made.efficiency = numbers.efficiency(read.at("efficiency"));
    made.half = read.at("half").as_number(Unit::ratio, &numbers.all, 0.0, 1e6);
    read.reject_unknown_keys();
    return made;
  };
  AttentionKernel kernel;
  kernel.forward = pass(json.at("forward"));
  kernel.backward = pass(json.at("backward"));
  kernel.narrow = numbers.efficiency(json.at("narrow"));
  json.reject_unknown_keys();
  return kernel;
}

Chip read_chip(JsonReader json, Numbers numbers) {
  Chip chip;
  if (auto format = json.find("format")) format->as_one_of({"trnsim.chip.v1"});
  chip.name = json.at("name").as_string();
  JsonReader peaks = json.at("peak");
  for (auto& [precision, peak] : peaks.members()) {
    if (precision != "bf16" && precision != "fp8" && precision != "fp4" && precision != "fp32")
      peak.fail("unknown precision" + did_you_mean(precision, {"bf16", "fp8", "fp4", "fp32"}));
    chip.peak[precision] = peak.as_number(Unit::flops_per_second, &numbers.all, 1e9, no_limit);
  }
  if (chip.peak.empty()) peaks.fail("names no precision");
  JsonReader hbm = json.at("hbm");
  chip.hbm_capacity = hbm.at("capacity").as_number(Unit::bytes, &numbers.all, 1e6, 1e18);
  chip.hbm_bandwidth = numbers.rate(hbm.at("bandwidth"));
  chip.hbm_efficiency = numbers.efficiency(hbm.at("efficiency"));
  hbm.reject_unknown_keys();
  JsonReader compute = json.at("compute");
  chip.gemm_efficiency = numbers.efficiency(compute.at("gemm_efficiency"));
  chip.attention_efficiency = numbers.efficiency(compute.at("attention_efficiency"));
  auto fp8 = compute.find("gemm_efficiency_fp8");
  chip.gemm_efficiency_fp8 = fp8 ? numbers.efficiency(*fp8) : chip.gemm_efficiency;
  auto fp4 = compute.find("gemm_efficiency_fp4");
  chip.gemm_efficiency_fp4 = fp4 ? numbers.efficiency(*fp4) : chip.gemm_efficiency_fp8;
  if (auto tiles = compute.find("tiles")) chip.tiles = read_tiles(*tiles, numbers);
  if (auto fill = compute.find("fill")) chip.fill = read_fill(*fill, numbers);
  if (auto grouped = compute.find("grouped_efficiency"))
    chip.grouped_efficiency = numbers.efficiency(*grouped);
  if (auto spread = compute.find("speed_spread"))
    chip.speed_spread = spread->as_number(Unit::ratio, &numbers.all, 0.0, 0.2);
  if (auto error = compute.find("model_error"))
    chip.model_error = error->as_number(Unit::ratio, &numbers.all, 0.0, 1.0);
  if (auto kernels = compute.find("attention"))
    for (auto& [name, kernel] : kernels->members())
      chip.attention[name] = read_attention_kernel(kernel, numbers);
  chip.op_overhead = numbers.seconds(compute.at("op_overhead"));
  compute.reject_unknown_keys();
  JsonReader collectives = json.at("collectives");
  chip.collective_tax = collectives.at("tax").as_number(Unit::ratio, &numbers.all, 0.0, 0.9);
  chip.reduction_rate = numbers.rate(collectives.at("reduction_rate"));
  chip.reduction_chunk =
      collectives.at("reduction_chunk").as_number(Unit::bytes, &numbers.all, 0.0, 1e12);
  collectives.reject_unknown_keys();
  json.reject_unknown_keys();
  return chip;
}

FabricDimension read_dimension(JsonReader json, Numbers numbers) {
  FabricDimension dimension;
  dimension.name = json.at("name").as_string();
  const std::string kind = json.at("kind").as_one_of({"switch", "ring", "mesh"});
  dimension.kind = kind == "switch" ? FabricDimension::Kind::switched
                   : kind == "ring" ? FabricDimension::Kind::ring
                                    : FabricDimension::Kind::mesh;
  JsonReader size = json.at("size");
  dimension.size = static_cast<Rank>(size.as_integer(1, 65536));
  if (dimension.kind == FabricDimension::Kind::mesh && dimension.size > largest_mesh)
    size.fail(size.shown() + " chips in a mesh; at most " + std::to_string(largest_mesh));
  if (auto links = json.find("links"))
    dimension.links = static_cast<int>(links->as_integer(1, 1024));
  if (auto planes = json.find("planes")) {
    const int64_t count = planes->as_integer(1, 1024);
    if (dimension.kind != FabricDimension::Kind::switched)
      planes->fail("only a dimension of kind \"switch\" has planes");
    if (dimension.links % count != 0)
      planes->fail(std::to_string(count) + " does not divide the links of a chip (" +
                   std::to_string(dimension.links) + ")");
  }
  dimension.bandwidth = numbers.rate(json.at("bandwidth"));
  dimension.efficiency = numbers.efficiency(json.at("efficiency"));
  dimension.latency = numbers.seconds(json.at("latency"));
  json.reject_unknown_keys();
  return dimension;
}

void read_rails(JsonReader& json, ScaleOut& out, Rank chips_per_unit) {
  auto rails = json.find("rails");
  auto layers = json.find("rail_layers");
  auto between = json.find("between_rails");
  const Rank nics = chips_per_unit / out.chips_per_nic;
  if (rails) {
    out.rails = static_cast<Rank>(rails->as_integer(1, nics));
    if (nics % out.rails != 0)
      rails->fail(rails->shown() + " does not divide the NICs of a unit (" + std::to_string(nics) +
                  ")");
  }
  if (out.rails == 1) {
    for (const auto& needs_rails : {layers, between})
      if (needs_rails) needs_rails->fail("there is one rail; this is for \"rails\" above 1");
    return;
  }
  if (out.layers.empty())
    rails->fail("needs a layer whose switches the rails have; \"layers\" is empty");
  out.rail_layers = 1;
  if (layers)
    out.rail_layers =
        static_cast<Rank>(layers->as_integer(1, static_cast<int64_t>(out.layers.size())));
  if (between) out.rails_meet_in_unit = between->as_one_of({"switches", "unit"}) == "unit";
  if (out.rails_meet_in_unit && chips_per_unit > largest_unit_of_rails)
    between->fail("rails meet in units of at most " + std::to_string(largest_unit_of_rails) +
                  " chips; here are " + std::to_string(chips_per_unit));
}

ScaleOut read_scale_out(JsonReader json, Numbers numbers, Rank chips_per_unit) {
  ScaleOut out;
  out.name = json.at("name").as_string();
  JsonReader nic = json.at("nic");
  JsonReader chips = nic.at("chips");
  out.chips_per_nic = static_cast<Rank>(chips.as_integer(1, chips_per_unit));
  if (chips_per_unit % out.chips_per_nic != 0)
    chips.fail(chips.shown() + " does not divide the chips of a unit (" +
               std::to_string(chips_per_unit) + ")");
  out.bandwidth = numbers.rate(nic.at("bandwidth"));
  out.efficiency = numbers.efficiency(nic.at("efficiency"));
  out.latency = numbers.seconds(nic.at("latency"));
  nic.reject_unknown_keys();
  out.hop_latency = numbers.seconds(json.at("hop_latency"));
  if (auto tors = json.find("tors_per_nic"))
    out.tors_per_nic = static_cast<Rank>(tors->as_integer(1, 64));
  Rank below = 1;
  for (JsonReader layer : json.at("layers").items()) {
    ClosLayer read;
    read.name = layer.at("name").as_string();
    for (const ClosLayer& other : out.layers)
      if (other.name == read.name)
        layer.at("name").fail('"' + read.name +
                              "\" names two layers; links could not be told apart");
    JsonReader units = layer.at("units");
    read.units = static_cast<Rank>(units.as_integer(1, most_chips));
    if (read.units % below != 0)
      units.fail(units.shown() + " is no multiple of the layer below (" + std::to_string(below) +
                 ")");
    below = read.units;
    read.oversubscription =
        layer.at("oversubscription").as_number(Unit::ratio, &numbers.all, 1e-3, 1e3);
    layer.reject_unknown_keys();
    out.layers.push_back(std::move(read));
  }
  read_rails(json, out, chips_per_unit);
  json.reject_unknown_keys();
  return out;
}

void read_dimensions_and_layers(System& system, JsonReader& json, Numbers numbers) {
  JsonReader scale_up = json.at("scale_up");
  system.scale_up_name = scale_up.at("name").as_string();
  JsonReader dimensions = scale_up.at("dimensions");
  double chips = system.units;
  for (JsonReader dimension : dimensions.items()) {
    system.scale_up.push_back(read_dimension(dimension, numbers));
    for (size_t i = 0; i + 1 < system.scale_up.size(); ++i)
      if (system.scale_up[i].name == system.scale_up.back().name)
        dimension.at("name").fail('"' + system.scale_up[i].name +
                                  "\" names two dimensions; links could not be told apart");
    chips *= system.scale_up.back().size;
    if (chips > most_chips)
      dimension.fail("makes more than " + std::to_string(most_chips) + " chips in all");
  }
  if (system.scale_up.empty()) dimensions.fail("names no dimension");
  scale_up.reject_unknown_keys();

  system.scale_out = read_scale_out(json.at("scale_out"), numbers, system.chips_per_unit());
}

std::shared_ptr<const RouteTable> read_graph_of(System& system, JsonReader& json,
                                                JsonReader& graph) {
  for (const char* other : {"scale_up", "scale_out"})
    if (json.find(other))
      graph.fail(std::string("describes the whole network; the system also has a \"") + other +
                 '"');
  if (system.units != 1)
    json.at("units").fail(json.at("units").shown() +
                          ": a graph describes the whole system; must be 1");
  GraphFabric read = read_graph(graph, system.numbers);
  try {
    return std::make_shared<const RouteTable>(std::move(read));
  } catch (const std::invalid_argument& error) {
    graph.fail(error.what());
  }
}

}  // namespace

std::string name_of(FabricDimension::Kind kind) {
  switch (kind) {
    case FabricDimension::Kind::switched:
      return "switch";
    case FabricDimension::Kind::ring:
      return "ring";
    case FabricDimension::Kind::mesh:
      return "mesh";
  }
  return "";
}

Rank System::chips_per_unit() const {
  Rank chips = graph ? graph->chips() : 1;
  for (const FabricDimension& dimension : scale_up) chips *= dimension.size;
  return chips;
}

Chip read_chip(JsonReader json) {
  std::vector<Number> numbers;
  return read_chip(std::move(json), Numbers{numbers});
}

System read_system(JsonReader json) {
  System system;
  Numbers numbers{system.numbers};
  if (auto format = json.find("format")) format->as_one_of({"trnsim.system.v1"});
  system.name = json.at("name").as_string();
  system.file = json.at("name").file();
  if (auto units = json.find("units"))
    system.units = static_cast<Rank>(units->as_integer(1, most_chips));
  system.chip = read_chip(json.at("chip"), numbers);

  if (auto graph = json.find("graph"))
    system.graph = read_graph_of(system, json, *graph);
  else
    read_dimensions_and_layers(system, json, numbers);
  if (auto library = json.find("library")) system.library = read_library(*library, system.numbers);
  JsonReader prices = json.at("prices");
  for (auto& [kind, price] : prices.members()) {
    if (std::find(purchases.begin(), purchases.end(), kind) == purchases.end())
      price.fail("is no kind of purchase; write " + one_of(purchases) +
                 did_you_mean(kind, purchases));
    system.prices[kind] = price.as_number(Unit::usd_per_hour, &system.numbers, 0.0, 1e6);
  }
  if (system.prices.empty()) prices.fail("names no price");
  JsonReader power = json.at("power");
  system.power.chip = numbers.watts(power.at("chip"));
  system.power.host = numbers.watts(power.at("host"));
  system.power.pue = power.at("pue").as_number(Unit::ratio, &system.numbers, 1.0, 10.0);
  power.reject_unknown_keys();
  json.reject_unknown_keys();
  return system;
}

}  // namespace trnsim
