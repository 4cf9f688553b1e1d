#pragma once

#include <string>

#include "base/error.h"

namespace trnsim::test {

/// What `action` tells the person whose input is wrong, or "" if it finds nothing wrong.
template <typename Action>
std::string error_of(Action action) {
  try {
    action();
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace trnsim::test
