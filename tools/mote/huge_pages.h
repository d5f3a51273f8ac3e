// SPDX-License-Identifier: Apache-2.0
//
// Bytes copied to huge pages (2 MiB on x86-64 and 4 KiB aarch64). A token reads every weight once: in pages
// of 4 KiB that is a translation for each 64 cache lines, and no prefetcher goes on past the end of a page.
#pragma once

#include <cstddef>
#include <span>

namespace mote::cli {

class HugePages {
 public:
  /// Throws convert::Error where memory is short or the system has no huge pages.
  explicit HugePages(std::span<const std::byte> bytes);
  ~HugePages();
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  void* mapping_;
  size_t mapped_;
  std::span<const std::byte> bytes_;
};

}  // namespace mote::cli
