// SPDX-License-Identifier: Apache-2.0
#include "host/media/readers/sound_bytes.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "host/base/error.h"

namespace mote::cli {
namespace {

constexpr uint64_t kMostKept = uint64_t{1} << 32;  // bytes of standard input

}  // namespace

SoundBytes::SoundBytes(const std::string& path) : keeps_(path == "-"), is_piped_(keeps_) {
  fd_ = keeps_ ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) convert::fail("{}: {}", path, std::strerror(errno));
}

SoundBytes::SoundBytes(std::span<const std::byte> bytes) : kept_(bytes.begin(), bytes.end()), keeps_(true) {}

SoundBytes::~SoundBytes() {
  if (!keeps_ && fd_ >= 0) ::close(fd_);
}

size_t SoundBytes::read(std::byte* to, size_t count) {
  size_t done = 0;
  if (keeps_) {
    keep(at_ + count);
    if (at_ < kept_.size()) done = std::min<size_t>(count, kept_.size() - static_cast<size_t>(at_));
    if (done != 0) std::memcpy(to, kept_.data() + at_, done);
  }
  while (!keeps_ && done < count) {
    const ssize_t part = ::pread(fd_, to + done, count - done, static_cast<off_t>(at_ + done));
    if (part <= 0) break;
    done += static_cast<size_t>(part);
  }
  at_ += done;
  return done;
}

void SoundBytes::keep(uint64_t end) {
  while (fd_ >= 0 && kept_.size() < std::min(end, kMostKept)) {
    const size_t held = kept_.size();
    kept_.resize(held + 65536);
    const ssize_t part = ::read(fd_, kept_.data() + held, 65536);
    kept_.resize(held + static_cast<size_t>(part > 0 ? part : 0));
    if (part <= 0) fd_ = -1;
  }
}

}  // namespace mote::cli
