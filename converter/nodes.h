// SPDX-License-Identifier: Apache-2.0
//
// The operations of a graph over views of its values: the tables of the schema, one struct each.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "kernels/ops.h"

namespace mote::convert {

/// Columns [column, column + width) of a value.
struct View {
  uint32_t value;
  uint32_t column;
  uint32_t width;
};

// The operations; weights are indices, -1 for none. kernels/ops.h says what they do. fields(f) calls f with
// the fields of the schema's table, in its order.

struct EmbedNode {
  int32_t table;
  View out;

  auto fields(auto&& f) const { return f(table, out); }
};
enum class RowIndex : uint8_t { position, token_type };
enum class GlobalRole : uint8_t { none, keys, queries };
struct PositionsNode {
  int32_t table;
  View x;
  RowIndex index = RowIndex::position;
  bool replaces = false;

  auto fields(auto&& f) const { return f(table, x, index, replaces); }
};
struct NormNode {
  NormKind kind;
  float eps;
  uint32_t groups;
  int32_t weight, bias;
  View in, out;
  bool eps_outside_root = false;

  auto fields(auto&& f) const { return f(kind, eps, eps_outside_root, groups, weight, bias, in, out); }
};
struct QuantizeNode {
  View in, out;
  int32_t columns = -1;

  auto fields(auto&& f) const { return f(in, out, columns); }
};
struct LinearNode {
  int32_t weight, bias;
  Activation activation;
  View in, out;
  std::optional<View> residual;

  auto fields(auto&& f) const { return f(weight, bias, activation, in, out, residual); }
};
struct RopeTableNode {
  int32_t frequencies;
  float scale;
  View out;
  float growth = 0.0f;
  uint32_t growth_every = 1;
  std::optional<View> shifts = std::nullopt;

  auto fields(auto&& f) const { return f(frequencies, scale, out, growth, growth_every, shifts); }
};
struct RopeNode {
  RopeKind kind;
  uint32_t heads;
  View table, x;

  auto fields(auto&& f) const { return f(kind, heads, table, x); }
};
struct KvStoreNode {
  uint32_t cache;
  View k, v;

  auto fields(auto&& f) const { return f(cache, k, v); }
};
struct AttentionNode {
  uint32_t cache;
  uint32_t heads;
  float scale;
  View q, out;
  int32_t bias = -1;
  float softcap = 0.0f;  // 0: none
  int32_t slopes = -1;
  bool slopes_in_bf16 = false;
  int32_t sinks = -1;
  uint32_t sides = 0;  // 0: none
  std::optional<View> row_bias = std::nullopt;
  int32_t relative_keys = -1, relative_queries = -1;
  bool causal = false;
  uint32_t block = 0, random_blocks = 0;
  GlobalRole globals = GlobalRole::none;
  uint32_t group = 0;  // 0: none
  bool windows = false;

  auto fields(auto&& f) const {
    return f(cache, heads, scale, q, out, bias, softcap, slopes, slopes_in_bf16, sinks, sides, row_bias,
             relative_keys, relative_queries, causal, block, random_blocks, globals, group, windows);
  }
};
struct GateNode {
  Activation activation;
  View gate, up, out;

  auto fields(auto&& f) const { return f(activation, gate, up, out); }
};
struct SelectNode {
  View in, out;

  auto fields(auto&& f) const { return f(in, out); }
};
struct PoolNode {
  PoolKind kind;
  View in, out;
  uint32_t skip = 0;
  int32_t padding = -1;

  auto fields(auto&& f) const { return f(kind, in, out, skip, padding); }
};
struct InputNode {
  View out;

  auto fields(auto&& f) const { return f(out); }
};
struct StackRowsNode {
  View in, out;

  auto fields(auto&& f) const { return f(in, out); }
};
struct ScaleRowsNode {
  View in, out;
  int32_t scale = -1;
  float factor = 1.0f;  // where there is no scale
  std::optional<View> residual = std::nullopt;

