// SPDX-License-Identifier: Apache-2.0
//
// The proofs that operations share: operands, tensors, caches and row indices of the file, each checked where
// it is resolved.
#pragma once

#include <math.h>

#include "runtime/error.h"
#include "runtime/exec/bind.h"
#include "runtime/exec/pages.h"

namespace mote {

template <class T>
inline T* at(T* base, uint64_t bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(base) + bytes);
}

/// A resolved operand: rows of `width` columns.
struct Operand {
  uint8_t* data;
  size_t stride_bytes;
  uint32_t width;
  DType dtype;
  uint8_t stream;
  file::StreamKind kind;
  Rows rows() const { return {reinterpret_cast<float*>(data), stride_bytes}; }
  ConstRows const_rows() const { return {reinterpret_cast<const float*>(data), stride_bytes}; }
};

/// The proofs of one operation's operands; the first check that fails fills the error, and status() returns
/// it.
class Proofs {
 public:
  Proofs(const mote_model& model, const Places& places, uint32_t op, mote_error* error)
      : model_(model), places_(places), op_(op), error_(error) {}

  mote_status status() const { return status_; }

  template <class... Pieces>
  MOTE_GETS_WORDS inline bool check(bool holds, Pieces... pieces) {
    if constexpr (!kHasSentences) return check_without_text(holds);
    if (!holds && status_ == MOTE_OK) {
      const char* name = file::EnumNameOpArgs(places_.program->ops()->Get(op_)->args_type());
      status_ = fail_at(error_, MOTE_CORRUPT_FILE, static_cast<int32_t>(op_), "op ", op_, " ", name, ": ",
                        pieces...);
    }
    return holds;
  }

  /// An activation that there is, here too.
  void known(file::Activation activation) {
    check(activation <= file::Activation::MAX, "unknown activation");
    built(has_activation(static_cast<uint32_t>(activation)), "its activation");
  }

  /// `what` names the operand in messages.
  Operand slice(const file::Slice* slice, const char* what) {
    Operand operand{};
    if (!check(slice != nullptr, what, " is missing")) return operand;
    const auto* buffers = places_.program->buffers();
    if (!check(slice->buffer() < buffers->size(), what, " names buffer ", slice->buffer(), " of ",
               buffers->size())) {
      return operand;
    }
    const file::Buffer* buffer = buffers->Get(slice->buffer());
    operand.width = slice->width();
    operand.dtype = static_cast<DType>(buffer->dtype());
    operand.stream = static_cast<uint8_t>(buffer->stream());
    operand.kind = places_.program->streams()->Get(buffer->stream())->kind();
    check(slice->width() > 0 && slice->column() <= buffer->width() &&
              slice->width() <= buffer->width() - slice->column(),
          what, " takes columns ", slice->column(), " + ", slice->width(), " of a buffer of width ",
          buffer->width());
    operand.stride_bytes = static_cast<size_t>(buffer_row_bytes(operand.dtype, buffer->width()));
    const StreamPlace& rows = place(operand);
    operand.data = at(rows.buffers, uint64_t{buffer->offset()} * rows.rows + uint64_t{slice->column()} * 4);
    return operand;
  }
  Operand f32_slice(const file::Slice* from, const char* what) {
    const Operand operand = slice(from, what);
    check(operand.dtype == DType::f32, what, " is not f32");
    return operand;
  }
  Operand quantized_slice(const file::Slice* from, const char* what) {
    const Operand operand = slice(from, what);
    if (status_ != MOTE_OK) return operand;
    check(operand.dtype == DType::q8g32 || operand.dtype == DType::q8c, what, " is not quantized");
    check(from->column() == 0 && from->width() == places_.program->buffers()->Get(from->buffer())->width(),
          what, " is a part of a quantized row");
    return operand;
  }

