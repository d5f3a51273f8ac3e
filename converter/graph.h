// SPDX-License-Identifier: Apache-2.0
//
// A model as the file will state it, before values have places and weights have bytes: the schema's
// operations over views of values, and weights that name their sources.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "converter/picture_format.h"
#include "converter/source.h"
#include "kernels/ops.h"

namespace mote::convert {

/// What a value has a row for; units from `group` on are the groups of its program, in their order.
enum class Unit : uint8_t { token, selected, sequence, group };

/// Rows for `ratio` neighbouring rows of another unit, of tokens or earlier groups. There is one only where
/// the sequence has `needs` rows from its first on.
struct Groups {
  Unit of;
  uint32_t ratio;
  uint32_t needs = 1;
  uint32_t fixed = 0;  // rows of each sequence, however long it is; 0: as above
  uint32_t parts = 1;  // rows for each row of `of`; more than 1 where ratio and needs are 1
};

/// A matrix with a row per unit; the planner gives it a place in the arena.
struct Value {
  uint32_t width;
  DType dtype;  // f32, or q8g32 or q8c for quantized activations
  Unit unit;
};

/// Columns [column, column + width) of a value.
struct View {
  uint32_t value;
  uint32_t column;
  uint32_t width;
};

/// A matrix of the source that gives consecutive rows of a weight: its rows first_row, first_row + row_step
/// and so on. Columns that it lacks are 0.
struct WeightPart {
  std::string name;            // in the source, for messages
  const SourceTensor* tensor;  // the Source's; null: rows of 0
  bool transposed;             // stored as [cols, rows]
  uint32_t rows;
  uint32_t first_row = 0;
  uint32_t row_step = 1;
};

/// A tensor of the file: the concatenation of its parts' rows, or values.
struct Weight {
  std::string name;  // in the file
  DType dtype;
  bool row_major;  // else P16K4
  uint32_t rows, cols;
  std::vector<WeightPart> parts;
  std::vector<float> values;              // [rows, cols], f32, where there are no parts
  std::vector<float> column_scales = {};  // [cols], what the parts' columns are multiplied by; or empty
  std::vector<float> row_scales = {};     // [rows], the same of the rows
};

/// The schema's.
enum class StateKind : uint8_t { kv, conv_tail, recurrent };

/// What a layer keeps of each sequence: a state of the file, of keys and values or of a fixed size.
struct Cache {
  uint32_t kv_heads, key_dim, window;
  bool bidirectional = false;
  uint32_t value_dim = 0;  // 0: key_dim
  uint32_t ratio = 1;      // tokens of a position
  int32_t source = -1;     // a program of whole sequences, whose rows it keeps
  StateKind kind = StateKind::kv;
  uint32_t heads = 0, rows = 0, cols = 0;  // of other kinds
  uint32_t memory = 0;                     // positions of earlier runs
};
inline Cache conv_tail(uint32_t taps, uint32_t width) {
  return {0, 0, 0, false, 0, 1, -1, StateKind::conv_tail, 1, taps - 1, width};
}
inline Cache recurrent(uint32_t heads, uint32_t rows, uint32_t cols) {
  return {0, 0, 0, false, 0, 1, -1, StateKind::recurrent, heads, rows, cols};
}

// The operations; weights are indices, -1 for none. kernels/ops.h says what they do. fields(f) calls f with
// the fields of the schema's table, in its order.

struct EmbedNode {
  int32_t table;
  View out;

  auto fields(auto&& f) const { return f(table, out); }
};
enum class RowIndex : uint8_t { position, token_type };
enum class GlobalRole : uint8_t { none, keys, queries };
enum class GlobalDefault : uint8_t { none, first, before_separator };
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

  auto fields(auto&& f) const {
    return f(cache, heads, scale, q, out, bias, softcap, slopes, slopes_in_bf16, sinks, sides, row_bias,
             relative_keys, relative_queries, causal, block, random_blocks, globals, group);
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

  auto fields(auto&& f) const { return f(kind, in, out, skip); }
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

  auto fields(auto&& f) const { return f(in, out, columns); }
};
struct GridFramesNode {
  uint32_t columns, reach, before, step, skip;
  View in, out;

  auto fields(auto&& f) const { return f(columns, reach, before, step, skip, in, out); }
};
struct GridResizeNode {
  uint32_t columns, out_columns;
  View in, out;

