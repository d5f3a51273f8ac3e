// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <span>

namespace mote::convert {

/// A file that appears under its name only when it is complete: written beside it as "<name>.<pid>.part",
/// then renamed. Every call throws Error with the system's reason (no space left on device, say).
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);
  /// Removes what was written unless commit() has been reached.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  [[noreturn]] void fail_to_write(int error) const;

  std::filesystem::path path_, part_;
  std::FILE* file_ = nullptr;
};

}  // namespace mote::convert
