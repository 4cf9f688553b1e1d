#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_reader.h"
#include "base/units.h"
#include "system/library.h"
#include "system/link.h"
#include "system/route_table.h"

namespace trnsim {

/// How a chip cuts the result of a matrix product into pieces that its processors make one by one.
struct ProductTiles {
  Number processors;  // 0: nothing is known of it
  Number rows;        // of a piece
  Number columns;
};

/// What a product of small dimensions does not reach: with `k` columns of the first matrix and
/// `m x n` results it reaches k / (k + inner) * sqrt(m n) / (sqrt(m n) + results) of the rest.
struct ProductFill {
  Number inner;
  Number results;
};

/// A fused attention kernel. With causal attention over `s` tokens and heads of 128 a pass reaches
/// efficiency * s / (s + half) of the bf16 peak.
struct AttentionKernel {
  struct Pass {
    Number efficiency;  // of the bf16 peak, for long sequences
    Number half;        // tokens at which it reaches half of that
  };
  Pass forward, backward;
  Number narrow;  // what heads of 64 reach of it
};

/// One accelerator chip. Peaks are dense.
struct Chip {
  std::string name;
  std::map<std::string, Number> peak;  // FLOP/s by precision: "bf16", "fp8", "fp4"
  Number hbm_capacity;                 // bytes that a job can use
  Number hbm_bandwidth;                // bytes/s
  Number gemm_efficiency;              // reached part of the peak by a busy processor in a product
  Number gemm_efficiency_fp8;          // the same of the fp8 peak
  Number gemm_efficiency_fp4;          // and of the fp4 peak
  ProductTiles tiles;                  // how products fill processors
  ProductFill fill;                    // zeros: nothing is lost
  std::optional<Number> grouped_efficiency;  // what products of several experts reach of one's rate
  Number attention_efficiency;               // reached part of the peak in a fused attention kernel
  std::map<std::string, AttentionKernel> attention;  // what is known of kernels, by name
  Number hbm_efficiency;                             // reached part of hbm_bandwidth
  Number op_overhead;      // seconds that the chip idles between two operations
  Number speed_spread;     // standard deviation of the speed of equal chips, as a part
  Number model_error;      // the same of the logarithm of a step time of ours over the real one
  Number collective_tax;   // part of compute that is lost while a collective is in progress
  Number reduction_rate;   // bytes/s that a collective can sum, beside moving them
  Number reduction_chunk;  // bytes: what is left to sum when the last byte has arrived
};

/// One dimension of a scale-up fabric. Chips of which all other coordinates are equal are joined
/// along it; a message between any two chips of a unit takes the dimensions in their order, and a
/// chip on the way forwards through its own ports.
struct FabricDimension {
  enum class Kind {
    switched,  // every chip has a port to a switch that any of them reaches in one hop
    ring,      // each chip has a link to the next and one to the previous: one axis of a torus
    mesh,      // each chip has a link to each other one
  };
  std::string name;
  Kind kind = Kind::switched;
  Rank size = 1;
  int links = 1;      // parallel links that one hop is spread over
  Number bandwidth;   // bytes/s of one link, each direction
  Number efficiency;  // part of it that payload reaches
  Number latency;     // seconds of one hop along this dimension

  BytesPerSecond port() const { return links * bandwidth.value * efficiency.value; }
};

/// "switch", "ring" or "mesh", as files name it.
std::string name_of(FabricDimension::Kind kind);

/// A layer of switches in the scale-out network. Traffic is spread over all its uplinks.
struct ClosLayer {
  std::string name;
  Rank units = 1;           // units below one group of its switches
  Number oversubscription;  // bandwidth of the ports below : that of the uplinks
};

/// The network between units: NICs, then layers of switches from the lowest to the highest; the
/// highest joins everything.
///
/// With several rails NIC i of a unit is on rail i % rails. A group of the lowest `rail_layers`
/// layers has switches of its own for each rail; what lies above them joins the rails.
struct ScaleOut {
  std::string name;
  Rank chips_per_nic = 1;
  Rank tors_per_nic = 1;  // lowest switches that the ports of a NIC are spread over
  Rank rails = 1;
  Rank rail_layers = 0;
  /// Whether a message to another rail first goes, inside the unit, to the chip in the place of its
  /// receiver (NCCL's PXN), in place of through the layers that join the rails.
  bool rails_meet_in_unit = false;
  Number bandwidth;    // bytes/s of a NIC, each direction
  Number efficiency;   // part of it that payload reaches
  Number latency;      // seconds from chip to chip below one switch
  Number hop_latency;  // seconds that each further layer of switches adds
  std::vector<ClosLayer> layers;
};

struct Power {
  Number chip;  // watts of a busy chip
  Number host;  // watts a chip: its share of host, NIC and fans
  Number pue;   // facility power : IT power
};

/// What a simulation runs on: `units` equal scale-up domains of equal chips on one network; or one
/// unit whose chips a graph joins, and then no scale-up and no scale-out.
struct System {
  std::string name;
  std::string file;
  Rank units = 1;
  Chip chip;
  std::string scale_up_name;
  std::vector<FabricDimension> scale_up;
  ScaleOut scale_out;
  std::shared_ptr<const RouteTable> graph;  // none: links follow from scale-up and scale-out
  Library library;
  std::map<std::string, Number> prices;  // USD a chip-hour by kind of purchase
  Power power;
  std::vector<Number> numbers;  // every sourced number above, as read

  Rank chips_per_unit() const;
  Rank nics_per_unit() const { return chips_per_unit() / scale_out.chips_per_nic; }
  Rank chips() const { return units * chips_per_unit(); }
};

/// Reads a "trnsim.chip.v1" object. Throws InputError.
Chip read_chip(JsonReader json);
/// Reads a "trnsim.system.v1" object (with the scenario's `units`). Throws InputError.
System read_system(JsonReader json);

}  // namespace trnsim
