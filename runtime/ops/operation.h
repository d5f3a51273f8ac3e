// SPDX-License-Identifier: Apache-2.0
//
// The runtime's knowledge of an operation: runtime/ops/<operation>.h has a struct for each in namespace ops,
// derived from Operation, and its overload of Binder::bind. The struct has
//   operands(args, f)            the operands that lie in buffers: f for each, as rows_of gives it
//   work_per_row(args)           rough multiply-adds, without what depends on the context
//   describe(table, to)          the table of the file, in words and numbers (visit_op.h), but for
//   details(table, to)           what stands behind them
// and hides of Operation's members those that are different for it.
#pragma once

#include "runtime/ops/grid_proofs.h"

namespace mote {

/// The work units of kernels: a row of outputs, a panel of 16 outputs of all rows (Call::stream included), a
/// KV head of a block of rows, a block of columns of a sequence's rows, or a panel of every expert of all
/// rows. All but the first are across rows; sequence_block takes the rows of all lanes.
enum class WorkUnit : uint8_t { row, panel, head_block, sequence_block, expert_panel };

/// The operands of a row of outputs: the same row of the operands, rows of tokens, or a state too.
enum class Reads : uint8_t { own_row, tokens, state };

struct Traits {
  WorkUnit unit;
  Reads reads;
  bool leaves_tokens = false;  // its rows are of another unit than those it reads (passes.h)

  constexpr bool across_rows() const { return unit != WorkUnit::row; }
  constexpr bool of_sequences() const { return unit == WorkUnit::sequence_block; }
  /// It can be a part of a chain (chain.h).
  constexpr bool by_rows() const { return unit == WorkUnit::row && reads == Reads::own_row; }
};

/// The run, or of an encoder its pass.
struct RunRows {
  uint32_t tokens;
  uint32_t first_token;     // of the pass, among those of the run
  uint32_t first_sequence;  // of the pass
  uint32_t end_sequence;
  uint32_t sequences_with_rows;  // of models with states of a fixed size
  uint32_t last_position;        // the largest of the rows
  uint32_t lane_rows;            // 0: no lanes
  size_t lane_bytes;
  uint32_t batch;
  uint32_t threads;

  uint32_t sequences() const { return end_sequence - first_sequence; }
  ConstRowsInLanes in_lanes(ConstRows of_tokens) const {
    if (lane_rows == 0) return in_one_lane(of_tokens);
    return {of_tokens, lane_rows, lane_bytes};
  }
  Lanes lanes() const { return lane_rows == 0 ? kOneLane : Lanes{lane_rows, lane_bytes}; }
};

/// Work units of a step, and its rough multiply-adds.
struct Extent {
  uint32_t units;
  uint64_t work;
};

/// A call of a step's kernel.
struct Call {
  const KernelEntry* kernel;
  Range rows;  // to which units across rows belong
  Range units;
  void* scratch;
  bool scratch_is_ready;  // the thread's last call was for other units of the same rows and step
  uint32_t stream;        // panels from one stream to the next, or 0
};

inline constexpr uint32_t kNoState = UINT32_MAX;

/// The answers of most operations: units are rows, each of the same row of the operands; there is no scratch
/// and no state.
struct Operation {
  static constexpr Traits kTraits{WorkUnit::row, Reads::own_row};

  /// Returns the shape of the scratch of a call with `rows` rows.
  template <class Args>
  static ScratchShape scratch(const Args&, uint32_t) {
    return {};
  }

  /// Bytes of scratch of a call beside the kernel's.
  template <class Args>
  static uint64_t own_scratch(const Args&, uint32_t) {
    return 0;
  }

  /// Kernels' work units of `rows` rows.
  template <class Args>
  static uint32_t units(const Args&, uint32_t rows) {
    return rows;
  }

  /// Sets what depends on the run. `extent`: a unit for each row of the step, and work_per_row for each.
  template <class Args>
  static Extent prepare(Args&, const RunRows&, Extent extent) {
    return extent;
  }

  template <class Args>
  static void run(const Args& args, const Call& call) {
    kernel_cast<Args>(call.kernel)(args, call.units, call.scratch);
  }

  /// Does the rest when all units are done, in a step that has a second kernel.
  template <class Args>
  static void finish(const Args&, const KernelEntry*) {}

  /// The state that it reads, or that it writes; null for none.
  template <class Args>
  static const void* state_read(const Args&) {
    return nullptr;
  }
  template <class Args>
  static const void* state_written(const Args&) {
    return nullptr;
  }

  /// The number of the state of a fixed size that it takes from row to row; kNoState for none.
  template <class Args>
  static uint32_t fixed_state(const Args&) {
    return kNoState;
  }

  template <class Table, class To>
  static void describe(const Table& op, To& to) {
    to.kind(op.out()->width());
    in_to_out(op, to);
  }
  /// Describes the parts that stand behind the description.
  template <class Table, class To>
  static void details(const Table&, To&) {}

