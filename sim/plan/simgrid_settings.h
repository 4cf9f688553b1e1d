#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace trnsim {

/// Settings of SimGrid by its own names ("network/optim"), beside those that trnsim sets itself.
using SimgridSettings = std::map<std::string, std::string>;

/// Why SimGrid does not get this setting from trnsim, if so: it is not known, its results rest on
/// another value, or the value is none of it.
std::optional<std::string> obstacle(const std::string& key, const std::string& value);

/// Splits "KEY:VALUE", as SimGrid's programs take it, or "KEY=VALUE". Throws InputError.
std::pair<std::string, std::string> split_setting(const std::string& text);

}  // namespace trnsim
