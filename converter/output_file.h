// SPDX-License-Identifier: Apache-2.0
//
// The output file: written without a name, or under a temporary one beside the target, and renamed when
// complete. What ends the process before leaves nothing behind where the file system has nameless files
// (O_TMPFILE). Writes are gathered to whole aligned pieces of 2 MiB: of such a piece Linux makes one huge
// page where the file system has large folios, and what maps the file reads its weights a few percent faster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

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
  /// Where this process can read all that is written so far.
  std::filesystem::path temporary();
  /// Flushes to the disk and renames.
  void commit();

 private:
  [[noreturn]] void fail_with_errno(const char* what) const;

  bool open_nameless();
  void flush();
  template <class Create>
  void try_names(Create create);

  std::filesystem::path target_;
  std::filesystem::path name_;  // of the temporary file, empty while it has none
  int file_ = -1;
  uint64_t end_ = 0;  // of what write() has written
  std::vector<std::byte> gathered_;
  uint64_t gathered_at_ = 0;  // its offset
};

}  // namespace mote::convert