  auto fields(auto&& f) const { return f(columns, out_columns, in, out); }
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

template <class First, class... Nodes>
using VariantOfRest = std::variant<Nodes...>;
using Node = VariantOfRest<void
#define OP(op, operation, types) , op##Node
#include "kernels/op_list.inc"
                           >;

/// Every view that a node reads or writes: what decides about lifetimes.
std::vector<View> views_of(const Node& node);

/// Names what a view holds right after a node.
struct GraphProbe {
  std::string name;
  uint32_t node;
  View view;
};

/// What a row of the output is; the schema's.
enum class OutputKind : uint8_t {
  next_token,
  masked_token,
  token_labels,
  sequence_labels,
  answer_span,
  embedding,
  hidden,
  boxes,
  depth,
};
enum class Probabilities : uint8_t { softmax, sigmoid, none };

inline bool is_encoder(OutputKind kind) { return kind != OutputKind::next_token; }

/// A program of the file.
struct ProgramGraph {
  std::string name;  // empty: "decode" or "encode"
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<GraphProbe> probes;
  View output;
  OutputKind output_kind = OutputKind::next_token;
  Probabilities probabilities = Probabilities::softmax;
  std::vector<Groups> groups = {};
  uint32_t context = 0;  // the most rows of a sequence of a further program; 0: the model's

  size_t units() const { return static_cast<size_t>(Unit::group) + groups.size(); }
  /// The unit of further groups.
  Unit add_groups(Unit of, uint32_t ratio, uint32_t needs = 1, uint32_t fixed = 0) {
    groups.push_back({of, ratio, needs, fixed});
    return static_cast<Unit>(units() - 1);
  }
  /// The unit of `parts` rows for each row of another.
  Unit add_parts(Unit of, uint32_t parts) {
    groups.push_back({of, 1, 1, 0, parts});
    return static_cast<Unit>(units() - 1);
  }
};

/// The schema's.
enum class SoundFeatures : uint8_t {
  none,
  log_mel,
  compressed_frames,
  normalized_log_mel,
  filter_bank,
  normalized_filter_bank
};

/// The schema's: what a model that hears takes of a waveform, or of rows made of it.
struct SoundSpec {
  bool waveform = true;
  uint32_t rate = 16000;
  uint32_t window = 0;
  bool normalize = false;
  int32_t blank = -1;
  uint32_t row_stride = 1;  // rows of a group that the layers read; not in the file
  uint32_t patch = 0, frame_step = 0, bin_step = 0, frames = 0, bins = 0, before = 0;
  SoundFeatures features = SoundFeatures::none;
  uint32_t fft = 0, hop = 0;
  float scale = 0.0f, mean = 0.0f;
};

/// The schema's: ids of a decoder of speech that are no text, -1 for none.
struct SpeechSpec {
  std::vector<std::string> languages;
  std::vector<int32_t> language_ids;
  int32_t transcribe = -1, translate = -1, no_timestamps = -1, first_timestamp = -1, previous = -1,
          no_speech = -1;
  std::vector<int32_t> suppressed, suppressed_first;
  std::vector<uint32_t> durations;
};

/// The schema's: what a model that reads texts takes of pictures.
struct SightSpec {
  int32_t image_id = -1;
  uint32_t features = 0;  // of a picture's row: the width, and as much for each of the layers that get more
  bool mrope = false;
  uint32_t rows = 0;
  std::string token = {};  // image_id's, of the chat template
  std::string before = {}, after = {}, tile_before = {}, line_after = {}, whole_before = {}, user_before = {};
};

/// The schema's: of a model that speaks.
struct VoiceSpec {
  uint32_t rate = 16000, reach = 0;
  float speed = 1.0f, noise = 0.0f, duration_noise = 0.0f;
};

/// The schema's: which tokens are global.
struct GlobalSpec {
  uint32_t type = 0;
  GlobalDefault by_default = GlobalDefault::none;
  int32_t separator = -1;
};

/// A model: its first program, and what all programs share.
struct Graph : ProgramGraph {
  std::vector<Weight> weights;
  std::vector<Cache> caches;        // the states of the file
  std::vector<std::string> labels;  // of the output's columns
  PictureFormat picture;
  uint32_t token_types = 1;
  uint32_t vocab, width, context;
  int32_t bos_id;
  uint32_t memory = 0;  // tokens before a segment that its tokens see
  std::vector<ProgramGraph> more_programs;
  std::optional<SoundSpec> sound = std::nullopt;
  std::optional<GlobalSpec> globals = std::nullopt;
  std::optional<SightSpec> sight = std::nullopt;
  std::optional<SpeechSpec> speech = std::nullopt;
  std::optional<VoiceSpec> voice = std::nullopt;
};

}  // namespace mote::convert
