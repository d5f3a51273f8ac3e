// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "host/tasks/status.h"

namespace mote::host {

/// Sound that a caller gives a task: samples from -1 to 1 of one channel, at the model's rate.
class SoundInput {
 public:
  virtual ~SoundInput() = default;
  /// Fills `samples` as far as there is sound and returns how many are filled: fewer than asked for at the
  /// end only.
  virtual Result<size_t> read(std::span<float> samples) = 0;
  /// Goes back to the first sample.
  virtual Status rewind() = 0;
  /// Returns about how many samples there are; 0: that is not known before the end.
  virtual uint64_t samples() const { return 0; }
};

}  // namespace mote::host
