// SPDX-License-Identifier: Apache-2.0
//
// A tokenizer as the converter understands it, whatever file it came from.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "converter/source.h"
#include "converter/tokenizers/normalizer_spec.h"
#include "converter/tokenizers/regex.h"
#include "schema/text_formats.h"

namespace mote::convert {

struct TokenSpec {
  std::string text;   // what it decodes to
  uint8_t flags = 0;  // TokenFlag
};

struct MergeSpec {
  uint32_t left, right, merged, rank;
};

struct AddedTokenSpec {
  std::string text;
  uint32_t id = 0;
  uint32_t flags = 0;  // AddedFlag
  bool normalized = false;
};

/// Cuts text into the expression's matches and the rest between them.
struct SplitSpec {
  RegexPtr regex;
  bool keep_matches = true, keep_rest = true;
};

enum class PrefixSpec : uint8_t {  // file::PrefixRule
  none,
  always,
  unless_present,
  first_unless_present,
  first_segment
};

enum class ModelSpec : uint8_t { bpe, wordpiece, unigram };  // file::TokenModel

/// The tokens that are added around one text or two, with the token types of these parts and of the texts, in
/// order.
struct TemplateSpec {
  std::vector<int32_t> before, between, after;
  std::vector<uint8_t> types;  // empty: 0, and 1 for the second text
};

/// The tables of a Unigram that SentencePiece itself runs, whose pieces a vocabulary of its own numbers.
struct SentencePieceSpec {
  std::map<std::string, uint32_t> unknown_pieces;      // tokens that are no pieces
  std::vector<std::pair<std::string, float>> foreign;  // pieces that are no tokens, with their scores
  float start = 0;                                     // what sums of scores begin with
};

struct TokenizerSpec {
  ModelSpec model = ModelSpec::bpe;
  std::vector<TokenSpec> tokens;            // by id
  std::vector<int32_t> byte_ids;            // 256 or none
  std::vector<int32_t> last_byte_ids;       // of bytes that end a word, where these differ
  std::map<uint32_t, uint32_t> characters;  // ids by code point; empty: merging starts from bytes
  int32_t unknown_id = -1;
  bool fuse_unknown = false;
  std::vector<MergeSpec> merges;
  std::vector<uint32_t> whole_words;  // tokens that a word is taken as whole, in any order

  std::map<std::string, uint32_t> pieces;  // of WordPiece and Unigram
  std::string continuing_prefix;
  uint32_t word_characters = 0;
  std::vector<double> scores;  // by id
  double unknown_score = 0;
  std::optional<SentencePieceSpec> sentence_piece;

  std::vector<AddedTokenSpec> added;
  std::string segment_prefix;
  std::vector<NormalizerSpec> normalizers;
  std::vector<std::pair<std::string, std::string>> replacements;
  std::string piece_prefix;
  PrefixSpec piece_prefix_rule = PrefixSpec::none;
  uint32_t prefix_depth = 0;  // splits before the piece prefix
  std::vector<SplitSpec> splits;

  TemplateSpec single, pair;
  std::vector<uint8_t> plain_pair_types;
  bool no_pairs = false;
  bool cut_left = false;  // texts that are too long
  bool trim_offsets = false, trim_keeps_prefix = false;
  uint32_t strip_spaces = 0;
  bool strip_first_token = false;
};

/// SentencePiece's sign for a space, U+2581.
inline constexpr const char* kSpaceSign = "\u2581";

/// The need to turn ids into text again: an encoder that has no decoder, or one that is not understood, shows
/// its tokens as the vocabulary writes them.
enum class DecoderNeed : uint8_t { required, optional };

/// The tokenizer that a source has, if any. Throws Error, naming the part of it that is not understood.
std::optional<TokenizerSpec> read_tokenizer(const Source& source, bool encoder);

/// Keys of tokenizer_config.json, with their values, that nobody reads; of how texts become ids, and of a
/// model that `generates` of how ids become texts.
std::vector<std::string> unread_tokenizer_keys(const Source& source, bool generates);

/// From the bytes of a tokenizer.json; `where` names it in messages.
TokenizerSpec read_tokenizer_json(std::span<const std::byte> file, const std::string& where);

/// From the lines of a vocab.txt and the bytes of the tokenizer_config.json beside it, if there is one:
/// BERT's. Messages name them `where` and `config_where`.
TokenizerSpec read_bert_vocabulary(std::span<const std::byte> vocabulary, std::span<const std::byte> config,
                                   const std::string& where, const std::string& config_where);

/// From a GGUF's metadata; nothing if it has none.
std::optional<TokenizerSpec> read_gguf_tokenizer(std::span<const std::byte> file, const std::string& where);

}  // namespace mote::convert
