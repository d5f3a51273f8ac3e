// SPDX-License-Identifier: Apache-2.0
//
// Work in steps short enough that a caller's stop ends it soon, whatever the model's size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "host/base/timer.h"
#include "host/tasks/hooks.h"
#include "host/tasks/session.h"
#include "host/tasks/status.h"

namespace mote::host {

/// Operations of a step: as many as take a few hundredths of a second, at least one.
class StepSize {
 public:
  uint32_t operations() const { return operations_; }
  /// Adapts the number to the time of the last step.
  void took(double ms) {
    if (ms > kMostMs) operations_ = std::max(1u, operations_ / 2);
    if (ms < kMostMs / 4) operations_ = std::min(kMostOperations, operations_ * 2);
  }

 private:
  static constexpr double kMostMs = 80;
  static constexpr uint32_t kMostOperations = 1u << 16;
  uint32_t operations_ = 32;
};

/// Calls step(operations, done) until it sets done, each time for a bounded part of the work. Once it was
/// stopped it returns cancelled().
template <class Step>
Status in_steps(const Hooks& hooks, const Step& step) {
  StepSize size;
  for (int done = 0; done == 0;) {
    if (hooks.stopped()) return cancelled();
    const Timer timer;
    MOTE_TRY(step(size.operations(), done));
    size.took(timer.ms());
  }
  return {};
}

/// mote_compute and mote_encode in steps; `what` begins messages. Once they were stopped they return
/// cancelled().
Status compute(Session& session, const mote_rows& rows, const Hooks& hooks, std::string_view what);
Status encode(Session& session, const mote_batch& batch, const Hooks& hooks, std::string_view what);

/// Encodes one sequence of `rows` rows of floats.
Status encode_values(Session& session, const float* values, uint32_t rows, const Hooks& hooks,
                     std::string_view what);

/// mote_prefill of sequence 0 in steps, with the last token's logits. Once it was stopped the session holds
/// some of the tokens.
Status prefill(Session& session, std::span<const int32_t> ids, const Hooks& hooks, std::string_view what);

}  // namespace mote::host