  auto fields(auto&& f) const { return f(in, out, scale, factor, residual); }
};

struct CausalConvNode {
  uint32_t state;
  Activation activation;
  int32_t weight, bias;
  View in, out;

  auto fields(auto&& f) const { return f(state, activation, weight, bias, in, out); }
};

struct SsmScanNode {
  uint32_t state;
  uint32_t groups;
  float dt_min, dt_max;
  int32_t decay, dt_bias, skip;
  View x, dt, b, c, out;

  auto fields(auto&& f) const {
    return f(state, groups, dt_min, dt_max, decay, dt_bias, skip, x, dt, b, c, out);
  }
};
struct SelectiveScanNode {
  uint32_t state;
  int32_t decay, dt_bias, skip;
  View x, dt, b, c, out;

  auto fields(auto&& f) const { return f(state, decay, dt_bias, skip, x, dt, b, c, out); }
};

struct GatedDeltaNode {
  uint32_t state;
  uint32_t key_heads;
  float scale, eps;
  int32_t decay, dt_bias;
  View q, k, v, dt, beta, out;

  auto fields(auto&& f) const {
    return f(state, key_heads, scale, eps, decay, dt_bias, q, k, v, dt, beta, out);
  }
};

enum class CellKind : uint8_t { rnn, lstm, gru };
struct RecurrentCellNode {
  CellKind kind;
  uint32_t state;
  int32_t weight, bias;
  View in, out;

  auto fields(auto&& f) const { return f(kind, state, weight, bias, in, out); }
};
enum class FeatureMap : uint8_t { elu_plus_one, exponential };
struct LinearAttentionNode {
  FeatureMap map;
  int32_t state;  // -1: of whole sequences
  uint32_t heads;
  int32_t projection;
  View q, k, v, out;

  auto fields(auto&& f) const { return f(map, state, heads, projection, q, k, v, out); }
};
struct ShawAttentionNode {
  uint32_t heads;
  float scale;
  bool beyond;
  int32_t keys, values;
  View q, k, v, out;

  auto fields(auto&& f) const { return f(heads, scale, beyond, keys, values, q, k, v, out); }
};
struct SinesNode {
  int32_t frequencies;
  bool halves;
  View x;

  auto fields(auto&& f) const { return f(frequencies, halves, x); }
};
struct MixStreamsNode {
  uint32_t streams;
  View in, coefficients, residual, out;

  auto fields(auto&& f) const { return f(streams, in, coefficients, residual, out); }
};
struct MatchRmsNode {
  float eps;
  View in, target, out;

  auto fields(auto&& f) const { return f(eps, in, target, out); }
};
struct CutoffNode {
  float deviations;
  View in, out;

  auto fields(auto&& f) const { return f(deviations, in, out); }
};

enum class Scores : uint8_t { softmax, sigmoid, softmax_of_chosen };
struct RouteNode {
  Scores scores;
  uint32_t chosen, groups, groups_chosen;
  bool normalized;
  float eps, factor;
  int32_t bias;
  View logits, out;

  auto fields(auto&& f) const {
    return f(scores, chosen, groups, groups_chosen, normalized, eps, factor, bias, logits, out);
  }
};
struct ExpertsNode {
  uint32_t chosen;
  int32_t weight, bias;
  Activation activation;
  bool sums;
  std::optional<View> routes;  // none: every row goes to all experts
  View in, out;
  std::optional<View> residual;
  uint32_t stride = 0;  // columns of out from expert to expert; 0: rows of one

  auto fields(auto&& f) const {
    return f(chosen, weight, bias, activation, sums, routes, in, out, residual, stride);
  }
};
struct ClampNode {
  float least, most;
  View in, out;

  auto fields(auto&& f) const { return f(least, most, in, out); }
};
struct XieluNode {
  float positive, negative, beta, eps;
  View in, out;

