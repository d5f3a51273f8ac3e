// SPDX-License-Identifier: Apache-2.0
#include "host/inputs/sound_file_input.h"

#include <exception>
#include <new>

namespace mote::host {
namespace {

/// Returns what run() returns, or what it throws as a status.
template <class Result, class Run>
Result without_exceptions(const Run& run) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    return Status{MOTE_OUT_OF_MEMORY, "not enough memory"};
  } catch (const std::exception& error) {
    return Status{MOTE_INVALID_ARGUMENT, error.what()};
  }
}

}  // namespace

Result<size_t> SoundFileInput::read(std::span<float> samples) {
  return without_exceptions<Result<size_t>>([&] {
    if (!resampler_) resampler_.emplace(*source_, rate_);
    return resampler_->read(samples);
  });
}

Status SoundFileInput::rewind() {
  return without_exceptions<Status>([&] {
    source_->rewind();
    resampler_.reset();
    return Status();
  });
}

}  // namespace mote::host
