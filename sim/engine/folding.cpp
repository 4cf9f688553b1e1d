#include "engine/folding.h"

#include <bit>
#include <numeric>
#include <unordered_map>

namespace trnsim {
namespace {

// 128 bits, so that among 10^7 ranks and links two different ones meet by chance with 10^-24. Sums
// of mixed values are signatures of multisets.
struct Signature {
  uint64_t high = 0;
  uint64_t low = 0;

  bool operator==(const Signature&) const = default;
  Signature& operator+=(const Signature& other) {
    high += other.high;
    low += other.low;
    return *this;
  }
  Signature operator*(uint64_t times) const { return {high * times, low * times}; }
};

struct SignatureHash {
  size_t operator()(const Signature& signature) const { return signature.low; }
};

// The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
uint64_t scramble(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

Signature mix(const Signature& before, uint64_t value) {
  return {scramble(before.high ^ scramble(value + 0x5851f42d4c957f2d)),
          scramble(before.low ^ scramble(value + 0x14057b7ef767814f))};
}

constexpr Signature sends{1, 1};
constexpr Signature receives{2, 2};
constexpr Signature crosses{3, 3};
constexpr Signature starts{4, 4};

struct Signatures {
  std::vector<Signature> rank;
  std::vector<Signature> link;
};

// Numbers the signatures in order of first appearance.
uint32_t intern(const std::vector<Signature>& signatures, std::vector<uint32_t>& colours) {
  std::unordered_map<Signature, uint32_t, SignatureHash> numbers;
  colours.resize(signatures.size());
  for (size_t i = 0; i < signatures.size(); ++i)
    colours[i] =
        numbers.try_emplace(signatures[i], static_cast<uint32_t>(numbers.size())).first->second;
  return static_cast<uint32_t>(numbers.size());
}

Folding intern(const Signatures& signatures) {
  Folding folding;
  folding.rank_colours = intern(signatures.rank, folding.rank);
  folding.link_colours = intern(signatures.link, folding.link);
  return folding;
}

// What a rank or a link is by itself: all that its behaviour depends on but its neighbours.
Signatures own_properties(const Plan& plan, const Network& network, const Orbits& orbits) {
  Signatures own;
  own.rank.resize(orbits.ranks());
  for (Rank rank = 0; rank < orbits.ranks(); ++rank) {
    const auto speed = plan.speed.find(rank);
    own.rank[rank] = mix(mix(starts, plan.program(rank)),
                         std::bit_cast<uint64_t>(speed == plan.speed.end() ? 1.0 : speed->second));
  }
  own.link.resize(orbits.links());
  for (uint32_t link = 0; link < orbits.links(); ++link)
    own.link[link] =
        mix(starts, std::bit_cast<uint64_t>(network.capacity(orbits.representative(link))));
  return own;
}

// One round: properties and colour of each orbit of ranks and links together with the kinds of
// message that one of it sends, receives or carries, each kind with how many.
Folding round(const Plan& plan, const Network& network, const Orbits& orbits,
              const Folding& folding) {
  Signatures next = own_properties(plan, network, orbits);
  for (uint32_t rank = 0; rank < orbits.ranks(); ++rank)
    next.rank[rank] = mix(next.rank[rank], folding.rank[rank]);
  std::vector<uint64_t> weight(orbits.links());
  for (uint32_t link = 0; link < orbits.links(); ++link) {
    next.link[link] = mix(next.link[link], folding.link[link]);
    weight[link] = orbits.weight(link);
  }
  std::vector<Link> route;
  for (size_t p = 0; p < plan.patterns.size(); ++p) {
    const Pattern& pattern = plan.patterns[p];
    for (const Rank shift : pattern.shifts) {
      for (Rank from = 0; from < orbits.ranks(); ++from) {
        const std::optional<Rank> first_hop = pattern.sent(from, shift);
        if (!first_hop) continue;
        const Rank to = pattern.axis.shifted(from, shift);
        const Seconds latency = network.route(from, to, route);
        const uint32_t receiver = orbits.of_rank(to);
        for (Link& link : route) link = orbits.of_link(link);
        Signature crossed{};
        for (const uint32_t link : route) crossed += mix(crosses, folding.link[link]);
        Signature kind = mix(mix(mix(starts, p), folding.rank[from]), folding.rank[receiver]);
        kind = mix(mix(kind, *first_hop), pattern.bytes ? pattern.bytes(from, shift) : 0);
        kind = mix(mix(mix(kind, std::bit_cast<uint64_t>(latency)), crossed.high), crossed.low);
        next.rank[from] += mix(mix(sends, kind.high), kind.low);
        next.rank[receiver] += mix(mix(receives, kind.high), kind.low);
        const Signature carried = mix(mix(crosses, kind.high), kind.low);
        for (const uint32_t link : route) next.link[link] += carried * weight[link];
      }
    }
  }
  return intern(next);
}

// The colours of ranks and links from those of their orbits.
Folding unfolded(const Plan& plan, const Network& network, const Orbits& orbits, Folding folding) {
  if (orbits.ranks() == plan.ranks) return folding;
  std::vector<uint32_t> rank(plan.ranks);
  for (Rank i = 0; i < plan.ranks; ++i) rank[i] = folding.rank[orbits.of_rank(i)];
  std::vector<uint32_t> link(network.links());
  for (Link i = 0; i < network.links(); ++i) link[i] = folding.link[orbits.of_link(i)];
  folding.rank = std::move(rank);
  folding.link = std::move(link);
  return folding;
}

}  // namespace

Folding identity(const Plan& plan, const Network& network) {
  Folding folding;
  folding.rank.resize(plan.ranks);
  folding.link.resize(network.links());
  std::iota(folding.rank.begin(), folding.rank.end(), 0U);
  std::iota(folding.link.begin(), folding.link.end(), 0U);
  folding.rank_colours = plan.ranks;
  folding.link_colours = network.links();
  return folding;
}

Folding refine(const Plan& plan, const Network& network) {
  const std::optional<Orbits> of_units = Orbits::of_units(plan, network);
  return refine(plan, network, of_units ? *of_units : Orbits::each(plan, network));
}

Folding refine(const Plan& plan, const Network& network, const Orbits& orbits) {
  refuse_what_never_ends(plan, orbits.ranks());
  Folding folding = intern(own_properties(plan, network, orbits));
  while (true) {
    // The last round, which splits nothing, is the proof of soundness.
    Folding next = round(plan, network, orbits, folding);
    if (next.rank_colours == folding.rank_colours && next.link_colours == folding.link_colours)
      return unfolded(plan, network, orbits, std::move(folding));
    folding = std::move(next);
  }
}

bool sound(const Plan& plan, const Network& network, const Folding& folding) {
  const Folding next = round(plan, network, Orbits::each(plan, network), folding);
  return next.rank_colours == folding.rank_colours && next.link_colours == folding.link_colours;
}

}  // namespace trnsim
