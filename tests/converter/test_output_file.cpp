// SPDX-License-Identifier: Apache-2.0
#include "converter/output_file.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "converter/error.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using namespace mote::test;

namespace {

std::vector<std::string> files_in(const TempDirectory& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

}  // namespace

TEST("output file: a committed one takes the target's place") {
  const TempDirectory directory;
  write_text(directory / "model", "old and longer");
  OutputFile file(directory / "model");
  file.write(as_bytes("new..."));
  file.write_at(3, as_bytes("est"));
  TEST_ASSERT_EQUAL_STRING("newest", read_text(file.temporary()));
  TEST_ASSERT_EQUAL_STRING("old and longer", read_text(directory / "model"));
  file.commit();
  TEST_ASSERT_EQUAL_STRING("newest", read_text(directory / "model"));
  TEST_ASSERT_EQUAL_SIZE_T(1, files_in(directory).size());
}

TEST("output file: one that is not committed leaves nothing and replaces nothing") {
  const TempDirectory directory;
  write_text(directory / "model", "old");
  { OutputFile(directory / "model").write(as_bytes("new")); }
  TEST_ASSERT_EQUAL_STRING("old", read_text(directory / "model"));
  TEST_ASSERT_EQUAL_SIZE_T(1, files_in(directory).size());
}

TEST("output file: a process that is killed leaves nothing") {
  const TempDirectory directory;
  const pid_t child = fork();
  if (child == 0) {
    OutputFile file(directory / "model");
    file.write(as_bytes("half"));
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  TEST_ASSERT_EQUAL_INT(child, waitpid(child, &status, 0));
  TEST_ASSERT_TRUE(WIFSIGNALED(status));
  TEST_ASSERT_TRUE(files_in(directory).empty());
}

TEST("output file: directories, devices and places that do not exist are refused") {
  const TempDirectory directory;
  const auto message = [](const std::filesystem::path& path) {
    return message_of<Error>([&] { OutputFile file(path); });
  };
  TEST_ASSERT_TRUE(message(directory.path()).find("it is a directory") != std::string::npos);
  TEST_ASSERT_TRUE(message("/dev/null").find("it is not a regular file") != std::string::npos);
  TEST_ASSERT_TRUE(message(directory / "none/model").find("No such file") != std::string::npos);
}
