#include "base/output_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "errors.h"
#include "temporary_folder.h"

namespace trnsim {
namespace {

using Names = std::vector<std::string>;

class OutputFileTest : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "result.json"; }
  test::TemporaryFolder folder_;
};

TEST_F(OutputFileTest, AppearsWhenItIsCommitted) {
  {
    OutputFile output(file());
    output.stream() << "whole";
    EXPECT_FALSE(std::filesystem::exists(file()));
    output.commit();
    EXPECT_EQ(test::read_text(file()), "whole");
  }
  EXPECT_EQ(folder_.names(), Names{"result.json"});
}

TEST_F(OutputFileTest, LeavesNothingIfItIsNotCommitted) {
  { OutputFile(file()).stream() << "half"; }
  EXPECT_EQ(folder_.names(), Names{});
}

TEST_F(OutputFileTest, LeavesTheOldFileUntilTheNewOneIsWhole) {
  write_file(file(), "old");
  { OutputFile(file()).stream() << "half of the new"; }
  EXPECT_EQ(test::read_text(file()), "old");
  write_file(file(), "new");
  EXPECT_EQ(test::read_text(file()), "new");
  EXPECT_EQ(folder_.names(), Names{"result.json"});
}

TEST_F(OutputFileTest, WritesBytesAsTheyAre) {
  const std::string bytes("\0\r\n\xff", 4);
  write_file(file(), bytes);
  EXPECT_EQ(test::read_text(file()), bytes);
}

TEST_F(OutputFileTest, SaysThatItsFolderDoesNotExist) {
  const auto path = folder_.path() / "nowhere" / "result.json";
  EXPECT_EQ(test::error_of([&] { write_file(path, "text"); }),
            path.string() + ": cannot be written: No such file or directory");
}

TEST_F(OutputFileTest, SaysThatAFileStandsWhereItsFolderShould) {
  const auto path = std::filesystem::path(folder_.write("file", "")) / "result.json";
  EXPECT_EQ(test::error_of([&] { write_file(path, "text"); }),
            path.string() + ": cannot be written: Not a directory");
}

TEST_F(OutputFileTest, DoesNotReplaceAFolder) {
  std::filesystem::create_directory(file());
  EXPECT_EQ(test::error_of([&] { write_file(file(), "text"); }),
            file().string() + ": cannot be written: Is a directory");
  EXPECT_EQ(folder_.names(), Names{"result.json"});
}

// A limit on the size of files stands for a full disk: the write fails in the same place.
TEST_F(OutputFileTest, SaysThatTheDiskIsFull) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string error = test::error_of([&] { write_file(file(), std::string(100000, 'x')); });
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(error.rfind(file().string() + ": cannot be written: ", 0), 0) << error;
  EXPECT_EQ(folder_.names(), Names{});
}

TEST_F(OutputFileTest, MakesFoldersAndThoseAboveThem) {
  make_folder(folder_.path() / "a" / "b");
  EXPECT_TRUE(std::filesystem::is_directory(folder_.path() / "a" / "b"));
  make_folder(folder_.path() / "a" / "b");  // once more does no harm
}

TEST_F(OutputFileTest, SaysThatAFileStandsWhereAFolderShould) {
  const std::string path = folder_.write("file", "");
  EXPECT_EQ(test::error_of([&] { make_folder(path); }),
            path + ": cannot be written: Not a directory");
}

}  // namespace
}  // namespace trnsim
