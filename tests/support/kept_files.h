// SPDX-License-Identifier: Apache-2.0
//
// Files that tests make once for all processes of a run of ctest. The environment's MOTE_KEPT_FILES names
// their folder, which the test `support:kept_files` empties before all others; without it a process keeps
// its own.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "host/base/system.h"
#include "tests/support/pages.h"

namespace test {

/// A folder of this process alone, removed when it ends.
inline const std::filesystem::path& temporary_folder() {
  struct Folder {
    std::filesystem::path path;
    Folder() {
      std::string pattern = (std::filesystem::temp_directory_path() / "mote-test-XXXXXX").string();
      if (!mote::testing::make_own_folder(pattern)) std::abort();
      path = pattern;
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const Folder folder;
  return folder.path;
}

/// The path of the file of that name, which make(path) writes where no process of the run has done so. Two
/// that make it at once write the same bytes, and each puts its own there whole.
template <class Make>
std::filesystem::path kept_file(const std::string& name, const Make& make) {
  const char* shared = std::getenv("MOTE_KEPT_FILES");
  const std::filesystem::path folder = shared == nullptr ? temporary_folder() : shared;
  std::filesystem::path path = folder / name;
  if (std::filesystem::exists(path)) return path;
  std::filesystem::create_directories(folder);
  const std::filesystem::path unfinished =
      folder / (name + "." + std::to_string(mote::convert::process_number()) + ".mote");
  make(unfinished);
  std::filesystem::rename(unfinished, path);
  return path;
}

}  // namespace test
