#pragma once

#include <filesystem>
#include <string>

namespace trnsim {

/// What is in a regular file of at most 64 MiB. Throws InputError, which begins with `asked_by`.
std::string read_text(const std::filesystem::path& path, const std::string& asked_by = "");

}  // namespace trnsim
