#include "plan/part_steps.h"

#include <algorithm>
#include <utility>

namespace trnsim {
namespace {

// Collectives between the operations of a block whose results later operations wait for.
class InTheWay {
 public:
  void add(Position position, uint32_t beside) { waiting_.emplace_back(position, beside); }

  // What the next operation waits for.
  std::vector<Position> for_next() {
    std::vector<Position> now;
    std::erase_if(waiting_, [&](auto& of) {
      if (of.second > 0) {
        --of.second;
        return false;
      }
      now.push_back(of.first);
      return true;
    });
    return now;
  }

 private:
  std::vector<std::pair<Position, uint32_t>> waiting_;
};

Step compute_step(const TimedOperation& operation, const PartSteps& steps) {
  Step step;
  step.stream = compute_stream;
  step.work = Compute{operation.seconds};
  step.label = steps.label;
  step.label.kind = operation.recomputation ? Label::Kind::recompute
                    : steps.backward        ? Label::Kind::backward
                                            : Label::Kind::forward;
  step.label.name = operation.name;
  return step;
}

}  // namespace

void announce(const std::vector<TimedOperation>& operations, TrainingCollectives& collectives,
              Plan& plan) {
  for (const TimedOperation& operation : operations) {
    if (!operation.transfer) continue;
    const Transfer& transfer = *operation.transfer;
    collectives.announce(plan, *transfer.op, operation.what, collectives.over(transfer.over),
                         transfer.bytes);
  }
}

Position add_operations(const std::vector<TimedOperation>& operations, const PartSteps& steps,
                        const TrainingCollectives& collectives, Unrolled& program) {
  const auto is_compute = [](const TimedOperation& of) { return !of.transfer; };
  const auto first = std::find_if(operations.begin(), operations.end(), is_compute);
  const auto last_one = std::find_if(operations.rbegin(), operations.rend(), is_compute);
  std::vector<Position> inputs = steps.begin;  // of the next collective
  InTheWay in_the_way;
  Position last = 0;
  for (size_t i = 0; i < operations.size(); ++i) {
    const TimedOperation& operation = operations[i];
    if (operation.transfer) {
      const Transfer& transfer = *operation.transfer;
      last = collectives.add(program, *transfer.op, operation.what, collectives.over(transfer.over),
                             transfer.bytes, steps.label, inputs);
      in_the_way.add(last, transfer.beside);
    } else {
      Step step = compute_step(operation, steps);
      step.after = in_the_way.for_next();
      if (&operation == &*first) {
        step.after.insert(step.after.end(), steps.begin.begin(), steps.begin.end());
        step.after.insert(step.after.end(), steps.needed.begin(), steps.needed.end());
        step.memory_at_begin = steps.memory_at_begin;
      }
      if (&operation == &*last_one) step.memory_at_end = steps.memory_at_end;
      last = program.add(std::move(step));
      inputs = {last};
    }
    if (steps.after_operation) steps.after_operation(i, last);
  }
  return last;
}

}  // namespace trnsim