  /// A tensor whose range in the segment was proved at open; null on failure.
  const file::Tensor* tensor(int32_t index, const char* what) {
    const auto* tensors = model_.root->tensors();
    if (!check(index >= 0 && static_cast<uint32_t>(index) < tensors->size(), what, " names tensor ", index,
               " of ", tensors->size())) {
      return nullptr;
    }
    return tensors->Get(static_cast<uint32_t>(index));
  }
  /// Returns a tensor of rows that are looked up for `rows`; null on failure.
  const file::Tensor* table(int32_t index, const Operand& rows, const char* what) {
    const file::Tensor* found = tensor(index, "table");
    if (status_ != MOTE_OK) return nullptr;
    width(rows, found->cols(), what);
    return found;
  }
  const void* data(const file::Tensor* tensor) const { return model_.segment + tensor->offset(); }

  /// A row-major table that a row index looks up: positions of sequences or types of tokens.
  const int32_t* index(file::RowIndex kind, const file::Tensor* table, const Operand& rows) {
    const uint32_t context = context_of(*model_.root, *places_.program), types = model_.root->token_types();
    check(kind <= file::RowIndex::MAX, "unknown index");
    if (kind == file::RowIndex::position) {
      if (!of_positions(rows, "x")) return nullptr;
      const uint32_t most = rows_of_sequence(*places_.program, rows.stream, context);
      check(table->rows() >= most, "table has ", table->rows(), " rows for sequences of ", most);
      return place(rows).positions;
    }
    check(is_whole(*places_.program), "only programs of whole sequences know token types");
    of_tokens(rows, "x");
    check(table->rows() >= types, "table has ", table->rows(), " rows for ", types, " token types");
    return places_.token_types;
  }

  /// A row-major f32 tensor.
  const float* matrix(int32_t index, uint32_t rows, uint32_t width, const char* what) {
    const file::Tensor* found = tensor(index, what);
    if (found == nullptr) return nullptr;
    check(is_f32(*found, rows, width), what, " is not f32 [", rows, ", ", width, "]");
    return static_cast<const float*>(data(found));
  }
  /// Returns an f32 tensor of one row; null on failure.
  const float* vector(int32_t index, uint32_t width, const char* what) {
    const file::Tensor* found = tensor(index, what);
    if (found == nullptr) return nullptr;
    check(is_f32(*found, 1, width), what, " is not f32 [", width, "]");
    return static_cast<const float*>(data(found));
  }
  const float* optional_vector(int32_t index, uint32_t width, const char* what) {
    return index == -1 ? nullptr : vector(index, width, what);
  }

  void same_stream(const Operand& a, const Operand& b, const char* what) {
    check(a.stream == b.stream, what, " has rows for something else");
  }
  /// Rows for the same, of the same width.
  void alike(const Operand& a, const Operand& b, const char* what) {
    same_stream(a, b, what);
    width(b, a.width, what);
  }
  void of_tokens(const Operand& a, const char* what) {
    check(a.kind == file::StreamKind::token, what, " is not per token");
  }
  /// Rows that have positions in a sequence.
  bool of_positions(const Operand& a, const char* what) {
    return check(has_positions(a.kind), what, " is neither per token nor per group of tokens");
  }
  /// Proves that rows have the positions of the state.
  void of_positions(const Operand& a, const file::State& state, const char* what) {
    if (!of_positions(a, what)) return;
    if (kHasMedia && state.grid_times() != 0) {
      const GridScale scale = grid_of(*places_.program, a.stream);
      check(scale.times == state.grid_times() && scale.every == state.grid_every(), what, " has ",
            scale.times, " places for every ", scale.every, " patches, the state ", state.grid_times(),
            " for every ", state.grid_every());
      return;
    }
    const uint32_t ratio = state.ratio();
    const uint32_t tokens = tokens_of_row(*places_.program, a.stream);
    check(tokens != kPartsOfTokens, what, " has rows for parts of tokens, which no state keeps");
    check(tokens == ratio, what, " has a row for ", tokens, " tokens, the state a position for ", ratio);
    const uint32_t kept = kept_stream(model_, *places_.program, ratio);
    check(kept == a.stream || kept == places_.program->streams()->size(), what,
          " is not of the stream whose keys are the first of so many tokens a row");
  }
  /// Sets the window of rows of `in` that a row of `out` sees; `out` has groups of these rows, or the same.
  bool time_window(const Operand& in, const Operand& out, uint32_t taps, uint32_t before, TimeWindow* window,
                   uint32_t dilation = 1) {
    if (!of_positions(out, "out")) return false;
    const file::Stream* groups = places_.program->streams()->Get(out.stream);
    const bool same = in.stream == out.stream;
    check(is_whole(*places_.program), "neighbours are of whole sequences");
    check(same || (out.kind == file::StreamKind::group && in.stream == groups->of() && groups->fixed() == 0 &&
                   groups->parts() == 1 && groups->grid_times() == 0),
          "out has no row for a row or a group of rows of in");
    check(taps >= 1 && taps <= kMaxRatio && before < taps, taps, " taps, ", before, " of them before");
    check(dilation >= 1 && dilation <= kMaxRatio, "taps are ", dilation, " rows apart");
    *window = {taps,
               before,
               dilation,
               same ? 1 : groups->ratio(),
               same ? nullptr : place(out).firsts,
               place(out).positions,
               place(in).last_seen};
    return status_ == MOTE_OK;
  }
  const StreamPlace& place(const Operand& a) const { return places_.streams[a.stream]; }

