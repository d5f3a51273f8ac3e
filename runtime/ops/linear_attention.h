// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct LinearAttention : Recurrent {
  template <class F>
  static constexpr void operands(LinearAttentionArgs& args, F&& f) {
    const uint64_t heads = args.state.heads, keys = heads * args.key_dim,
                   values = heads * (args.state.cols - 1);
    rows_of(f, args.q, keys, args.k, keys, args.v, values, args.out, values);
  }
  static uint64_t work_per_row(const LinearAttentionArgs& args) {
    const uint64_t of_features = args.projection == nullptr ? 8 : args.key_dim;
    return 2 * uint64_t{args.state.heads} * args.state.rows * (args.state.cols + of_features);
  }
  static ScratchShape scratch(const LinearAttentionArgs& args, uint32_t) {
    ScratchShape shape{};
    shape.inputs = args.whole ? 1 : 0;
    shape.key_dim = args.state.rows > args.key_dim ? args.state.rows : args.key_dim;
    shape.value_dim = args.state.cols;
    return shape;
  }

  static Extent prepare(LinearAttentionArgs& args, const RunRows& run, Extent extent) {
    return args.whole ? OfHeads::prepare(args, run, extent) : Recurrent::prepare(args, run, extent);
  }
  static uint32_t fixed_state(const LinearAttentionArgs& args) {
    return args.whole ? kNoState : args.state.index;
  }

  template <class To>
  static void describe(const file::LinearAttention& op, To& to) {
    OfHeads::describe(op, to);
    if (op.state() != -1) to.from("state ", static_cast<uint32_t>(op.state()));
    to.writes(op.out());
    to.detail(op.heads(), " heads, ", file::EnumNameFeatureMap(op.map()));
    if (op.state() == -1) to.detail("bidirectional");
    to.tensor(op.projection());
    if (op.state() == -1) return;
    const auto index = static_cast<uint32_t>(op.state());
    const file::State& state = to.cache(index);
    to.carries(index, 2 * uint64_t{state.heads()} * state.rows() * state.cols());
  }
};

static_assert(static_cast<int>(file::FeatureMap::MAX) == static_cast<int>(FeatureMap::exponential));

inline void Binder::bind(const file::LinearAttention& op, Step* step) {
  const Heads heads = heads_of(op, Op::kLinearAttention, step);
  if (status_ != MOTE_OK) return;
  const bool whole = op.state() == -1;
  check(op.map() <= file::FeatureMap::MAX, "unknown map");
  check((op.map() == file::FeatureMap::exponential) == (op.projection() != -1),
        "a projection is of exponential features");
  if (whole) check(is_whole(*places_.program), "only programs of whole sequences have no state");
  if (status_ != MOTE_OK) return;
  const uint32_t key_dim = heads.key_dim, value_dim = heads.value_dim;
  uint32_t features = key_dim;
  const float* projection = nullptr;
  if (op.projection() != -1) {
    const file::Tensor* found = tensor(op.projection(), "projection");
    if (found == nullptr) return;
    features = found->rows();
    projection = matrix(op.projection(), features, key_dim, "projection");
    check(features > 0 && features <= kMaxWidth, "projection has ", features, " rows");
  }
  FixedStateView state{};
  if (whole) {
    check(value_dim < kMaxWidth, "values of width ", value_dim);
    state.heads = op.heads();
    state.rows = features;
    state.cols = value_dim + 1;
  } else {
    state = fixed_state(static_cast<uint32_t>(op.state()), file::StateKind::recurrent);
    if (status_ == MOTE_OK) shape(state, op.heads(), features, value_dim + 1);
  }
  if (status_ != MOTE_OK) return;
  step->linear_attention = {state,
                            places_.by_sequence,
                            kOneLane,
                            whole,
                            place(heads.q).starts,
                            0,
                            static_cast<FeatureMap>(op.map()),
                            key_dim,
                            projection,
                            heads.q.const_rows(),
                            heads.k,
                            heads.v.const_rows(),
                            heads.out};
}

}  // namespace mote::ops
