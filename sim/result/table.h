#pragma once

#include <string>
#include <vector>

namespace trnsim {

/// Rows of cells, the first cell left-aligned and the others right-aligned, in columns that line
/// up. Widths are counted in characters, not bytes (UTF-8).
std::string aligned(const std::vector<std::vector<std::string>>& rows);

/// The number of characters of UTF-8 text.
size_t characters(const std::string& text);

/// `value` rounded to a whole number with its thousands apart: "2 127". For columns that are read
/// and not computed with.
std::string grouped(double value);

}  // namespace trnsim
