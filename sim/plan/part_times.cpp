#include "plan/part_times.h"

#include <memory>
#include <utility>

#include "plan/part_steps.h"

namespace trnsim {

Plan parts_alone(const Job& job) {
  Plan plan;
  plan.ranks = job.system.chips();
  auto collectives = std::make_shared<TrainingCollectives>(job, plan);
  std::vector<std::vector<TimedOperation>> passes;
  for (const PartOperations& part : model_operations(job.model, job.training, job.layout))
    for (const Operations* operations : {&part.forward, &part.again, &part.backward}) {
      passes.push_back(timed(*operations, job, plan));
      if (passes.back().empty()) passes.back().push_back({});  // nothing takes no time
      announce(passes.back(), *collectives, plan);
    }
  const size_t blocks = passes.size();
  plan.programs.push_back(
      {blocks, [collectives = std::shared_ptr<const TrainingCollectives>(std::move(collectives)),
                passes = std::move(passes)](size_t block, Unrolled& program) {
         PartSteps steps;
         steps.backward = block % 3 == 2;
         steps.label.layer = static_cast<int32_t>(block);
         if (program.end() > 0) steps.begin = {program.end() - 1};
         add_operations(passes[block], steps, *collectives, program);
       }});
  return plan;
}

}  // namespace trnsim
