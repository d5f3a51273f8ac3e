// SPDX-License-Identifier: Apache-2.0
//
// The files of this process that a signal handler must know: which ones are mapped, so that a read that fails
// can be told by name, and which temporary ones to remove before the process ends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace mote::convert {

/// A file that is in use, listed from its construction to its destruction; nothing at first.
class OpenFile {
 public:
  OpenFile();
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  /// Mapped at `bytes`.
  void set_mapped(const std::string& path, std::span<const std::byte> bytes);
  /// To be removed if the process ends before clear().
  void set_temporary(const std::string& path);
  void clear();

 private:
  friend bool is_mapped(const std::filesystem::path& path);
  friend const char* mapped_file_at(const void* address);
  friend void remove_temporary_files();

  enum class Use { none, mapped, temporary };

  std::string path_;
  std::span<const std::byte> bytes_;
  std::atomic<Use> use_{Use::none};  // what it guards is written before
  std::atomic<OpenFile*> next_{nullptr};
};

/// Says whether a file, by whatever name, is mapped.
bool is_mapped(const std::filesystem::path& path);

/// The path of the file that is mapped at an address, or null. Safe in signal handlers.
const char* mapped_file_at(const void* address);

/// Safe in signal handlers.
void remove_temporary_files();

}  // namespace mote::convert
