#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "temporary_folder.h"

namespace trnsim::test {

struct Outcome {
  int exit_code = -1;  // -1: ended by a signal
  std::string out;
  std::string err;
};

/// Runs a line of shell in the folder of the sources; "trnsim" is the binary under test.
inline Outcome run(const std::string& line) {
  const TemporaryFolder folder;
  const std::string out = folder.path() / "out";
  const std::string err = folder.path() / "err";
  const std::string script = folder.write("script", "trnsim() { '" TRNSIM_BINARY
                                                    "' \"$@\"; }\n"
                                                    "cd '" TRNSIM_SOURCE_DIR "' || exit 99\n" +
                                                        line + '\n');
  const int status = std::system(("sh " + script + " >" + out + " 2>" + err).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(out), read_text(err)};
}

}  // namespace trnsim::test