  /// The step has a row for each of `rows`. `read`: another stream, of which it is made.
  static void set_rows(Step* step, const Operand& rows, const Operand& read) {
    step->stream = rows.stream;
    step->kind = rows.kind;
    step->reads_stream = read.stream;
  }
  static void set_rows(Step* step, const Operand& rows) { set_rows(step, rows, rows); }
  /// Sets the rows and the kernel of a step whose kernel takes f32 alone.
  void f32_step(Step* step, Op op, const Operand& rows, const Operand& read) {
    set_rows(step, rows, read);
    kernel(step, op, DType::f32, DType::f32);
  }
  void f32_step(Step* step, Op op, const Operand& rows) { f32_step(step, op, rows, rows); }
  void width(const Operand& a, uint64_t expected, const char* what) {
    check(a.width == expected, what, " has width ", a.width, ", expected ", expected);
  }
  /// A row of so many columns for each token.
  void token_columns(const Operand& a, uint64_t columns, const char* what) {
    of_tokens(a, what);
    width(a, columns, what);
  }
  /// The rows of a step over tokens whose kernel takes f32 alone.
  Operand token_step(Step* step, Op op, const file::Slice* slice, const char* what) {
    const Operand rows = f32_slice(slice, what);
    if (status_ != MOTE_OK) return rows;
    of_tokens(rows, what);
    f32_step(step, op, rows);
    return rows;
  }
  ConstRows token_rows(const file::Slice* slice, uint64_t columns, const char* what) {
    const Operand rows = f32_slice(slice, what);
    if (status_ == MOTE_OK) token_columns(rows, columns, what);
    return rows.const_rows();
  }
  /// A row of so many columns for each of `rows`.
  ConstRows rows_beside(const Operand& rows, const file::Slice* slice, uint64_t columns, const char* what) {
    const Operand beside = f32_slice(slice, what);
    if (status_ != MOTE_OK) return {};
    same_stream(rows, beside, what);
    width(beside, columns, what);
    return beside.const_rows();
  }
  ConstRows optional_rows(const Operand& rows, const file::Slice* slice, uint64_t columns, const char* what) {
    return slice == nullptr ? ConstRows{} : rows_beside(rows, slice, columns, what);
  }
  /// `in` is read while `out` is written.
  template <class Table>
  void apart(const Table& op) {
    check(op.in()->buffer() != op.out()->buffer(), "out is in");
  }
  /// Fails where a build for another model lacks parts.
  void built(bool is, const char* what) {
    if (is || status_ != MOTE_OK) return;
    status_ = fail_at(error_, MOTE_UNSUPPORTED_FILE, static_cast<int32_t>(op_), "op ", op_,
                      ": the build, for another model, lacks ", what);
  }
  void finite(float value, const char* what) { check(isfinite(value), what, " is not finite"); }

