// SPDX-License-Identifier: Apache-2.0
//
// A model as the file will state it, before values have places and weights have bytes: the schema's
// operations over views of values, and weights that name their sources.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "converter/model_specs.h"
#include "converter/nodes.h"
#include "converter/picture_format.h"
#include "converter/source.h"

namespace mote::convert {

/// The things that a value has a row for; units from `group` on are the groups of its program, in their
/// order.
enum class Unit : uint8_t { token, selected, sequence, group };

/// Rows for `ratio` neighbouring rows of another unit, of tokens or earlier groups. There is one only where
/// the sequence has `needs` rows from its first on.
struct Groups {
  Unit of;
  uint32_t ratio;
  uint32_t needs = 1;
  uint32_t fixed = 0;      // rows of each sequence, however long it is; 0: as above
  uint32_t parts = 1;      // rows for each row of `of`; more than 1 where ratio and needs are 1
  GridPlaces places = {};  // of pictures of any size, that rows are; `of` is the tokens, and their side has
  uint32_t least = 1;      // at least so many patches
};

/// A matrix with a row per unit; the planner gives it a place in the arena.
struct Value {
  uint32_t width;
  DType dtype;  // f32, or q8g32 or q8c for quantized activations
  Unit unit;
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

/// The state that a layer keeps of each sequence: a state of the file, of keys and values or of a fixed size.
struct Cache {
  uint32_t kv_heads, key_dim, window;
  bool bidirectional = false;
  uint32_t value_dim = 0;  // 0: key_dim
  uint32_t ratio = 1;      // tokens of a position
  int32_t source = -1;     // a program of whole sequences, whose rows it keeps
  StateKind kind = StateKind::kv;
  uint32_t heads = 0, rows = 0, cols = 0;  // of other kinds
  uint32_t memory = 0;                     // positions of earlier runs
  GridPlaces places = {};                  // of pictures of any size, whose rows it keeps
};
inline Cache conv_tail(uint32_t taps, uint32_t width) {
  return {0, 0, 0, false, 0, 1, -1, StateKind::conv_tail, 1, taps - 1, width};
}
inline Cache recurrent(uint32_t heads, uint32_t rows, uint32_t cols) {
  return {0, 0, 0, false, 0, 1, -1, StateKind::recurrent, heads, rows, cols};
}

/// Names what a view holds right after a node.
struct GraphProbe {
  std::string name;
  uint32_t node;
  View view;
};

/// The kinds of rows of the output, as in the schema.
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
  /// Returns the unit of places of pictures of at least `least` patches on each side.
  Unit add_places(GridPlaces places, uint32_t least) {
    for (size_t i = 0; i < groups.size(); ++i) {
      if (groups[i].places == places) return static_cast<Unit>(static_cast<size_t>(Unit::group) + i);
    }
    groups.push_back({Unit::token, 1, 1, 0, 1, places, least});
    return static_cast<Unit>(units() - 1);
  }
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
  std::optional<VisionInputSpec> vision_input = std::nullopt;
  std::optional<SpeechSpec> speech = std::nullopt;
  std::optional<VoiceSpec> voice = std::nullopt;
  Task task = Task::none;
  int32_t mask_id = -1;
  std::vector<LanguageSpec> languages = {};
  bool language_in_source = false;
};

}  // namespace mote::convert
