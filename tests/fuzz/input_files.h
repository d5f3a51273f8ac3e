// SPDX-License-Identifier: Apache-2.0
//
// Inputs that are the files of a directory: each but the last ends with a zero, the last has what is left.
#pragma once

#include <string>
#include <string_view>

#include "tests/support/files.h"

namespace fuzz {

class InputFiles {
 public:
  InputFiles(const uint8_t* data, size_t size) : left_(reinterpret_cast<const char*>(data), size) {}

  uint8_t byte() {
    const uint8_t first = left_.empty() ? 0 : static_cast<uint8_t>(left_[0]);
    left_.remove_prefix(left_.empty() ? 0 : 1);
    return first;
  }
  std::string_view text() {
    const size_t end = left_.find('\0');
    const std::string_view taken = left_.substr(0, end);
    left_.remove_prefix(end == std::string_view::npos ? left_.size() : end + 1);
    return taken;
  }
  std::string_view rest() const { return left_; }

 private:
  std::string_view left_;
};

/// One directory for all inputs of a process.
inline const mote::testing::TempDirectory& directory() {
  static const mote::testing::TempDirectory kDirectory;
  return kDirectory;
}

/// Writes the file; without content there is none.
inline void put_file(const char* name, std::string_view content) {
  const std::filesystem::path path = directory() / name;
  if (!content.empty()) return mote::testing::write_text(path, std::string(content));
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

}  // namespace fuzz
