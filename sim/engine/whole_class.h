#pragma once

#include <optional>

#include "engine/graph.h"

namespace trnsim {

/// What one fault costs a plan of equal ranks, without telling the faulty one apart: everyone as
/// slow as it bounds the step from above, its own messages alone on their links from below
/// (docs/model.md). If both are equal, that is the step.

/// Whether the bounds hold: no message can ever share a link with more others than when all ranks
/// are in step, and all messages of a pattern have one latency. `plan` and `network` are healthy
/// and their ranks all alike; `slow` is the link that will not be, if it is a link.
bool shares_most_in_step(const Plan& plan, const Network& network, std::optional<Link> slow = {});

/// Puts a chip's speed on all chips.
void slow_all_chips(Graph& graph, double factor);
/// Puts the factor of a link on all links of its class; nothing where no message crosses it.
void slow_all_links(Graph& graph, const Folding& folding, Link link, double factor);
/// Makes each message, in analytic fidelity, take what it takes with no others on the way than
/// those that its sender sends with it.
void leave_alone(Graph& graph, const Network& network, const Folding& folding);

}  // namespace trnsim
