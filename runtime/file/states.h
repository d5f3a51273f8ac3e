// SPDX-License-Identifier: Apache-2.0
//
// Proofs of a model's states, which the verifier makes.
#pragma once

#include "runtime/file/model.h"
#include "runtime/ops/operation.h"

namespace mote {

/// Kinds and sizes.
mote_status check_states(const file::Model& root, mote_error* error);

/// Some of a model's states.
class StateSet {
 public:
  bool has(uint32_t state) const { return (bytes_[state / 8] >> state % 8 & 1) != 0; }
  void add(uint32_t state) { bytes_[state / 8] = static_cast<uint8_t>(bytes_[state / 8] | 1u << state % 8); }

 private:
  uint8_t bytes_[kMaxStates / 8] = {};
};

/// Follows what the steps of a program do with each state. Keys and values are stored by an earlier step of
/// the program before one reads them, unless they are of a source; else it would read what the arena held
/// before. Steps that take a state of a fixed size from row to row are one each: a second would begin with
/// what the first has left, and a state that is passed over would be behind the tokens.
class StateUses {
 public:
  explicit StateUses(const file::Model& root) : states_(*root.states()) {}

  /// `step`: operation `op` of the program, which was proved.
  mote_status add(const file::Program& program, uint32_t op, const Step& step, mote_error* error);
  /// Once all steps are added.
  mote_status check_fixed(const file::Program& program, mote_error* error) const;

 private:
  void add_fixed(const Step& step);

  const flatbuffers::Vector<flatbuffers::Offset<file::State>>& states_;
  StateSet used_;
  uint32_t twice_ = kNoState;
};

/// Proves that keys and values that outlive a run were stored by it: a program that appends stores in all
/// states of such programs, one with a memory in all of them, and a source in all of its own. Saved states
/// and those read of other runs would else be what the arena held before. The operations were proved before.
mote_status check_stored(const mote_model& model, mote_error* error);

}  // namespace mote
