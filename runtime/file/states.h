// SPDX-License-Identifier: Apache-2.0
//
// What the verifier proves of a model's states.
#pragma once

#include "runtime/file/model.h"
#include "runtime/ops/operation.h"

namespace mote {

/// Kinds and sizes.
mote_status check_states(const file::Model& root, mote_error* error);

/// Counts the steps of a program that take each state of a fixed size from row to row. They are one each: a
/// second would begin with what the first has left, and a state that is passed over would be behind the
/// tokens.
class FixedStateUses {
 public:
  explicit FixedStateUses(const file::Model& root) : states_(*root.states()) {}

  void add(const Step& step);
  mote_status check(const char* program, mote_error* error) const;

 private:
  const flatbuffers::Vector<flatbuffers::Offset<file::State>>& states_;
  uint8_t used_[kMaxStates / 8] = {};
  uint32_t twice_ = kNoState;
};

}  // namespace mote
