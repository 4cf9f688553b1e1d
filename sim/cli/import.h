#pragma once

#include <string>

namespace trnsim {

/// Reads a network that another simulator's file describes, and writes it as a system file.
struct Import {
  std::string kind;  // "simgrid", "astra", "simai"
  std::string file;
  std::string chip;  // a chip file, or nothing
  std::string out;   // or nothing for standard output
};

/// Says on stderr what was left out, and returns the exit code. Throws InputError.
int import_system(const Import& import);

}  // namespace trnsim
