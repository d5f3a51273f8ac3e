// SPDX-License-Identifier: Apache-2.0
//
// Turns an operation of the file into a Step: proves its shapes and ranges, resolves its operands to pointers
// and finds its kernel. runtime/ops has it for each operation. mote_model_open binds every operation to
// nowhere, only to prove it; mote_session_init binds it to the arena: the same code checks a shape and uses
// it.
#pragma once

#include "kernels/dispatch.h"
#include "runtime/file/model.h"

namespace mote {

/// An operation ready to run. Pointers are fixed for the session's life.
struct Step {
  Op op;
  uint8_t stream;  // of its rows
  file::StreamKind kind;
  uint8_t
      reads_stream;  // of the rows that it reads: the same, or of tokens or groups that it takes to others
  const KernelEntry* kernel;
  const KernelEntry* merge;  // of attention; else null
  bool on_backend;           // run_on_backend instead; the kernel finishes and steps in
  bool chained;              // may take a row as soon as the step before has (chain.h)
  bool needs_barrier;        // of steps in lanes: a barrier between it and the step before
  uint64_t work_per_row;     // rough multiply-adds, without what depends on the context
  union {                    // prepare() of the operation sets what depends on the run
#define OP(op_name, operation, types) op_name##Args operation;
#include "kernels/op_list.inc"
  };
};

inline constexpr uint32_t kTokens = 0;  // the first stream of a program

/// Where a stream's buffers lie, and what the rows of a run are in it.
struct StreamPlace {
  uint8_t* buffers;
  uint32_t rows;  // that they hold
  // Tables of the rows of tokens and groups:
  int32_t* positions;
  int32_t* sequences;
  int32_t* last_seen;  // of encoders: the last position of each row's sequence
  uint32_t* starts;    // of encoders: the first row of each sequence of the run, then the number of rows
  // Holds for each group its first row in the pass, of the stream that it is of, and then the end; for each
  // place of a picture the ends at which its square of grid_times places lies (edges_of_window).
  uint32_t* firsts;
  // Last rows, of programs with a fixed number of rows of each sequence: for tokens the last of those rows,
  // for those rows the last token of their sequence.
  int32_t* last_across;
};

struct PagePool;

/// Where a session's memory lies; all null and 0 when only proving.
struct Places {
  const file::Program* program;
  bool proving;
  bool finds_kernels;
  Isa isa;
  DType kv_dtype;
  const mote_backend* backend;       // or null
  StreamPlace streams[kMaxStreams];  // of the program
  const int32_t* ids;
  const int32_t* token_types;       // of encoders
  const int32_t* next_global;       // of models with global tokens
  const int32_t* memory_positions;  // of models with a memory: in place of those of the streams
  const int32_t* memory_last;
  const float* const* inputs;  // of programs that take floats
  const uint32_t* selected;
  const KvCacheView* caches;
  const PagePool* pools;
  const uint8_t* pool_of;      // [states]
  float* partials;             // of attention; null where it is never split by positions
  const uint32_t* first_seen;  // [sequence], of models with a memory; else null
  const FixedStateView* fixed_states;
  SequenceRows by_sequence;
  GridSize* grids;  // [batch] patches of the run's sequences, of pictures of any size (grids.h); else null
};

/// Bytes of scratch that a call of the step with `rows` rows needs.
uint64_t scratch_bytes(const Step& step, uint32_t rows);

mote_status bind(const mote_model& model, const Places& places, uint32_t op, Step* step, mote_error* error);

/// Proves a slice of f32 columns and resolves it.
mote_status bind_slice(const mote_model& model, const Places& places, uint32_t op, const file::Slice* slice,
                       ConstRows* rows, uint32_t* stream, mote_error* error);

}  // namespace mote
