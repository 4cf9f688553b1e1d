#include "plan/plan.h"

#include <algorithm>
#include <stdexcept>

#include "base/error.h"

namespace trnsim {
namespace {
constexpr Position nothing = std::numeric_limits<Position>::max();
}

void refuse_what_never_ends(const Plan& plan, Rank ranks) {
  constexpr double most = 1e9;
  double routes = 0;
  for (const Pattern& pattern : plan.patterns)
    routes += static_cast<double>(pattern.shifts.size()) * ranks;
  if (routes <= most) return;
  throw CannotRun("telling " + std::to_string(ranks) + " ranks apart needs a look at " +
                  std::to_string(static_cast<uint64_t>(routes / 1e6)) +
                  " million routes, above the limit of 1000 million: take fewer chips, or "
                  "algorithms with fewer peers");
}

const char* to_string(Label::Kind kind) {
  switch (kind) {
    case Label::Kind::forward:
      return "forward";
    case Label::Kind::backward:
      return "backward";
    case Label::Kind::recompute:
      return "recompute";
    case Label::Kind::optimizer:
      return "optimizer";
    case Label::Kind::collective:
      return "collective";
  }
  return "";
}

std::string describe(const Plan& plan, const Label& label) {
  std::string text;
  switch (label.kind) {
    case Label::Kind::forward:
      text = "forward";
      break;
    case Label::Kind::backward:
      text = "backward";
      break;
    case Label::Kind::recompute:
      text = "recompute";
      break;
    case Label::Kind::optimizer:
      text = "optimizer step";
      break;
    case Label::Kind::collective:
      text = label.collective == Label::none ? "collective"
                                             : plan.collectives.at(label.collective).what;
      break;
  }
  if (label.layer != Label::none) text += " layer " + std::to_string(label.layer);
  if (label.bucket != Label::none) text += " bucket " + std::to_string(label.bucket);
  if (label.microbatch != Label::none) text += " microbatch " + std::to_string(label.microbatch);
  if (label.name < plan.names.size()) text += ": " + plan.names[label.name];
  return text;
}

Unrolled::Unrolled(const Program& program, size_t streams)
    : program_(&program), last_on_stream_(streams, nothing) {}

Position Unrolled::add(Step step) {
  const Position position = end();
  Position& before = last_on_stream_.at(step.stream);
  if (before != nothing) step.after.push_back(before);
  before = position;
  std::sort(step.after.begin(), step.after.end());
  step.after.erase(std::unique(step.after.begin(), step.after.end()), step.after.end());
  Entry entry;
  entry.block = next_block_;
  if (const auto* exchange = std::get_if<Exchange>(&step.work)) {
    if (exchange->pattern >= exchanges_on_pattern_.size())
      exchanges_on_pattern_.resize(exchange->pattern + 1);
    entry.ordinal = exchanges_on_pattern_[exchange->pattern]++;
  }
  for (const Position earlier : step.after) {
    if (earlier >= position) throw std::logic_error("a step waits for a later one");
    // What has been forgotten is done on every rank.
    if (earlier >= begin_) entries_[earlier - begin_].dependents.push_back(position);
  }
  entry.step = std::move(step);
  entries_.push_back(std::move(entry));
  return position;
}

Position Unrolled::at(const Name& name) const {
  const auto found = names_.find(name);
  if (found == names_.end()) throw std::logic_error("a step waits for one that was never written");
  return found->second;
}

bool Unrolled::unroll() {
  if (next_block_ == program_->blocks) return false;
  const Position before = end();
  program_->write(next_block_, *this);
  if (end() == before) throw std::logic_error("a block of a program has no steps");
  ++next_block_;
  return true;
}

void Unrolled::forget_before(Position position) {
  // Moves what is kept, so wait until at least as much is dropped.
  if (position - begin_ < entries_.size() / 2 || position == begin_) return;
  entries_.erase(entries_.begin(),
                 entries_.begin() + static_cast<std::ptrdiff_t>(position - begin_));
  begin_ = position;
}

}  // namespace trnsim
