// SPDX-License-Identifier: Apache-2.0
//
// The pipeline: reader -> architecture -> graph -> fuse -> smooth -> quantize -> pack -> plan -> self test ->
// write.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "converter/picture_format.h"

namespace mote::convert {

struct ConvertOptions {
  /// A policy (q8, q4) or a type of schema/weight_types.inc for all; empty: a GGUF's own types, else q8.
  std::string type = {};
  /// Called with what is being done and the share done so far, 0 to 1; may be empty.
  std::function<void(const std::string& stage, double share)> progress = {};
  /// Name of a chat format; empty: the one that the model's template follows, if it is known.
  std::string chat_format = {};
  /// With the chat template's switch enable_thinking on or off; none: as the template does without it.
  std::optional<bool> thinking = {};
  /// How an encoder's token vectors become one for the text: mean, cls, max, last, none; empty: as the source
  /// says.
  std::string pooling = {};
  /// The part of a model of pictures and texts that is converted: vision, text.
  std::string tower = {};
  PictureSides picture_size = {}, any_picture_size = {};  // as in Source
  /// The language that the file is for, by its code, where a model of speech has adapters (MMS).
  std::string language = {};
  /// The vector gets length 1; with `pooling`.
  bool normalize = false;
  /// Keys of the config that are not understood and change nothing, says the user.
  std::vector<std::string> ignored_keys = {};
  /// Leaves the tokenizer out of the file, understood or not.
  bool no_tokenizer = false;
  /// The tokenizer's table of characters takes a fifth of the bytes and ten steps a character: for firmware.
  bool small_tables = false;
  /// A text file by which a decoder's roundings are calibrated; empty: none.
  std::filesystem::path calibration_text = {};
  /// Adapters to be merged, in order: "DIR" or "DIR=SCALE".
  std::vector<std::string> adapters = {};
  /// LongRoPE's factors for long texts, for texts of any length; without it the model's context ends where
  /// the original takes them.
  bool long_context = false;
  /// A uniform type of the head, and of an embedding that is the head too; empty: as `type` says.
  std::string head_type = {};
};

/// Reads "WIDTHxHEIGHT" in pixels, sides from 1 to 65536; false for other texts.
bool read_picture_size(const std::string& text, PictureSides& sides);

struct TensorReport {
  std::string name;
  std::string type;  // its name
  uint64_t rows, cols, bytes;
  double bits_per_weight;  // padding and scales included
  double relative_error;   // |w - w'| / |w| (Frobenius); 0 is exact
};

/// Exact arena bytes of a session of one sequence with default options at a context length.
struct MemoryReport {
  uint32_t context;
  uint64_t arena_bytes;  // keys and values in the default type
};

struct ConvertReport {
  std::string name, architecture, type;
  std::string chat_format;           // empty: none
  bool keeps_chat_template = false;  // which hosts render whole
  /// The remark on the model's chat template: why it becomes no format, or what else is to be said; empty:
  /// nothing.
  std::string template_remark;
  std::vector<std::string> notes;  // what the user should know of the source
  std::vector<TensorReport> tensors;
  std::vector<MemoryReport> memory;
  uint64_t file_bytes;
  uint32_t tokens = 0;           // of the tokenizer; 0: the file has none
  uint64_t tokenizer_bytes = 0;  // of its tables
};

/// Converts to `output`, written under a temporary name beside it and renamed when complete. Throws Error,
/// after which nothing is left behind.
ConvertReport convert(const std::filesystem::path& source, const std::filesystem::path& output,
                      const ConvertOptions& options);

/// Names for `--list` and for suggestions.
std::vector<std::string> architecture_names();
struct ArchitecturesOfKind {
  std::string kind;
  std::vector<std::string> names;
};
std::vector<ArchitecturesOfKind> architectures_by_kind();
std::vector<std::string> type_names();
std::vector<std::string> head_type_names();
/// Returns the names of types as one text, or those that suit heads: types with a scale per row come last.
std::string type_names_for_people(bool of_heads);
std::vector<std::string> chat_format_names();

}  // namespace mote::convert
