// SPDX-License-Identifier: Apache-2.0
#include "host/media/readers/sound_bytes.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "host/base/error.h"
#include "host/base/system.h"
#include "host/media/readers/sound_readers.h"

namespace mote::cli {
namespace {

constexpr uint64_t kMostKept = uint64_t{1} << 32;    // bytes of standard input
constexpr uint64_t kMostPassed = uint64_t{1} << 20;  // bytes that were read, of an input that is read once

}  // namespace

void check_sound_format(const std::string& name, uint32_t channels, uint32_t rate) {
  if (channels < 1 || channels > kMostSoundChannels || rate < kSlowestSound || rate > kFastestSound)
    convert::fail("{}: {} channels of {} samples a second are not supported", name, channels, rate);
}

SoundBytes::SoundBytes(const std::string& path, bool once)
    : keeps_(path == "-"), is_piped_(keeps_), once_(once && keeps_) {
  if (keeps_) return;
  fd_ = convert::open_to_read(path);
  if (fd_ < 0) convert::fail("{}: {}", path, std::strerror(errno));
}

SoundBytes::SoundBytes(std::span<const std::byte> bytes)
    : kept_(bytes.begin(), bytes.end()), keeps_(true), ended_(true) {}

SoundBytes::~SoundBytes() {
  if (fd_ >= 0) convert::close_file(fd_);
}

size_t SoundBytes::read(std::byte* to, size_t count) {
  size_t done = 0;
  if (keeps_) {
    const uint64_t from = at_ - std::min(at_, first_);
    keep(from + count);
    if (at_ >= first_ && from < kept_.size())
      done = std::min<size_t>(count, kept_.size() - static_cast<size_t>(from));
    if (done != 0) std::memcpy(to, kept_.data() + from, done);
    if (once_ && from > kMostPassed) {
      kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(from));
      first_ += from;
    }
  }
  while (!keeps_ && done < count) {
    const int64_t part = convert::read_at(fd_, to + done, count - done, at_ + done);
    if (part <= 0) break;
    done += static_cast<size_t>(part);
  }
  at_ += done;
  return done;
}

uint64_t SoundBytes::size() {
  if (keeps_) {
    keep(kMostKept);
    return kept_.size();
  }
  convert::FileStatus status;
  return convert::status_of(fd_, status) ? status.bytes : 0;
}

void SoundBytes::keep(uint64_t end) {
  while (!ended_ && kept_.size() < std::min(end, kMostKept)) {
    const size_t held = kept_.size();
    kept_.resize(held + 65536);
    const int64_t part = convert::read_input(kept_.data() + held, 65536);
    kept_.resize(held + static_cast<size_t>(part > 0 ? part : 0));
    ended_ = part <= 0;
  }
}

}  // namespace mote::cli
