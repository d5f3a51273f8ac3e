// SPDX-License-Identifier: Apache-2.0
//
// The output file: written without a name, or under a temporary one beside the target, and renamed when
// complete. A process that ends before leaves nothing behind where the file system has nameless files
// (O_TMPFILE); elsewhere remove_temporary_files() removes the file. A target that is a symbolic link stays
// one: the file that it names is written. A file that is replaced hands on its permissions. Writes are
// gathered to whole aligned pieces of 2 MiB: of such a piece Linux makes one huge page where the file system
// has large folios, and what maps the file reads its weights a few percent faster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "host/base/open_files.h"

namespace mote::convert {

/// Throws Error if a file that is to be written is one of those that are read, by whatever name. "-" stands
/// for standard input, "" for nothing.
void refuse_input(const std::string& target, const std::vector<std::string>& inputs);

class OutputFile {
 public:
  /// Creates the temporary file. All members throw Error with the system's reason (a full disk, say). A file
  /// that is mapped at the time is refused: it is being read.
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
  /// Flushes to the disk, renames, and flushes the directory. If that last step fails, a target that was not
  /// there before is removed again, and one that was is replaced.
  void commit();

 private:
  [[noreturn]] void fail_with_errno(const char* what) const;

  std::filesystem::path folder() const;
  void flush();
  bool take_permissions();
  void flush_folder(bool replaced);
  template <class Create>
  void try_names(Create create);

  std::filesystem::path given_;   // the target as the caller names it, for messages
  std::filesystem::path target_;  // no symbolic link
  std::filesystem::path name_;    // of the temporary file, empty while it has none
  OpenFile listed_;
  int file_ = -1;
  uint64_t end_ = 0;  // of what write() has written
  std::vector<std::byte> gathered_;
  uint64_t gathered_at_ = 0;  // its offset
};

}  // namespace mote::convert
