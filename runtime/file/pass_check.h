// SPDX-License-Identifier: Apache-2.0
//
// Proves whether programs of whole sequences may run in passes (runtime/exec/passes.h).
#pragma once

#include "runtime/file/model.h"
#include "runtime/ops/ops.h"

namespace mote {

/// Follows the steps of a program: may it run in passes? Later passes overwrite what earlier ones left in
/// buffers of tokens, and a pass writes selected rows before the steps of the run have read any.
class PassCheck {
 public:
  void add(const Step& step) {
    const bool sequences = step.kind == file::StreamKind::sequence;
    if (has_positions(step.kind)) {
      allowed_ = allowed_ && !left_;
    } else if (traits_of(step.op).leaves_tokens) {
      // Rows selected of groups are counted over the run.
      const bool of_groups = step.op == Op::kSelect && step.reads_stream != kTokens;
      allowed_ = allowed_ && !begun_[sequences] && !of_groups;
      left_ = true;
    } else {
      begun_[sequences] = true;
    }
  }
  bool allowed() const { return allowed_; }

 private:
  bool allowed_ = true;
  bool left_ = false;
  bool begun_[2] = {};
};

}  // namespace mote