 protected:
  /// Operands with rows of floats, each with their width behind it: for each f(data, stride_bytes, bytes), a
  /// reference to the pointer to the first row (null for one left out), the distance of rows and what is used
  /// of each.
  template <class F, class AnyRows, class... Others>
  static constexpr void rows_of(F&& f, AnyRows& operand, uint64_t width, Others&&... others) {
    f(operand.data, operand.stride_bytes, static_cast<size_t>(width * sizeof(float)));
    if constexpr (sizeof...(others) != 0) rows_of(f, others...);
  }
  template <class AnyRows>
  static AnyRows from_row(AnyRows rows, uint32_t first) {
    if (rows.data != nullptr) rows.data = rows[first];
    return rows;
  }

  /// Parts of descriptions.
  template <class Table, class To>
  static void in_to_out(const Table& op, To& to) {
    to.reads(op.in());
    to.writes(op.out());
  }
  template <class To>
  static void activation(file::Activation activation, To& to) {
    if (activation != file::Activation::none) to.detail(file::EnumNameActivation(activation));
  }
  template <class Table, class To>
  static void weight_and_bias(const Table& op, To& to) {
    to.tensor(op.weight());
    to.tensor(op.bias());
  }
};

/// The answers of operations that write, or change, rows of `width` floats from what is not in a buffer, or
/// from rows that they find themselves.
template <class Args, auto kRows>
struct Writer : Operation {
  template <class F>
  static constexpr void operands(Args& args, F&& f) {
    rows_of(f, args.*kRows, args.width);
  }
  static uint64_t work_per_row(const Args& args) { return args.width; }
};

/// The answers of operations that make a row `out` of a row `in` of the same width. `kCost`: rough
/// multiply-adds for each column.
template <class Args, uint64_t kCost>
struct RowMap : Operation {
  template <class F>
  static constexpr void operands(Args& args, F&& f) {
    rows_of(f, args.in, args.width, args.out, args.width);
  }
  static uint64_t work_per_row(const Args& args) { return kCost * args.width; }
};

/// Columns of a row of out.
constexpr uint64_t out_width(const StackRowsArgs& args) { return uint64_t{args.ratio} * args.width; }
constexpr uint64_t out_width(const FramesArgs& args) { return uint64_t{args.window.taps} * args.width; }
constexpr uint64_t out_width(const GatherRowsArgs& args) { return uint64_t{args.window.taps} * args.width; }
constexpr uint64_t out_width(const DepthwiseConvArgs& args) {
  return uint64_t{args.out_places} * args.channels;
}
constexpr uint64_t out_width(const FourierArgs& args) { return args.width; }
constexpr uint64_t out_width(const SplitRowsArgs& args) { return args.width; }
constexpr uint64_t out_width(const GridFramesArgs& args) {
  return uint64_t{args.reach} * args.reach * args.width;
}
constexpr uint64_t out_width(const GridResizeArgs& args) { return args.width; }
constexpr uint64_t out_width(const GridGatherArgs& args) {
  return uint64_t{args.reach} * args.reach * args.width;
}

/// The answers of operations that make a row `out` of rows of `in` that they find themselves, its neighbours
/// in a sequence.
template <class Args>
struct FromNeighbours : Operation {
  static constexpr Traits kTraits{WorkUnit::row, Reads::tokens};

  template <class F>
  static constexpr void operands(Args& args, F&& f) {
    rows_of(f, args.out, out_width(args));
  }
  static uint64_t work_per_row(const Args& args) { return out_width(args); }

  static Extent prepare(Args& args, const RunRows& run, Extent extent) {
    args.in = run.in_lanes(args.in.first_lane);
    return extent;
  }
};

/// The answers of operations that put the rows of `in` in a window (kernels/time_ops.h) side by side.
template <class Args>
struct WindowRows : FromNeighbours<Args> {
  template <class Table, class To>
  static void describe(const Table& op, To& to) {
    to.kind(op.in()->width(), " x ", op.taps());
    Operation::in_to_out(op, to);
  }
};

/// The answers of operations over pictures (kernels/grid_ops.h).
template <class Args>
struct OverGrid : FromNeighbours<Args> {
  static Extent prepare(Args& args, const RunRows& run, Extent extent) {
    args.rows.first = run.first_sequence;
    return FromNeighbours<Args>::prepare(args, run, extent);
  }
};

/// Work units of a sequence.
template <class Args>
uint32_t units_of_sequence(const Args& args) {
  return args.units_of_sequence();
}
inline uint32_t units_of_sequence(const ShawAttentionArgs& args) { return args.heads; }
inline uint32_t units_of_sequence(const NystromArgs&) { return 1; }

/// The answers of operations on queries, keys and values of heads, of whole sequences.
struct OfHeads : Operation {
  static constexpr Traits kTraits{WorkUnit::sequence_block, Reads::tokens};

