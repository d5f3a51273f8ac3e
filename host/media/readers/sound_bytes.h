// SPDX-License-Identifier: Apache-2.0
//
// Bytes of a file of sound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mote::cli {

/// The bytes of a file, of memory, or of standard input, which are kept so that they can be read again.
class SoundBytes {
 public:
  /// "-": standard input, of which `once` keeps only what lies ahead. Throws convert::Error for a file that
  /// can't be opened.
  explicit SoundBytes(const std::string& path, bool once = false);
  /// Copies the bytes.
  explicit SoundBytes(std::span<const std::byte> bytes);
  ~SoundBytes();
  SoundBytes(const SoundBytes&) = delete;
  SoundBytes& operator=(const SoundBytes&) = delete;

  /// Tells whether the bytes come through a pipe, whose writer did not know their number.
  bool is_piped() const { return is_piped_; }
  uint64_t at() const { return at_; }
  void seek(uint64_t at) { at_ = at; }
  /// Returns how many bytes there are; of a pipe once its writer has ended.
  uint64_t size();
  /// Returns how many bytes there are of those asked for.
  size_t read(std::byte* to, size_t count);

 private:
  void keep(uint64_t end);

  std::vector<std::byte> kept_;
  int fd_ = -1;  // of a file
  bool keeps_, is_piped_ = false, once_ = false, ended_ = false;
  uint64_t at_ = 0, first_ = 0;  // first_: of the bytes kept
};

}  // namespace mote::cli
