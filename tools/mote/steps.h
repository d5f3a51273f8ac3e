// SPDX-License-Identifier: Apache-2.0
//
// Work in steps short enough that Ctrl-C ends it soon, whatever the model's size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/mote/session.h"

namespace mote::cli {

/// Operations of a step: as many as take a few hundredths of a second, at least one.
class StepSize {
 public:
  uint32_t operations() const { return operations_; }
  /// What the last step took.
  void took(double ms) {
    if (ms > kMostMs) operations_ = std::max(1u, operations_ / 2);
    if (ms < kMostMs / 4) operations_ = std::min(kMostOperations, operations_ * 2);
  }

 private:
  static constexpr double kMostMs = 80;
  static constexpr uint32_t kMostOperations = 1u << 16;
  uint32_t operations_ = 32;
};

/// mote_compute. Ctrl-C ends it with Interrupted. Throws convert::Error "what: ...".
void compute(Session& session, const mote_rows& rows, const std::string& what);

/// mote_encode. Ctrl-C ends it with Interrupted. Throws convert::Error "what: ...".
void encode(Session& session, const mote_batch& batch, const std::string& what);

/// The same of one sequence of `rows` rows of floats.
void encode_values(Session& session, const float* values, uint32_t rows, const std::string& what);

/// mote_prefill of sequence 0 with the last token's logits. False when Ctrl-C ended it, under the caller's
/// InterruptGuard: then the session holds some of the tokens.
bool prefill(Session& session, const std::vector<int32_t>& ids, const std::string& what);

}  // namespace mote::cli
