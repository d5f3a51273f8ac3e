// SPDX-License-Identifier: Apache-2.0
//
// A verified view of a .mote file.
#pragma once

#include <stdint.h>

#include "kernels/ops.h"
#include "mote/mote.h"
#include "runtime/file/file.h"
#include "runtime/text/tokenizer.h"
#include "schema/block_formats.h"

struct mote_model {
  const mote::file::Model* root;
  const mote::file::Program* program;  // the first: what generation and encoding run
  bool encoder;                        // programs take whole sequences
  const uint8_t* segment;
  bool in_passes;             // encoders: runs of all programs may be split (passes.h)
  mote::DType first_linear;   // weight type: decides the default cache type
  mote::Tokenizer tokenizer;  // of no tokens if the file has none
};

// The public constant has room for members to come, less than an eighth: it stays while the struct grows.
static_assert(sizeof(mote_model) <= MOTE_MODEL_BYTES, "a model takes more than MOTE_MODEL_BYTES");
static_assert(sizeof(mote_model) * 8 > MOTE_MODEL_BYTES * 7, "MOTE_MODEL_BYTES has too much to spare");
static_assert(alignof(mote_model) <= 8, "mote_model_open asks for 8-byte aligned storage");

namespace mote {

// Caps that keep every product of sizes inside 64 bits and a hostile file's demands small.
inline constexpr uint32_t kMaxWidth = 1u << 24;
inline constexpr uint32_t kMaxHeadDim = 1024;
static_assert(kMaxHeadDim <= kMaxKeyDimI8, "scores of i8 caches are exact");
inline constexpr uint32_t kMaxContext = 1u << 24;
inline constexpr uint32_t kMaxPrograms = 16;
inline constexpr uint32_t kMaxOps = 1u << 16;
inline constexpr uint32_t kMaxTensors = 1u << 16;
inline constexpr uint32_t kMaxBuffers = 1u << 12;
inline constexpr uint32_t kMaxStates = 1u << 12;
inline constexpr uint32_t kMaxWindows = 64;  // of different length, among the states
inline constexpr uint32_t kMaxRowBytes = 1u << 30;
inline constexpr uint32_t kMaxTokenTypes = 1u << 16;
inline constexpr uint32_t kMaxLabels = 1u << 16;
inline constexpr uint32_t kFormatVersion = 1;

/// Whether a state is as large for any number of tokens: of every kind but keys and values.
inline bool is_fixed(const file::State& state) { return state.kind() != file::StateKind::kv; }

inline bool has_kv(const file::Model& root) {
  for (const file::State* state : *root.states()) {
    if (!is_fixed(*state)) return true;
  }
  return false;
}

/// The windows of the states of keys and values, each once, in order: their number, kMaxWindows + 1 if there
/// are more.
uint32_t windows_of(const file::Model& root, uint32_t windows[kMaxWindows]);

/// Floats that a row of the program is given; 0: it is given an id.
uint32_t input_width(const file::Program& program);

}  // namespace mote
