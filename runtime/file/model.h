// SPDX-License-Identifier: Apache-2.0
//
// A verified view of a .mote file.
#pragma once

#include <stdint.h>

#include "kernels/ops.h"
#include "kernels/trimmed_build.h"
#include "mote/mote.h"
#include "runtime/file/file.h"
#include "runtime/text/tokenizer.h"
#include "schema/block_formats.h"

namespace mote {

inline constexpr uint32_t kMaxPrograms = 16;
inline constexpr uint32_t kMaxStreams = 16;

/// A bit for each stream of a program whose rows are kept in the states of its ratio (kept_stream).
using KeptStreams = uint16_t;
static_assert(kMaxStreams <= 8 * sizeof(KeptStreams));

}  // namespace mote

struct mote_model {
  const mote::file::Model* root;
  const mote::file::Program* program;                // the first: what generation and encoding run
  mote::PartFlag<mote::kHasWholeSequences> encoder;  // all programs take whole sequences
  // Some do, beside the first, which appends to sequences that have them as their sources:
  mote::PartFlag<mote::kHasWholeSequences> sources;
  const uint8_t* segment;
  bool in_passes;            // encoders: runs of all programs may be split (passes.h)
  mote::DType first_linear;  // weight types of the first and last: they decide the default cache type
  mote::DType last_linear;
  mote::KeptStreams kept[mote::kMaxPrograms];
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
inline constexpr uint32_t kMaxOps = 1u << 16;
inline constexpr uint32_t kMaxTensors = 1u << 16;
inline constexpr uint32_t kMaxBuffers = 1u << 12;
inline constexpr uint32_t kMaxRatio = 1u << 12;  // tokens of a row
inline constexpr uint32_t kMaxStates = 1u << 12;
inline constexpr uint32_t kMaxPools = 64;  // of keys and values
inline constexpr uint32_t kMaxRowBytes = 1u << 30;
inline constexpr uint32_t kMaxPictureChannels = 4;
inline constexpr uint32_t kMaxPictureMerge = 16;
inline constexpr uint32_t kMaxPositionsSide = 1u << 8;
inline constexpr uint32_t kMaxTokenTypes = 1u << 16;
inline constexpr uint32_t kMaxLabels = 1u << 16;
inline constexpr uint32_t kMaxStopIds = 1u << 12;  // each token is compared with all
inline constexpr uint32_t kFormatVersion = 1;

inline bool is_whole(const file::Program& program) {
  return kHasWholeSequences && program.kind() == file::ProgramKind::whole;
}

/// The properties that states have in common whose pages are one pool.
struct CacheKind {
  uint32_t window;  // 0: none
  uint32_t ratio;   // tokens of a position; 0: they are of a fixed number of rows
  int32_t source;   // the program whose rows they keep, -1: none
  bool of_run;      // nothing outlives a run
  uint32_t memory;  // positions of earlier runs of whole sequences
  GridScale grid;   // of places of pictures; 0 times: positions are by the ratio

