// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a .mote file: mapped or, if asked for, copied to huge pages.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "host/base/mapped_file.h"
#include "tools/mote/huge_pages.h"

namespace mote::cli {

class ModelBytes {
 public:
  /// Throws convert::Error where the file cannot be read, and for a directory, which may be a model to
  /// convert.
  ModelBytes(const std::string& path, bool huge_pages);
  std::span<const std::byte> bytes() const { return file_ ? file_->bytes() : copy_->bytes(); }
  /// Lets the system read more at a touch where a run reads all weights. The bytes must be a model that is
  /// verified.
  void read_ahead() const;
  /// Returns the number of tensors of a model that is verified.
  size_t tensors() const;

 private:
  std::optional<convert::MappedFile> file_;
  std::optional<HugePages> copy_;  // in its place
};

}  // namespace mote::cli
