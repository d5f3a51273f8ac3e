// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct LinearAttention : Recurrent {
  template <class F>
  static void operands(LinearAttentionArgs& args, F&& f) {
    rows_of(f, args.q, uint64_t{args.state.heads} * args.key_dim);
    rows_of(f, args.k, uint64_t{args.state.heads} * args.key_dim);
    rows_of(f, args.v, uint64_t{args.state.heads} * args.value_dim());
    rows_of(f, args.out, uint64_t{args.state.heads} * args.value_dim());
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
    if (!args.whole) return Recurrent::prepare(args, run, extent);
    args.lanes = run.lanes();
    args.first = run.first_sequence;
    return {(run.end_sequence - run.first_sequence) * args.units_of_sequence(), extent.work};
  }
  static uint32_t fixed_state(const LinearAttentionArgs& args) {
    return args.whole ? kNoState : args.state.index;
  }

  template <class To>
  static void describe(const file::LinearAttention& op, To& to) {
    to.kind(op.heads(), " x ", op.q()->width() / op.heads());
    for (const file::Slice* slice : {op.q(), op.k(), op.v()}) to.reads(slice);
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

}  // namespace ops

static_assert(static_cast<int>(file::FeatureMap::MAX) == static_cast<int>(FeatureMap::exponential));

inline void Binder::bind(const file::LinearAttention& op, Step* step) {
  const Operand q = f32_slice(op.q(), "q"), k = f32_slice(op.k(), "k"), v = f32_slice(op.v(), "v"),
                out = f32_slice(op.out(), "out");
  if (status_ != MOTE_OK) return;
  const bool whole = op.state() == -1;
  check(op.map() <= file::FeatureMap::MAX, "unknown map");
  check(op.heads() > 0 && q.width % op.heads() == 0 && v.width % op.heads() == 0, op.heads(),
        " heads in widths ", q.width, " and ", v.width);
  check((op.map() == file::FeatureMap::exponential) == (op.projection() != -1),
        "a projection is of exponential features");
  if (whole) check(is_whole(*places_.program), "only programs of whole sequences have no state");
  if (status_ != MOTE_OK) return;
  const uint32_t key_dim = q.width / op.heads(), value_dim = v.width / op.heads();
  uint32_t features = key_dim;
  const float* projection = nullptr;
  if (op.projection() != -1) {
    const file::Tensor* found = tensor(op.projection(), "projection");
    if (found == nullptr) return;
    features = found->rows();
    projection = matrix(op.projection(), features, key_dim, "projection");
    check(features > 0 && features <= kMaxWidth, "projection has ", features, " rows");
  }
  token_columns(q, q.width, "q");
  token_columns(k, q.width, "k");
  token_columns(v, v.width, "v");
  token_columns(out, v.width, "out");
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
                            place(q).starts,
                            0,
                            static_cast<FeatureMap>(op.map()),
                            key_dim,
                            projection,
                            q.const_rows(),
                            k.const_rows(),
                            v.const_rows(),
                            out.rows()};
  set_rows(step, q);
  kernel(step, Op::kLinearAttention, DType::f32, DType::f32);
}

}  // namespace mote
