// SPDX-License-Identifier: Apache-2.0
//
// The output file: written under a temporary name beside the target and renamed when complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace mote::convert {

class OutputFile {
 public:
  /// Creates the temporary file. All members throw Error with the system's reason (a full disk, say).
  explicit OutputFile(const std::filesystem::path& target);
  /// Removes the temporary file unless commit() came to its end.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Appends to what write() has written.
  void write(std::span<const std::byte> bytes);
  void write_at(uint64_t offset, std::span<const std::byte> bytes);
  /// The file under its temporary name, all of it written so far.
  const std::filesystem::path& temporary() const { return temporary_; }
  /// Flushes to the disk and renames.
  void commit();

 private:
  [[noreturn]] void fail_with_errno(const char* what) const;

  std::filesystem::path target_, temporary_;
  int file_ = -1;
  uint64_t end_ = 0;  // of what write() has written
};

}  // namespace mote::convert
