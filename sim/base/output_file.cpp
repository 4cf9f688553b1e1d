#include "base/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/error.h"

namespace trnsim {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw InputError(path.string() + ": cannot be written: " + why);
}

}  // namespace

OutputFile::OutputFile(std::filesystem::path path)
    : path_(std::move(path)),
      temporary_(path_.string() + '.' + std::to_string(getpid()) + ".tmp"),
      stream_(temporary_, std::ios::binary | std::ios::trunc) {
  if (!stream_) refuse(path_, std::strerror(errno));
}

OutputFile::~OutputFile() {
  if (committed_) return;
  stream_.close();
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void OutputFile::commit() {
  errno = 0;
  stream_.close();
  if (!stream_) refuse(path_, errno != 0 ? std::strerror(errno) : "the disk may be full");
  std::error_code error;
  std::filesystem::rename(temporary_, path_, error);
  if (error) refuse(path_, error.message());
  committed_ = true;
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  OutputFile file(path);
  file.stream() << text;
  file.commit();
}

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path))
    refuse(path, error ? error.message() : "it is not a folder");
}

}  // namespace trnsim
