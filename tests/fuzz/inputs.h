#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace trnsim::fuzz {

/// A folder from which the includes of the repository's files resolve, and nothing outside it.
inline const std::filesystem::path inputs = TRNSIM_INPUTS;
inline const std::filesystem::path innermost = inputs / "a/b/c";

/// The JSON in `text` without what is nested too deeply for any reader, so that recursion over it
/// is safe; discarded if there is none.
nlohmann::json parsed(std::string_view text);

/// Whether no string in `value`, taken for the name of a file, leads from `folder` out of `inputs`;
/// with an empty folder: out of the current one.
bool stays_inside(const nlohmann::json& value, const std::filesystem::path& folder);

}  // namespace trnsim::fuzz
