#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <iostream>

#include "base/error.h"
#include "cli/verbs.h"

namespace {

constexpr int fault_of_ours = 1;
constexpr int wrong_input = 2;
constexpr int cannot_run = 3;

int run(int argc, char** argv) {
  CLI::App app{
      "trnsim simulates training on Trainium UltraServers and GPU clusters, message by message"};
  app.set_version_flag("--version", trnsim::version());
  app.require_subcommand(1);
  app.footer(
      "Start with:\n"
      "  trnsim run scenarios/quickstart.json\n"
      "  trnsim VERB --help");
  trnsim::Work work;
  trnsim::add_run(app, work);
  trnsim::add_compare(app, work);
  trnsim::add_collective(app, work);
  trnsim::add_topology(app, work);
  trnsim::add_check(app, work);
  trnsim::add_validate(app, work);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // --help and --version come this way too, with code 0.
    return app.exit(error) == 0 ? 0 : wrong_input;
  }
  return work();
}

}  // namespace

int main(int argc, char** argv) {
  spdlog::set_default_logger(spdlog::stderr_color_st("trnsim"));
  spdlog::set_pattern("%^%l%$: %v");
  try {
    return run(argc, argv);
  } catch (const trnsim::InputError& error) {
    spdlog::error(error.what());
    return wrong_input;
  } catch (const trnsim::CannotRun& error) {
    spdlog::error(error.what());
    return cannot_run;
  } catch (const std::exception& error) {
    spdlog::error("{} (this is a fault of trnsim; please report it with the scenario)",
                  error.what());
    return fault_of_ours;
  }
}
