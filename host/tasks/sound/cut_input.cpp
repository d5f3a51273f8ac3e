// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/cut_input.h"

#include <algorithm>
#include <array>

namespace mote::host {

Result<size_t> CutInput::read(std::span<float> samples) {
  std::array<float, 4096> dropped;
  while (skipped_ < offset_) {
    const auto wanted = static_cast<size_t>(std::min<uint64_t>(dropped.size(), offset_ - skipped_));
    MOTE_TAKE(const size_t count, sound_->read(std::span(dropped).first(wanted)));
    skipped_ += count;
    if (count < wanted) return size_t{0};
  }
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(samples.size(), most_ - read_));
  if (wanted == 0) return size_t{0};
  MOTE_TAKE(const size_t count, sound_->read(samples.first(wanted)));
  read_ += count;
  heard_ = std::max(heard_, read_);
  return count;
}

Status CutInput::rewind() {
  skipped_ = read_ = 0;
  return sound_->rewind();
}

uint64_t CutInput::samples() const {
  const uint64_t all = sound_->samples();
  return all == 0 ? 0 : std::min(most_, all - std::min(all, offset_));
}

Result<size_t> ToldInput::read(std::span<float> samples) {
  if (const uint64_t all = sound_->samples(); all != 0)
    hooks_->tell("transcribe", static_cast<double>(std::min(read_, all)) / static_cast<double>(all));
  MOTE_TAKE(const size_t count, sound_->read(samples));
  read_ += count;
  return count;
}

Status ToldInput::rewind() {
  read_ = 0;
  return sound_->rewind();
}

}  // namespace mote::host