  const file::State* cache(uint32_t index, KvCacheView* view) {
    const auto* caches = model_.root->states();
    if (!check(index < caches->size(), "names state ", index, " of ", caches->size())) return nullptr;
    const file::State* cache = caches->Get(index);
    if (!check(cache->kind() == file::StateKind::kv, "state ", index, " is of another kind")) return nullptr;
    if (!places_.proving) *view = places_.caches[index];
    view->kv_heads = cache->kv_heads();
    view->key_dim = cache->key_dim();
    view->value_dim = cache->value_dim();
    return cache;
  }
  /// Says whether the state counts rows of the step's program.
  bool is_own(const file::State& state) const {
    const auto* programs = model_.root->programs();
    if (state.source() != -1) return programs->Get(static_cast<uint32_t>(state.source())) == places_.program;
    return state.bidirectional() == is_whole(*places_.program);
  }
  /// Says whether queries of tokens see keys of the fixed number of rows of their sequence, or the other way
  /// round.
  bool crosses(const Operand& q, const file::State& cache) const {
    const file::Program& program = *places_.program;
    const uint32_t kept = kept_stream(model_, program, cache.ratio());
    if (fixed_rows(program) == 0 || kept == program.streams()->size() || kept == q.stream ||
        cache.grid_times() != 0)
      return false;
    const auto is_either = [&](uint32_t stream) {
      return stream == kTokens || program.streams()->Get(stream)->fixed() != 0;
    };
    return is_either(kept) && is_either(q.stream);
  }
  /// Where rows lie in a state with a memory: behind the positions of earlier runs, which only tokens have.
  struct BehindMemory {
    const int32_t *positions, *last_seen;
  };
  BehindMemory behind_memory(const Operand& rows, const char* what) {
    of_tokens(rows, what);
    return {places_.memory_positions, places_.memory_last};
  }
  /// Returns for each row of a program that appends the last position of its sequence's source in the state.
  const int32_t* last_of_source(uint32_t state) const {
    return places_.proving ? nullptr : places_.pools[places_.pool_of[state]].last_seen;
  }

  /// A state of a fixed size.
  FixedStateView fixed_state(uint32_t index, file::StateKind kind) {
    const auto* states = model_.root->states();
    FixedStateView view{};
    if (!check(index < states->size(), "names state ", index, " of ", states->size())) return view;
    const file::State* state = states->Get(index);
    if (!check(state->kind() == kind, "state ", index, " is of another kind")) return view;
    check(!is_whole(*places_.program), "state ", index, " is not of whole sequences");
    if (!places_.proving) return places_.fixed_states[index];
    view.heads = state->heads();
    view.rows = state->rows();
    view.cols = state->cols();
    view.index = index;
    return view;
  }
  void shape(const FixedStateView& state, uint32_t heads, uint32_t rows, uint32_t cols) {
    check(state.heads == heads && state.rows == rows && state.cols == cols, "state ", state.index, " is ",
          state.heads, " x ", state.rows, " x ", state.cols, ", expected ", heads, " x ", rows, " x ", cols);
  }

  /// The kernel for the step, where kernels are asked for.
  void kernel(Step* step, Op op, DType a, DType b) {
    step->op = op;
    step->kernel = nullptr;
    step->merge = nullptr;
    step->on_backend = false;
    if (!places_.finds_kernels || status_ != MOTE_OK) return;
    step->kernel = find_kernel(op, a, b, places_.isa);
    if (step->kernel == nullptr) {
      status_ = fail_at(error_, MOTE_UNSUPPORTED_FILE, static_cast<int32_t>(op_), "op ", op_, " ",
                        file::EnumNameOpArgs(places_.program->ops()->Get(op_)->args_type()),
                        ": this build has no kernel for its types");
    }
  }

 protected:
  bool check_without_text(bool holds) {
    if (!holds && status_ == MOTE_OK)
      status_ = fail_without_text(error_, MOTE_CORRUPT_FILE, static_cast<int32_t>(op_));
    return holds;
  }

  static bool is_f32(const file::Tensor& tensor, uint32_t rows, uint32_t cols) {
    return tensor.dtype() == file::DType::f32 && tensor.packing() == file::Packing::rows &&
           tensor.rows() == rows && tensor.cols() == cols;
  }

  const mote_model& model_;
  const Places& places_;
  const uint32_t op_;
  mote_error* const error_;
  mote_status status_ = MOTE_OK;
};

}  // namespace mote