  template <class Args>
  static Extent prepare(Args& args, const RunRows& run, Extent extent) {
    args.lanes = run.lanes();
    args.first = run.first_sequence;
    return {run.sequences() * units_of_sequence(args), extent.work};
  }
  template <class Table, class To>
  static void describe(const Table& op, To& to) {
    to.kind(op.heads(), " x ", op.q()->width() / op.heads());
    for (const file::Slice* slice : {op.q(), op.k(), op.v()}) to.reads(slice);
  }
};

/// The answers of operations with a state of a fixed size (kernels/recurrent_ops.h).
struct Recurrent : Operation {
  static constexpr Traits kTraits{WorkUnit::sequence_block, Reads::state};

  template <class Args>
  static Extent prepare(Args& args, const RunRows& run, Extent extent) {
    args.lanes = run.lanes();
    return {run.sequences_with_rows * args.units_of_sequence(), extent.work};
  }
  template <class Args>
  static const void* state_read(const Args& args) {
    return args.state.slots;
  }
  template <class Args>
  static const void* state_written(const Args& args) {
    return args.state.slots;
  }
  template <class Args>
  static uint32_t fixed_state(const Args& args) {
    return args.state.index;
  }
};

namespace ops {

/// Turns the table of one operation into a Step.
class Binder : public GridProofs {
 public:
  using GridProofs::GridProofs;

#define OP(op_name, operation, types) void bind(const file::op_name& op, Step* step);
#include "kernels/op_list.inc"

 private:
  struct InOut {
    Operand in, out;
  };
  template <class Table>
  InOut slices(const Table& op) {
    return {f32_slice(op.in(), "in"), f32_slice(op.out(), "out")};
  }
  /// The operands of a RowMap.
  template <class Table>
  InOut in_out(const Table& op) {
    const InOut rows = slices(op);
    if (status_ == MOTE_OK) alike(rows.in, rows.out, "out");
    return rows;
  }
  /// The operands of a WindowRows, of so many neighbours.
  template <class Table>
  InOut window_rows(const Table& op, uint32_t before, TimeWindow* window, uint32_t dilation = 1) {
    const InOut rows = slices(op);
    if (status_ != MOTE_OK || !time_window(rows.in, rows.out, op.taps(), before, window, dilation))
      return rows;
    width(rows.out, uint64_t{op.taps()} * rows.in.width, "out");
    apart(op);
    return rows;
  }

  /// Where pictures lie, of rows of any two streams of whole sequences.
  GridRows grid(const InOut& rows) {
    check(is_whole(*places_.program), "pictures are whole sequences");
    if (!of_positions(rows.in, "in") || !of_positions(rows.out, "out")) return {};
    return {place(rows.in).starts, place(rows.out).starts, 0, places_.grids};
  }
  /// Queries, keys, values and outputs of heads: rows of tokens, as wide in keys as in queries.
  struct Heads {
    Operand q, v;
    ConstRows k;
    Rows out;
    uint32_t key_dim, value_dim;
  };
  template <class Table>
  Heads heads_of(const Table& op, Op operation, Step* step) {
    Heads heads{f32_slice(op.q(), "q"), f32_slice(op.v(), "v"), {}, {}, 0, 0};
    const Operand out = f32_slice(op.out(), "out");
    if (status_ != MOTE_OK) return heads;
    const uint32_t queries = heads.q.width, values = heads.v.width;
    if (!check(op.heads() > 0 && queries % op.heads() == 0 && values % op.heads() == 0, op.heads(),
               " heads in widths ", queries, " and ", values))
      return heads;
    heads.key_dim = queries / op.heads();
    heads.value_dim = values / op.heads();
    of_tokens(heads.q, "q");
    of_tokens(heads.v, "v");
    heads.k = token_rows(op.k(), queries, "k");
    token_columns(out, values, "out");
    heads.out = out.rows();
    f32_step(step, operation, heads.q);
    return heads;
  }

  /// The weight of linears, in panels, and the rows that it multiplies.
  struct Multiplied {
    const file::Tensor* weight;
    DType dtype;
    Operand in;
  };
  template <class Table>
  Multiplied multiplied(const Table& op) {
    const file::Tensor* weight = tensor(op.weight(), "weight");
    if (weight == nullptr) return {};
    const DType dtype = static_cast<DType>(weight->dtype()), of_rows = activation_dtype(dtype);
    const Operand in = of_rows != DType::f32 ? quantized_slice(op.in(), "in") : f32_slice(op.in(), "in");
    check(in.dtype == of_rows, "in is quantized otherwise than its weight");
    check(weight->packing() == file::Packing::p16k4, "weight is not packed");
    known(op.activation());
    return {weight, dtype, in};
  }
};

}  // namespace ops

using ops::Binder;

}  // namespace mote