  bool appends() const { return source == -1 && !of_run && memory == 0; }
  bool operator==(const CacheKind& other) const {
    return window == other.window && ratio == other.ratio && source == other.source &&
           of_run == other.of_run && memory == other.memory &&
           (!kHasMedia || (grid.times == other.grid.times && grid.every == other.grid.every));
  }
};
CacheKind cache_kind(const file::State& state);

/// Finds the first state of each kind of the states of keys and values, in order. Returns the number of
/// kinds, kMaxPools + 1 if there are more. `firsts` are indices, because a stack may be small.
uint32_t first_of_kinds(const file::Model& root, uint16_t firsts[kMaxPools]);

/// The most rows of a sequence of the program.
uint32_t context_of(const file::Model& root, const file::Program& program);

/// The program that encodes: the first of whole sequences. The model has one.
uint32_t whole_program(const mote_model& model);

/// Says whether rows of such a stream follow each other in sequences.
inline bool has_positions(file::StreamKind kind) {
  return kind == file::StreamKind::token || kind == file::StreamKind::group;
}

/// Rows that each sequence has in the program's stream of a fixed number of rows; 0: there is none.
uint32_t fixed_rows(const file::Program& program);

/// Tokens of a row of a stream that has positions, at most kMaxRatio: 1 for tokens, 0 for a fixed number of
/// rows, kPartsOfTokens where rows are parts of others or groups of parts, which no state has positions for.
inline constexpr uint32_t kPartsOfTokens = UINT32_MAX;
uint32_t tokens_of_row(const file::Program& program, uint32_t stream);

/// Returns the scale of a stream whose rows are places of a picture (Stream.grid_times), or 0 times.
GridScale grid_of(const file::Program& program, uint32_t stream);

/// Returns the patches that each side of a picture has at least, of a program with such streams; else 0.
uint32_t least_side(const file::Program& program);

/// Returns the most rows of such a stream that `sequences` pictures of `patches` patches together can have.
/// `least`: patches that each side has at least.
uint64_t most_grid_rows(GridScale scale, uint32_t least, uint32_t patches, uint64_t sequences);

/// Rows of a stream that has positions, of a sequence of so many tokens; by the grid the most of any picture.
uint32_t rows_of_sequence(const file::Program& program, uint32_t stream, uint32_t tokens);

/// The least tokens of a sequence that has a row in every such stream, at least 1.
uint32_t least_tokens(const file::Program& program);

/// Finds the streams whose rows the program keeps: of each ratio that of the first keys with so many tokens
/// of a row. It walks all operations, so opening does it once for each program.
KeptStreams find_kept_streams(const file::Program& program);

/// Which of them is kept in states of that ratio. The number of streams if there is none.
uint32_t kept_stream(const mote_model& model, const file::Program& program, uint32_t ratio);

/// The stream of tokens or groups that rows with outputs are selected of: tokens if there is no Select.
uint32_t selected_of(const file::Program& program);

/// Returns what the model is for; null: the file does not say, or the build passes over it.
inline const file::Purpose* purpose_of(const mote_model& model) {
  return kProvesTask ? model.root->purpose() : nullptr;
}

/// Proves that the programs, and what else the file says, can do what it says that the model is for.
mote_status check_task(const mote_model& model, mote_error* error);

/// Proves what the model says of sound.
mote_status check_sound(const mote_model& model, mote_error* error);
mote_status check_speech(const mote_model& model, mote_error* error);
mote_status check_voice(const mote_model& model, mote_error* error);

/// Proves that the stored self test fits the model, if there is one.
mote_status check_self_test(const mote_model& model, mote_error* error);

/// Says whether a state is as large for any number of tokens: so is every kind but keys and values.
inline bool is_fixed(const file::State& state) {
  return kHasFixedStates && state.kind() != file::StateKind::kv;
}

inline bool has_kv(const file::Model& root) {
  for (const file::State* state : *root.states()) {
    if (!is_fixed(*state)) return true;
  }
  return false;
}

/// Says whether operations depend on the patches in a line of each picture, which come with it.
inline bool takes_grids(const mote_model& model) {
  const file::Picture* picture = kHasMedia ? model.root->picture() : nullptr;
  return picture != nullptr && picture->any_size() &&
         (model.root->required_features() & file::Feature::grid_sizes) != file::Feature::NONE;
}

/// Floats that a row of the program is given; 0: it is given an id.
uint32_t input_width(const file::Program& program);
/// Says whether the program looks ids up; it may take floats besides.
bool takes_ids(const file::Program& program);

/// Checks that a picture's rows are those that the first program takes.
mote_status check_picture(const mote_model& model, mote_error* error);
/// Checks that the first program takes rows of floats as the file says of pictures.
mote_status check_vision_input(const mote_model& model, mote_error* error);

}  // namespace mote
