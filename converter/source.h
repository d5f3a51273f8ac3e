// SPDX-License-Identifier: Apache-2.0
//
// A model as its users have it, whatever the files: a config with the keys and tensors with the names of
// Hugging Face. Tensors stay in their mapped files and are read row by row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "converter/picture_format.h"
#include "converter/quant_row.h"
#include "host/base/mapped_file.h"
#include "kernels/ops.h"

namespace mote::convert {

enum class SourceType : uint8_t {
  f32,
  f16,
  bf16,
  q8_0,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq4_nl,
  mxfp4,
  ternary,    // BitNet's: -1, 0 and 1 times a scale; four rows, a quarter of all apart, in the bits of a row
              // of bytes
  int4,       // -8 to 7 with an f16 for 32 columns, as a RowReader gives them
  int8,       // -128 to 127 likewise
  int8_rows,  // -128 to 127 with an f32 for a row
  packed,     // integers that none of these holds
  fp8
};

/// "F32", "Q4_K" and so on.
const char* source_type_name(SourceType type);

/// Rows that are made as they are read: of matrices packed by other tools, or merged with adapters.
class RowReader {
 public:
  virtual ~RowReader() = default;
  virtual void read(uint64_t row, std::span<float> out) const = 0;
  /// Says whether read_exact gives the same numbers in the tensor's own type.
  virtual bool has_exact() const { return false; }
  virtual void read_exact(uint64_t, QuantRow&) const {}
};

/// The rounding of its matrices' inputs that a file states: RoundArgs.
struct InputRounding {
  Rounding to;
  float unit, least, most;

  bool operator==(const InputRounding&) const = default;
};

/// A row [cols] is contiguous in the file; a vector has one row. Shapes of more dimensions keep the last as
/// cols.
struct SourceTensor {
  SourceType type;
  std::vector<uint64_t> shape;  // outermost first
  const std::byte* data;        // [rows, cols] in `type`, any alignment
  uint64_t bytes;
  uint64_t rows() const;
  uint64_t cols() const;
  /// Nonzero: the file has each head's rows in the order of interleaved RoPE (GGUF's and llama2.c's llama q
  /// and k), and reading undoes it: row i < E/2 of a head is the file's 2i, row E/2 + i its 2i + 1.
  uint32_t interleaved_heads = 0;
  float scale = 1.0f;                                 // of ternary values
  std::shared_ptr<const RowReader> reader = nullptr;  // in place of `data`
  uint64_t reader_row = 0;                            // of the first row
  bool is_linear = false;  // [outputs, inputs], where the architecture may have it the other way round
  std::optional<InputRounding> input_rounding = std::nullopt;  // of a matrix
};

/// Row `row` as f32. `out` has cols() elements.
void read_row(const SourceTensor& tensor, uint64_t row, std::span<float> out);

/// Returns whether both have the same shape and, as f32, the same numbers.
bool has_same_values(const SourceTensor& a, const SourceTensor& b);

/// Says whether read_exact_row has a target type (quantizers/list.inc).
bool has_exact_type(SourceType type);

/// Row `row` with the file's own scales and integers; only where has_exact_type.
void read_exact_row(const SourceTensor& tensor, uint64_t row, QuantRow& out);

/// How token vectors become one for the text, as a sentence-transformers directory or the user says.
struct SentencePooling {
  PoolKind kind = PoolKind::mean;
  bool normalize = false;
  std::vector<PoolKind> more_kinds = {};  // whose vectors stand behind that of the first
  /// Linears behind the pooling, in order. The tensors' names start with `name`.
  struct Dense {
    std::string name;
    Activation activation;
    uint32_t width;  // of the output
    bool bias;
  };
  std::vector<Dense> dense = {};
};

/// A text that the model's authors put before texts, by its name ("query").
struct Prompt {
  std::string name, text;
};

/// How a cross encoder's chat template gets its two texts: as messages of roles query and document, behind
/// one of the role system where there is an instruction.
struct PairMessages {
  std::string instruction;
  bool parts = false;                                             // contents are lists of parts
  std::vector<std::pair<std::string, nlohmann::json>> variables;  // of the template
};

/// A decoder's score of a text: a logit behind its last token, less another where there is one.
struct LogitScore {
  uint32_t more;
  std::optional<uint32_t> less;
};

struct Source {
  std::string format;               // "hf", "gguf", "llama2c" or "ctranslate2", for messages
  std::string name;                 // of the model
  std::filesystem::path directory;  // of "hf" and "ctranslate2"
  std::filesystem::path
      text_directory;  // of the tokenizer where it is that of an adapter; empty: `directory`
  const std::filesystem::path& text_files() const {
    return text_directory.empty() ? directory : text_directory;
  }
  std::filesystem::path config_path;  // of config.json; empty where the config is part of the file of weights
  std::shared_ptr<const nlohmann::json>
      config;                     // config.json's keys; of GGUF and llama2.c made of the header
  std::vector<int32_t> stop_ids;  // from generation_config.json, else config's eos_token_id
  std::string chat_template;      // Jinja text, empty if there is none
  std::optional<SentencePooling> pooling;
  std::optional<LogitScore> logit_score;      // of a decoder that is a cross encoder
  std::optional<PairMessages> pair_messages;  // none: two texts are put together as the tokenizer has it
  uint32_t max_tokens = 0;    // of a text, where a sentence-transformers directory says it; 0: the model's
  std::string tower;          // "vision", "audio" or "text", of models of several; the user's choice
  PictureSides picture_size;  // of models of pictures that keep their ratio; the user's
  PictureSides
      any_picture_size;    // pictures have any size, of at most as many patches as this one; the user's
  std::string base;        // of a part of a model: starts the names of its weights
  bool lowercase = false;  // texts are lowercased, whatever the tokenizer does
  std::string language;    // whose adapter and vocabulary of several are taken; empty: the source's own
  std::vector<Prompt> prompts;
  int32_t default_prompt = -1;     // of them, before every text; -1: none
  bool ternary = false;            // matrices of bytes are ternary ones, as the config says
  bool packed = false;             // matrices are packed by another tool, as the config says
  std::string similarity;          // of vectors, as sentence-transformers names it; "": cosine
  std::string label_activation;    // of a cross encoder's labels ("torch.nn.modules.linear.Identity")
  std::vector<std::string> notes;  // what the user should know
  std::map<std::string, SourceTensor> tensors;  // by Hugging Face name
  std::optional<SourceTensor> own_head;  // of a decoder whose embedding an adapter replaces, but not its head
  std::vector<std::string> ignored_keys;  // that the user says to be harmless
  std::set<std::string> met_keys;         // those of them that a reader met; not those of config.json

  /// Returns whether the user says so of the key, which then counts as met.
  bool ignores(const std::string& key) {
    if (std::find(ignored_keys.begin(), ignored_keys.end(), key) == ignored_keys.end()) return false;
    met_keys.insert(key);
    return true;
  }
  std::vector<std::unique_ptr<MappedFile>> files;  // own the tensors' data
};

/// Reads a directory of Hugging Face or CTranslate2, a .gguf or a llama2.c .bin, told apart by content.
/// Keys that the user says to be harmless are `ignored`. Throws Error.
Source read_source(const std::filesystem::path& path, const std::vector<std::string>& ignored = {});

}  // namespace mote::convert
