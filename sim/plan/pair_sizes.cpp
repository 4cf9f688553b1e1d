#include "plan/pair_sizes.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace trnsim {
namespace {

// The largest sum of a row or a column.
Bytes largest_sum(const PairSizes& sizes, bool with_own) {
  Bytes most = 0;
  for (Rank rank = 0; rank < sizes.ranks; ++rank) {
    Bytes sent = 0;
    Bytes received = 0;
    for (Rank other = 0; other < sizes.ranks; ++other) {
      if (other == rank && !with_own) continue;
      sent += sizes.between(rank, other);
      received += sizes.between(other, rank);
    }
    most = std::max({most, sent, received});
  }
  return most;
}

}  // namespace

Bytes PairSizes::largest_part() const { return largest_sum(*this, false); }

Bytes PairSizes::largest_buffer() const { return largest_sum(*this, true); }

PairSizes skewed_sizes(Rank ranks, Bytes bytes, double skew) {
  const auto hot =
      std::min(bytes, static_cast<Bytes>(std::round(skew * static_cast<double>(bytes) / ranks)));
  const Bytes other = ranks > 1 ? divide_up(bytes - hot, ranks - 1) : 0;
  return {ranks, [hot, other](Rank, Rank to) { return to == 0 ? hot : other; }};
}

PairSizes read_pair_sizes(JsonReader json) {
  constexpr Rank most_ranks = 4096;
  constexpr double most_bytes = 1e15;
  json.at("format").as_one_of({"trnsim.pair_sizes.v1"});
  const double unit = json.at("unit").as_quantity(Unit::bytes, 1, most_bytes);
  JsonReader rows = json.at("sizes");
  const std::vector<JsonReader> senders = rows.items();
  if (senders.empty() || senders.size() > most_ranks)
    rows.fail("must have 1 to " + std::to_string(most_ranks) + " rows, one for each rank");
  const auto ranks = static_cast<Rank>(senders.size());
  const auto table = std::make_shared<std::vector<Bytes>>();
  for (const JsonReader& sender : senders) {
    const std::vector<JsonReader> row = sender.items();
    if (row.size() != ranks)
      sender.fail("has " + std::to_string(row.size()) + " numbers for " + std::to_string(ranks) +
                  " ranks");
    for (const JsonReader& count : row)
      table->push_back(static_cast<Bytes>(unit * static_cast<double>(count.as_integer(
                                                     0, static_cast<int64_t>(most_bytes / unit)))));
  }
  json.find("note");
  json.reject_unknown_keys();
  return {ranks, [table, ranks](Rank from, Rank to) {
            return (*table)[static_cast<size_t>(from) * ranks + to];
          }};
}

}  // namespace trnsim
