// SPDX-License-Identifier: Apache-2.0
//
// Writes vectors to a NumPy file, at once or over several calls of the command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/output_file.h"
#include "tools/mote/lines.h"

namespace mote::cli {

/// Sums up what decides vectors, in 64 bits (FNV-1a). It tells inputs that changed from those that did not,
/// not from those that somebody made alike.
class Fingerprint {
 public:
  void add(std::string_view bytes);
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325u;
};

/// Keeps the vectors of batches of lines beside the file, in FILE.part, as they come, so that a call that was
/// ended goes on behind the last batch that it had written whole.
///
/// FILE.part is a head of 64 bytes (signature, key, width), then for each batch a BatchHead and its values.
/// Numbers are little-endian, as in NumPy's files here.
class PartFile {
 public:
  /// Opens FILE.part or makes it. Throws convert::Error where another process has it open, or where it is of
  /// another model, other options or another width: `key` and `width` say which.
  PartFile(const std::string& file, uint64_t key, uint32_t width);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  /// Returns how many lines the next batch has that was written before; 0: there is no further one.
  uint32_t next_rows() const { return next_.rows; }
  /// Goes over that batch. Throws convert::Error if its lines were others.
  void pass(std::span<const Line> lines);
  /// Appends a batch.
  void add(std::span<const Line> lines, std::span<const float> values);
  /// Writes the vectors of all batches to FILE, whole or not at all, and removes FILE.part.
  void finish();

 private:
  struct BatchHead {
    uint32_t rows, unused;
    uint64_t lines, values;  // fingerprints
  };
  /// Reads the batch at end_ into values_, and its head into next_; no rows where it is not whole.
  void look_ahead();
  void write_whole(const void* bytes, size_t count);
  bool read_whole(void* bytes, size_t count, uint64_t at) const;
  [[noreturn]] void fail_with_errno(const char* what) const;

  std::string file_, path_;
  uint32_t width_;
  int part_ = -1;
  uint64_t end_ = 0, rows_ = 0;  // of the batches that are passed or added
  BatchHead next_{};
  std::vector<float> values_;
};

/// Writes a NumPy file, version 1.0, of f32 [rows, width], whole or not at all. write(file) writes the
/// values.
void write_npy(const std::string& path, uint64_t rows, size_t width,
               const std::function<void(convert::OutputFile&)>& write);

}  // namespace mote::cli
