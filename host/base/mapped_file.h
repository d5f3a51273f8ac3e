// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "host/base/open_files.h"

namespace mote::convert {

/// A file mapped read-only.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);  // throws Error
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::byte> bytes() const { return bytes_; }
  const std::filesystem::path& path() const { return path_; }

  /// From now on 4 MiB and more are read at a touch of what is not in memory yet, to huge pages where the
  /// file system has large folios. Nowhere an error.
  void read_by_huge_pages() const;

 private:
  std::filesystem::path path_;
  std::span<const std::byte> bytes_;
  OpenFile listed_;
};

}  // namespace mote::convert
