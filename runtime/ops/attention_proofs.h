// SPDX-License-Identifier: Apache-2.0
//
// The proofs of what attention adds to its scores, and of what it leaves out.
#pragma once

#include "runtime/ops/proofs.h"

namespace mote {

class AttentionProofs : public Proofs {
 public:
  using Proofs::Proofs;

  /// Says whether the bias has a row for each position of a query, of every head. For a single position both
  /// forms agree.
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
    if (op.windows()) {
      *reach = op.group();
      const uint64_t of_all = uint64_t{op.heads()} * op.group();
      check((table->rows() == of_all || table->rows() == 4 * of_all) && table->cols() == op.group(),
            "bias is ", table->rows(), " x ", table->cols(), " for windows of ", op.group());
      return static_cast<const float*>(data(table));
    }
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

  /// Proves that groups which are windows of a picture are those of the stream's squares.
  void check_windows(const file::Attention& op, const Operand& q) {
    if (!kHasMedia || !op.windows()) return;
    const GridScale scale = grid_of(*places_.program, q.stream);
    check(op.group() != 0 && uint64_t{scale.times} * scale.times == op.group() && op.bias() != -1,
          "windows of ", op.group(), " rows of a stream of ", scale.times, " places for every ", scale.every,
          " patches");
  }
  /// Returns the ends of the picture that each row's window lies at, where a bias depends on them, else null.
  const uint32_t* edges_of_windows(const file::Attention& op, const Operand& q) const {
    if (!kHasMedia || !op.windows() || status_ != MOTE_OK) return nullptr;
    const file::Tensor* table = model_.root->tensors()->Get(static_cast<uint32_t>(op.bias()));
    return table->rows() == op.heads() * op.group() ? nullptr : place(q).firsts;
  }

  /// Returns rows with a column of every head for each distance of the query's stream.
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
};

}  // namespace mote
