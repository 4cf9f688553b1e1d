#include "base/input_file.h"

#include <fstream>
#include <sstream>
#include <utility>

#include "base/error.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;

constexpr size_t largest_file = 64 << 20;

}  // namespace

std::string read_text(const fs::path& path, const std::string& asked_by) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const std::string name = path.lexically_normal().string();
  if (!fs::exists(status)) throw InputError(asked_by + name + ": no such file");
  // A folder cannot be read, and a device may never end.
  if (!fs::is_regular_file(status)) throw InputError(asked_by + name + ": is not a regular file");
  if (fs::file_size(path, error) > largest_file)
    throw InputError(asked_by + name + ": is larger than 64 MiB");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw InputError(asked_by + name + ": cannot be read");
  return std::move(text).str();
}

}  // namespace trnsim
