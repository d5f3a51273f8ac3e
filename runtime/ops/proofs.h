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

/// What one operation's operands must be; the first check that fails fills the error and is what status()
/// returns.
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
  /// Of one row.
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
  void of_tokens(const Operand& a, const char* what) {
    check(a.kind == file::StreamKind::token, what, " is not per token");
  }
  /// Rows that have positions in a sequence.
  bool of_positions(const Operand& a, const char* what) {
    return check(has_positions(a.kind), what, " is neither per token nor per group of tokens");
  }
  void of_positions(const Operand& a, uint32_t ratio, const char* what) {
    if (!of_positions(a, what)) return;
    const uint32_t tokens = tokens_of_row(*places_.program, a.stream);
    check(tokens != kPartsOfTokens, what, " has rows for parts of tokens, which no state keeps");
    check(tokens == ratio, what, " has a row for ", tokens, " tokens, the state a position for ", ratio);
    const uint32_t kept = stream_of_ratio(*places_.program, ratio);
    check(kept == a.stream || kept == places_.program->streams()->size(), what,
          " is not of the stream whose keys are the first of so many tokens a row");
  }
  /// What rows of `out` see of rows of `in`: of which they are groups, or which are the same.
  bool time_window(const Operand& in, const Operand& out, uint32_t taps, uint32_t before, TimeWindow* window,
                   uint32_t dilation = 1) {
    if (!of_positions(out, "out")) return false;
    const file::Stream* groups = places_.program->streams()->Get(out.stream);
    const bool same = in.stream == out.stream;
    check(is_whole(*places_.program), "neighbours are of whole sequences");
    check(same || (out.kind == file::StreamKind::group && in.stream == groups->of() && groups->fixed() == 0 &&
                   groups->parts() == 1),
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
  void width(const Operand& a, uint64_t expected, const char* what) {
    check(a.width == expected, what, " has width ", a.width, ", expected ", expected);
  }
  /// A row of so many columns for each token.
  void token_columns(const Operand& a, uint64_t columns, const char* what) {
    of_tokens(a, what);
    width(a, columns, what);
  }
  /// Of parts that a build for another model lacks.
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
  /// Whether the state counts rows of the step's program.
  bool is_own(const file::State& state) const {
    const auto* programs = model_.root->programs();
    if (state.source() != -1) return programs->Get(static_cast<uint32_t>(state.source())) == places_.program;
    return state.bidirectional() == is_whole(*places_.program);
  }
  /// Whether queries of tokens see keys of the fixed number of rows of their sequence, or the other way
  /// round.
  bool crosses(const Operand& q, const file::State& cache) const {
    const file::Program& program = *places_.program;
    const uint32_t kept = stream_of_ratio(program, cache.ratio());
    if (fixed_rows(program) == 0 || kept == program.streams()->size() || kept == q.stream) return false;
    const auto is_either = [&](uint32_t stream) {
      return stream == kTokens || program.streams()->Get(stream)->fixed() != 0;
    };
    return is_either(kept) && is_either(q.stream);
  }
  /// Of the rows of a program that appends: the last positions of their sequences' sources in the state.
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

  /// Whether the bias has a row for each position of a query, of every head. Of one position both forms
  /// agree.
  bool is_by_position(const file::Attention& op) const {
    const file::Tensor* table = model_.root->tensors()->Get(static_cast<uint32_t>(op.bias()));
    return table->rows() == uint64_t{op.heads()} * table->cols();
  }
  /// Null for none. The table covers every distance within the context.
  const float* attention_bias(const file::Attention& op, const Operand& q, const file::State& cache,
                              uint32_t* reach) {
    constexpr bool kHasBias = has_score(static_cast<uint32_t>(ScoreKind::biased)) ||
                              has_score(static_cast<uint32_t>(ScoreKind::relative));
    if (!kHasBias || op.bias() == -1) return nullptr;  // of another kind of scores, which is refused
    const file::Tensor* table = tensor(op.bias(), "bias");
    if (table == nullptr) return nullptr;
    check(table->dtype() == file::DType::f32 && table->packing() == file::Packing::rows,
          "bias is not f32 in rows");
    const uint32_t tokens = context_of(*model_.root, *places_.program);
    const uint32_t rows = rows_of_sequence(*places_.program, q.stream, tokens) + cache.memory();
    if (op.group() != 0) {
      *reach = table->rows() / op.heads();
      check(table->rows() % op.heads() == 0 && *reach >= rows && table->cols() == op.group(), "bias is ",
            table->rows(), " x ", table->cols(), " for groups of ", op.group());
      return static_cast<const float*>(data(table));
    }
    if (is_by_position(op)) {
      *reach = table->cols();
      check(*reach >= rows, "bias has ", *reach, " columns for sequences of ", rows);
      return static_cast<const float*>(data(table));
    }
    check(table->rows() == op.heads(), "bias has ", table->rows(), " rows for ", op.heads(), " heads");
    *reach = table->cols() / 2 + 1;
    check(table->cols() % 2 == 1 && *reach >= rows, "bias has ", table->cols(), " columns for sequences of ",
          rows);
    return static_cast<const float*>(data(table));
  }

  /// Of every head a column for each distance of the query's stream.
  ConstRows row_bias(const file::Attention& op, const Operand& q, uint32_t* reach) {
    const Operand bias = f32_slice(op.row_bias(), "row_bias");
    if (status_ != MOTE_OK) return {};
    same_stream(q, bias, "row_bias");
    const uint32_t cols = bias.width / op.heads();
    *reach = cols / 2 + 1;
    const uint32_t context = context_of(*model_.root, *places_.program);
    const uint32_t rows = rows_of_sequence(*places_.program, q.stream, context);
    check(bias.width % op.heads() == 0 && cols % 2 == 1 && *reach >= rows, "row_bias has ", cols,
          " columns of a head for sequences of ", rows);
    return bias.const_rows();
  }

  static bool has_distances(const file::Attention& op) {
    return op.bias() != -1 || op.slopes() != -1 || op.row_bias() != nullptr || is_relative(op);
  }
  static bool is_relative(const file::Attention& op) {
    return op.relative_keys() != -1 || op.relative_queries() != -1;
  }
  /// Null for none. The table covers every distance within the context; both have the same reach.
  const float* relative_table(const file::Attention& op, int32_t index, const file::State& cache,
                              const char* what, uint32_t* reach) {
    if (!has_score(static_cast<uint32_t>(ScoreKind::relative)) || index == -1) return nullptr;
    const file::Tensor* table = tensor(index, what);
    if (table == nullptr) return nullptr;
    const uint32_t columns = table->cols();
    const uint32_t context = context_of(*model_.root, *places_.program) + cache.memory();
    const uint64_t rows = uint64_t{op.heads()} * cache.key_dim();
    check(table->dtype() == file::DType::f32 && table->packing() == file::Packing::rows &&
              table->rows() == rows && columns % 2 == 1,
          what, " are not f32 rows, one for each column of q, of an odd width");
    check(columns / 2 + 1 >= context && (*reach == 0 || *reach == columns / 2 + 1), what, " have ", columns,
          " columns for a context of ", context);
    *reach = columns / 2 + 1;
    return static_cast<const float*>(data(table));
  }

  /// `whole`: its queries see keys of the whole sequence, as far as `sides` lets them.
  void check_globals(const file::Attention& op, bool whole) {
    if (op.globals() == file::GlobalRole::none) return;
    const bool keys = op.globals() == file::GlobalRole::keys;
    check(op.globals() <= file::GlobalRole::MAX && model_.root->globals() != nullptr,
          "attention to global tokens, of which the model has none");
    check(whole && keys == (op.sides() != 0),
          "global tokens are of whole sequences: their keys beside a "
          "window, or their queries without one");
    check(!has_distances(op) && op.softcap() == 0.0f, "has another kind of scores beside global tokens");
  }

  static ScoreKind kind_of_scores(const file::Attention& op) {
    if (op.block() != 0) return ScoreKind::blocks;
    if (op.globals() == file::GlobalRole::keys) return ScoreKind::globals;
    if (is_relative(op)) return ScoreKind::relative;
    if (op.bias() != -1 || op.row_bias() != nullptr) return ScoreKind::biased;
    if (op.softcap() != 0.0f) return ScoreKind::capped;
    if (op.slopes() == -1) return ScoreKind::scaled;
    return op.slopes_in_bf16() ? ScoreKind::alibi_bf16 : ScoreKind::alibi;
  }
  /// At most one of a bias, slopes and a softcap; a bias may stand beside relative keys.
  ScoreKind score_kind(const file::Attention& op) {
    check(!is_relative(op) || (op.slopes() == -1 && op.softcap() == 0.0f),
          "has slopes or a softcap beside relative keys");
    check(isfinite(op.softcap()) && op.softcap() >= 0.0f, "the softcap is negative or not finite");
    const bool by_row = op.row_bias() != nullptr;
    check((op.bias() != -1) + (op.slopes() != -1) + (op.softcap() != 0.0f) + by_row <= 1,
          "has more than one of a bias, slopes and a softcap");
    check(!op.slopes_in_bf16() || op.slopes() != -1, "rounds slopes that it does not have");
    check(op.block() == 0 ||
              (!is_relative(op) && op.bias() == -1 && !by_row && op.slopes() == -1 && op.softcap() == 0),
          "has another kind of scores beside blocks");
    check(!is_relative(op) || !by_row, "has row_bias beside relative keys");
    const ScoreKind kind = kind_of_scores(op);
    built(has_score(static_cast<uint32_t>(kind)), "its kind of scores");
    return kind;
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
