// SPDX-License-Identifier: Apache-2.0
//
// A session: everything that changes while a model runs, in the caller's arena.
#pragma once

#include "mote/mote.h"
#include "runtime/exec/arena.h"
#include "runtime/exec/attention_maps.h"
#include "runtime/exec/bind.h"
#include "runtime/exec/pages.h"
#include "runtime/exec/sampler.h"
#include "runtime/exec/work_stealing.h"
#include "runtime/text/scratch.h"

namespace mote {

inline constexpr uint32_t kMaxChunk = 4096;
inline constexpr uint32_t kMaxFloatRows = 1u << 19;  // the same where whole sequences are of floats

/// The tokens being computed. `next_op` walks over the program's steps; a run is committed at the last one's
/// end.
struct Run {
  uint32_t rows;  // of the pass; of a decoder, all
  uint32_t selected_rows;
  uint32_t sequences;       // of an encoder's run
  uint32_t first_sequence;  // of the pass
  uint32_t end_sequence;
  uint32_t sequences_with_rows;  // of models with states of a fixed size
  uint32_t outputs;              // public rows of outputs that the run will have
  uint32_t next_op;
  uint32_t last_position;  // the largest of the rows
  uint32_t longest;        // most rows that it adds to a sequence
  uint32_t guesses;        // of the rows of sequence 0, the last ones: the commit leaves them out
  bool active;
};

/// A program's part of the session's steps.
struct ProgramSteps {
  const file::Program* file;
  uint32_t first, end;
  uint32_t input_width;  // floats of a row; 0: ids
  bool takes_ids;        // besides floats, or alone
  uint32_t sources;      // a bit for each program whose rows it attends to
  bool keeps;            // sequences keep its rows as their source
  uint32_t selects;      // the stream whose rows have outputs, where sequences have none
  ConstRows outputs;     // [logit_rows or batch, output width]
};

/// States of a fixed size, and the run's rows by sequence (fixed_state.h); all null for a model without.
struct FixedStates {
  FixedStateView* views;  // [states], without slots those of other kinds
  uint8_t* current;       // [batch]
  uint32_t* sequences;    // [batch] that have rows in the run
  uint32_t* first;        // [batch] the first row of each of them
  uint32_t* last;         // [batch] the last
  uint32_t* next;         // [chunk] the next row of a row's sequence
};

/// A generation in progress on sequence 0.
struct GenerationState {
  mote_generation options;
  const int32_t* prompt;
  uint32_t prompt_tokens;
  uint32_t prefilled;
  uint32_t produced;
  int32_t pending_id;  // reported, not yet computed
  uint32_t guesses;    // rows of guesses that the last run computed
  uint32_t row;        // whose logits are picked from next: 0, or that of the guess before it
  bool active;
  bool has_pending;
};

}  // namespace mote

struct mote_session {
  const mote_model* model;
  mote_session_options options;  // resolved: no field is left to a default
  mote::Isa isa;
  mote::DType kv_dtype;

  mote::ProgramSteps* programs;  // of the model, in its order
  uint32_t program;              // that the last run, or the one in progress, is of
  mote::Step* steps;             // [step_count], of one program after the other
  uint32_t step_count;
  uint32_t pass_rows;   // that several sequences of a pass have at most; chunk where runs are not split
  uint32_t token_rows;  // that buffers of tokens hold

  // Where a run has `least_lane` rows for each thread, it has a lane of its own (lane.h).
  mote::Step* lane_steps;  // [step_count], over the first lane; null without lanes
  uint32_t least_lane;     // UINT32_MAX without lanes
  size_t lane_bytes;       // of a lane's buffers
  mote::Places places;

  int32_t* ids;               // [chunk]
  int32_t* positions;         // [chunk]
  int32_t* sequences;         // [chunk]
  int32_t* last_seen;         // [chunk], of encoders
  int32_t* token_types;       // [chunk], of encoders
  int32_t* next_global;       // [chunk], of models with global tokens; else null
  uint32_t* kept;             // [batch] positions of earlier runs; null of models without memory (memory.h)
  int32_t* memory_positions;  // [chunk] of rows behind these
  int32_t* memory_last;       // [chunk] the last one of each row's sequence
  const float** inputs;       // [chunk], of models with a program that takes floats
  uint32_t* starts;           // [batch + 1], of encoders
  uint32_t* selected;         // [logit_rows] rows of the chunk
  uint32_t* lengths;          // [batch] tokens of each sequence
  uint32_t* added;            // [batch] rows that the run adds to each sequence
  int32_t* logit_index;       // [logit_rows] row of `outputs` for each public row, -1 for none
  uint32_t logit_count;       // public rows, of a run that is done
  uint32_t* asked;            // [batch] tokens that a call would add to each sequence
  int32_t* history;           // [batch, context] ids of the tokens (history.h)
  uint32_t* history_rows;     // [batch] row of `history` for each sequence
  uint32_t* segment_starts;   // [batch], of models with a memory (segments.h); else null
  uint32_t* first_seen;       // [batch] the first position that tokens of the segment see; likewise
  mote::KvCacheView* caches;  // [states]
  uint8_t* pool_of;           // [states], into pools
  mote::PagePool* pools;      // one for each window
  uint32_t pool_count;
  mote::FixedStates fixed;
  uint8_t* scratch;  // of each thread scratch_bytes, the next scratch_stride bytes on
  uint64_t scratch_bytes;
  uint64_t scratch_stride;
  mote::StealableUnits* stealable;  // [threads]
  float* partials;                  // of attention for a decoding step's rows; null with one thread

  mote::AttentionMaps maps;
  mote::Sampler sampler;
  mote::TextScratch text;
  mote::PromptRoom prompted;

  // Written for each fork, while other threads read what is above: in cache lines of their own.
  alignas(64) mote::Run run;
  mote::GenerationState generation;
};

namespace mote {

/// Returns the program of the session's last run, or of the one in progress.
inline const ProgramSteps& current(const mote_session& session) { return session.programs[session.program]; }

/// A row of logits of a program that appends, or null.
const float* next_token_logits(const mote_session& session, uint32_t row);

/// MOTE_WRONG_STATE for a model whose first program, or all of whose programs, are of the other kind.
mote_status check_decoder(const mote_session* session, mote_error* error);
/// That, and whether the first program's rows are ids alone.
mote_status check_ids_alone(const mote_session* session, mote_error* error);
mote_status check_encoder(const mote_session* session, mote_error* error);

}  // namespace mote
