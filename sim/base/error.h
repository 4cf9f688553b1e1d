#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace trnsim {

/// The user's input is wrong (exit code 2). what() is shown as it is: write it for the person who
/// wrote the file, as "file: place: value and rule; nearest right answer".
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The input is right but asks for what cannot run, a job that does not fit in memory say (exit
/// code 3). what() may hold a table.
class CannotRun : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The one of `candidates` that `word` most likely meant, or "" if none is near (edit distance at
/// most a third of the word's length, at least 2).
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// `; did you mean "x"?` for the nearest candidate, or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// The candidates as `"a", "b" or "c"`.
std::string one_of(const std::vector<std::string>& candidates);

}  // namespace trnsim
