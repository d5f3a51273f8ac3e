// SPDX-License-Identifier: Apache-2.0
#include "host/base/output_file.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using namespace mote::testing;

namespace {

std::vector<std::string> files_in(const TempDirectory& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  OutputFile file(path);
  file.write(as_bytes(text));
  file.commit();
}

mode_t mode_of(const std::filesystem::path& path) {
  struct stat info = {};
  TEST_ASSERT_EQUAL_INT(0, stat(path.c_str(), &info));
  return info.st_mode & 07777;
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

TEST("output file: writes of any size and order make up one file") {
  const TempDirectory directory;
  constexpr size_t kBytes = 5 << 20;
  std::string text(kBytes, ' ');
  for (size_t i = 0; i < kBytes; ++i) text[i] = static_cast<char>('a' + i * i / 7 % 26);
  OutputFile file(directory / "model");
  size_t head = 1000, size = 1;
  for (size_t at = head; at < kBytes; at += size, size = size * 3 % 999983 + 1) {
    file.write_at(at, as_bytes(text.substr(at, size)));
  }
  file.write_at(0, as_bytes(text.substr(0, head)));
  TEST_ASSERT_TRUE(read_text(file.temporary()) == text);
  text.replace(3000000, 5, "again");
  file.write_at(3000000, as_bytes("again"));
  file.commit();
  TEST_ASSERT_TRUE(read_text(directory / "model") == text);
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

TEST("output file: a target that is a link stays one, and what it names is written") {
  const TempDirectory directory;
  std::filesystem::create_directory(directory / "far");
  write_text(directory / "far/model", "old");
  std::filesystem::create_symlink("far/model", directory / "near");
  std::filesystem::create_symlink("near", directory / "link");
  write_file(directory / "link", "new");
  TEST_ASSERT_TRUE(std::filesystem::is_symlink(directory / "link"));
  TEST_ASSERT_TRUE(std::filesystem::is_symlink(directory / "near"));
  TEST_ASSERT_EQUAL_STRING("new", read_text(directory / "far/model"));
  TEST_ASSERT_EQUAL_SIZE_T(3, files_in(directory).size());
}

TEST("output file: a link to a file that is not there makes it") {
  const TempDirectory directory;
  std::filesystem::create_directory(directory / "far");
  std::filesystem::create_symlink(directory / "far/model", directory / "link");
  write_file(directory / "link", "new");
  TEST_ASSERT_TRUE(std::filesystem::is_symlink(directory / "link"));
  TEST_ASSERT_EQUAL_STRING("new", read_text(directory / "far/model"));
}

TEST("output file: links that lead in a circle are refused") {
  const TempDirectory directory;
  std::filesystem::create_symlink("b", directory / "a");
  std::filesystem::create_symlink("a", directory / "b");
  const std::string message = message_of<Error>([&] { OutputFile file(directory / "a"); });
  TEST_ASSERT_TRUE(message.find("/a: Too many levels of symbolic links") != std::string::npos);
  TEST_ASSERT_EQUAL_SIZE_T(2, files_in(directory).size());
}

TEST("output file: a file that is replaced hands on its permissions, a new one gets the usual ones") {
  const TempDirectory directory;
  const mode_t mask = umask(022);
  for (const mode_t mode : {0600, 0640, 0444, 0755}) {
    CAPTURE(mode);
    write_text(directory / "model", "old");
    TEST_ASSERT_EQUAL_INT(0, chmod((directory / "model").c_str(), mode));
    write_file(directory / "model", "new");
    TEST_ASSERT_EQUAL_INT(mode, mode_of(directory / "model"));
    std::filesystem::remove(directory / "model");
  }
  write_file(directory / "model", "new");
  umask(mask);
  TEST_ASSERT_EQUAL_INT(0644, mode_of(directory / "model"));
}

TEST("output file: what replaces a private file is private while it is written") {
  const TempDirectory directory;
  write_text(directory / "model", "old");
  TEST_ASSERT_EQUAL_INT(0, chmod((directory / "model").c_str(), 0600));
  OutputFile file(directory / "model");
  file.write(as_bytes("new"));
  TEST_ASSERT_EQUAL_INT(0600, mode_of(file.temporary()));
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
