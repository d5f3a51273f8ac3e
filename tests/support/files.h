// SPDX-License-Identifier: Apache-2.0
//
// Helpers for tests of files and file formats.
#pragma once

#include <stdlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>

#include "tests/support/pages.h"

namespace mote::testing {

/// An empty directory that goes with the object.
class TempDirectory {
 public:
  TempDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "mote_test_XXXXXX").string();
    if (!make_own_folder(name)) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The message of the Error that `action` throws, or "" if it throws none.
template <class Exception, class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  }
  return "";
}

/// Calls `action` with every prefix of `whole`, then with each byte set to 0, to 255 and with each bit
/// flipped. Each time the bytes lie in a heap block of exactly their size, so that the address sanitizer sees
/// any step beyond.
template <class Action>
void for_each_damage(const std::string& whole, Action&& action) {
  const auto run = [&](size_t size, size_t at, uint8_t value) {
    const std::unique_ptr<char[]> copy(new char[size]);
    std::copy_n(whole.data(), size, copy.get());
    if (at < size) copy[at] = static_cast<char>(value);
    action(std::as_bytes(std::span(copy.get(), size)));
  };
  for (size_t size = 0; size < whole.size(); ++size) run(size, size, 0);
  for (size_t at = 0; at < whole.size(); ++at) {
    const auto byte = static_cast<uint8_t>(whole[at]);
    run(whole.size(), at, 0);
    run(whole.size(), at, 255);
    for (unsigned bit = 0; bit < 8; ++bit) run(whole.size(), at, static_cast<uint8_t>(byte ^ (1u << bit)));
  }
}

}  // namespace mote::testing