  auto fields(auto&& f) const { return f(positive, negative, beta, eps, in, out); }
};

struct TokenDropoutNode {
  View x;
  int32_t dropped;
  float kept;

  auto fields(auto&& f) const { return f(x, dropped, kept); }
};

struct FramesNode {
  uint32_t taps, before;
  View in, out;
  uint32_t dilation = 1;

  auto fields(auto&& f) const { return f(taps, before, in, out, dilation); }
};
struct GatherRowsNode {
  uint32_t taps;
  int32_t table;
  View in, out;

  auto fields(auto&& f) const { return f(taps, table, in, out); }
};
struct SplitRowsNode {
  View in, out;
  uint32_t columns = 0;
  bool of_grid = false;

  auto fields(auto&& f) const { return f(in, out, columns, of_grid); }
};
/// The places that a picture's patches become, of pictures of any size; with `times` 0 they have one.
struct GridPlaces {
  uint32_t times = 0, every = 1;

  bool operator==(const GridPlaces&) const = default;
};
struct GridFramesNode {
  uint32_t columns, reach, before, step, skip;
  View in, out;
  GridPlaces places = {};

  auto fields(auto&& f) const {
    return f(columns, reach, before, step, skip, in, out, places.times, places.every);
  }
};
struct GridResizeNode {
  uint32_t columns, out_columns;
  View in, out;
  GridPlaces places = {}, out_places = {};

  auto fields(auto&& f) const {
    return f(columns, out_columns, in, out, places.times, places.every, out_places.times, out_places.every);
  }
};
struct GridPositionsNode {
  uint32_t lines, columns, before, after;
  int32_t table;
  View x;

  auto fields(auto&& f) const { return f(lines, columns, before, after, table, x); }
};
/// An order of places of pictures of any size: windows, and how much further right and down they lie.
struct WindowOrder {
  uint32_t window = 1, shift = 0;
};
struct GridGatherNode {
  WindowOrder order, out_order;
  uint32_t reach;
  View in, out;

  auto fields(auto&& f) const {
    return f(order.window, order.shift, out_order.window, out_order.shift, reach, in, out);
  }
};
struct DepthwiseConvNode {
  uint32_t channels, taps, before, reach, back, step;
  Activation activation;
  int32_t weight, bias;
  View in, out;
  uint32_t dilation = 1;

  auto fields(auto&& f) const {
    return f(channels, taps, before, reach, back, step, activation, weight, bias, in, out, dilation);
  }
};
struct TimeNormNode {
  uint32_t groups;
  float eps;
  Activation activation;
  int32_t weight, bias;
  View in, out;

  auto fields(auto&& f) const { return f(groups, eps, activation, weight, bias, in, out); }
};
struct FourierNode {
  View in, out;

  auto fields(auto&& f) const { return f(in, out); }
};
struct NystromNode {
  uint32_t heads, landmarks;
  float scale;
  View q, k, v, out;

  auto fields(auto&& f) const { return f(heads, landmarks, scale, q, k, v, out); }
};
struct ActivateNode {
  Activation activation;
  View in, out;

  auto fields(auto&& f) const { return f(activation, in, out); }
};
struct LeakyReluNode {
  float slope;
  View in, out;

  auto fields(auto&& f) const { return f(slope, in, out); }
};
struct SplineNode {
  uint32_t bins;
  float bound;
  View in, curve, out;

  auto fields(auto&& f) const { return f(bins, bound, in, curve, out); }
};

struct RoundNode {
  Rounding to;
  float unit, least, most;
  View in, out;

  auto fields(auto&& f) const { return f(to, unit, least, most, in, out); }
};

template <class First, class... Nodes>
using VariantOfRest = std::variant<Nodes...>;
using Node = VariantOfRest<void
#define OP(op, operation, types) , op##Node
#include "kernels/op_list.inc"
                           >;

/// Every view that a node reads or writes: what decides about lifetimes.
std::vector<View> views_of(const Node& node);

}  // namespace mote::convert
