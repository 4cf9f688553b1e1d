#pragma once

#include <string>

#include "base/units.h"

namespace trnsim {

// Places and sizes are in inches; y grows upwards.
struct Place {
  double x = 0;
  double y = 0;
};

constexpr double line_of_text = 0.24;

/// A string as Graphviz reads it.
std::string quoted(const std::string& text);

/// The text of a graph whose nodes all have their places.
class Picture {
 public:
  void node(const std::string& name, const Place& place, const std::string& attributes);
  void edge(const std::string& from, const std::string& to, const std::string& attributes);
  /// A corner of a line.
  std::string corner(const Place& place);
  /// A line of text whose left end is at `place`.
  void caption(const std::string& text, const Place& place, const std::string& colour);
  std::string text() const;

 private:
  std::string text_;
  int corners_ = 0;
  int captions_ = 0;
};

}  // namespace trnsim
