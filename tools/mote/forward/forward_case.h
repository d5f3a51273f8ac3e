// SPDX-License-Identifier: Apache-2.0
//
// The inputs and outputs of mote forward: one file, a segment, may hold several cases, told apart by a prefix
// of their names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mote/mote.h"

namespace mote::cli {

/// A row without its padding.
struct Sequence {
  std::vector<int32_t> ids;
  std::vector<int32_t> types;      // of the tokens, or empty
  std::vector<bool> global;        // whether a token is global, or empty
  std::vector<uint32_t> columns;   // where each was in the row
  std::vector<float> values;       // rows of floats, of a program that takes them; ids are 0
  uint32_t height = 0, width = 0;  // of a picture, else 0
  uint32_t across = 0;             // patches in its lines
};

/// input_ids [B, T] of one case.
struct Case {
  std::string prefix;                 // "padded_left.", or ""
  uint32_t columns = 0;               // T
  std::vector<Sequence> sequences;    // B
  std::vector<int64_t> position_ids;  // [B, T], or empty
  uint32_t boxes = 0;                 // rows of a picture that a detector's outputs are of, the last ones

  uint32_t longest() const;
  bool has_global_tokens() const;
};

template <class T>
struct Array {
  std::vector<uint64_t> shape;
  std::vector<T> values;
};

/// The outputs of a segment, by name.
struct Outputs {
  std::map<std::string, Array<float>> rows;   // logits, hidden.0 ... [B, T, width], or [B, width]
  std::map<std::string, Array<int64_t>> ids;  // greedy_ids

  void write(const std::string& path) const;
};

/// A row of [B, T, width] for each token, 0 where there is none.
Array<float>& rows_array(Outputs& outputs, const Case& item, const std::string& name, uint32_t width);
void store_row(Outputs& outputs, const Case& item, const std::string& name, size_t sequence, size_t token,
               const float* row, uint32_t width);

/// A row of streams of `width` side by side, each a row of [B, T, width] of [streams, B, T, width].
void store_streams(Outputs& outputs, const Case& item, const std::string& name, size_t sequence, size_t token,
                   const float* row, uint32_t width, uint32_t streams);

/// A row of [B, width].
void store_sequence_row(Outputs& outputs, const Case& item, const std::string& name, size_t sequence,
                        const float* row, uint32_t width);

/// The cases of a file: each name "<prefix>input_ids" is one. Throws convert::Error.
std::vector<Case> read_cases(const std::string& path);

/// Reads the cases of pictures in a file: each name "<prefix>pixel_values" is one, [B, channels, height,
/// width].
std::vector<Case> read_picture_cases(const std::string& path, const mote_model* model);
/// Reads the tokens that a decoder has read over a case of sources: `<prefix>decoder_input_ids` [B, T],
/// perhaps with a mask. Nothing if the file has none.
std::optional<Case> read_target(const std::string& path, const Case& source);

/// Throws convert::Error unless the positions given for unmasked tokens are those that mote derives: one
/// after another, for sequence b from lengths[b] on.
void check_positions(const Case& item, const std::vector<uint32_t>& lengths, const std::string& path);

}  // namespace mote::cli
