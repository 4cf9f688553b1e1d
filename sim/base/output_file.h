#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace trnsim {

/// A file that appears under its name only when it is complete: it is written beside it under a
/// temporary name, which is removed if it is never committed.
class OutputFile {
 public:
  /// Throws InputError if the file cannot be made.
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::ostream& stream() { return stream_; }
  /// Gives the file its name. Throws InputError if anything could not be written.
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::ofstream stream_;
  bool committed_ = false;
};

/// Writes a whole file at once, in the same way.
void write_file(const std::filesystem::path& path, std::string_view text);

/// Makes a folder and those above it. Throws InputError if that cannot be done.
void make_folder(const std::filesystem::path& path);

}  // namespace trnsim
