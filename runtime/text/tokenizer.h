// SPDX-License-Identifier: Apache-2.0
//
// A verified view of a file's tokenizer: pointers into the file, nothing copied. After open_tokenizer every
// index in the tables is in range and every walk through them ends.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "mote/status.h"
#include "runtime/file/file.h"
#include "schema/text_formats.h"

namespace mote {

template <class T>
struct Table {
  const T* data;  // null if empty
  uint32_t count;
  const T& operator[](size_t i) const { return data[i]; }
};

struct SplitterView {
  const uint16_t* transitions;  // [states, classes + 1]
  bool keep_matches, keep_rest;
};

struct ReplacementView {
  Table<uint8_t> from, to;
};

/// A step of normalization, file::Normalizer.
struct NormalizerView {
  file::NormalizerKind kind;
  Table<uint16_t> blocks, table;
  Table<uint32_t> text_offsets, text;
  Table<TrieNode> trie;
  SplitterView matcher;
  bool left, right;

  Table<uint32_t> text_at(uint32_t index) const {
    return {text.data + text_offsets[index], text_offsets[index + 1] - text_offsets[index]};
  }
  Table<uint32_t> text_for(uint32_t code_point) const {
    return text_at(
        table[size_t{blocks[code_point / kClassBlockSize]} * kClassBlockSize + code_point % kClassBlockSize]);
  }
};

inline constexpr uint32_t kNoNode = UINT32_MAX;

inline constexpr uint32_t kMaxNormalizers = 16;
inline constexpr uint32_t kMaxSplitters = 8;
inline constexpr uint32_t kMaxReplacements = 4;

/// The tokens that are added around one text or two, and the token types of all parts in their order.
struct TemplateView {
  Table<int32_t> before, between, after;
  Table<uint8_t> types;  // null: 0 for the first text and 1 for the second
};

struct Tokenizer {
  file::TokenModel model;
  uint32_t tokens;
  uint32_t vocab;  // of the model: ids from here on are met in no text, added tokens may have them
  Table<uint32_t> token_offsets;
  Table<uint8_t> token_text, token_flags;
  uint32_t longest_token;     // in bytes
  Table<uint8_t> vocabulary;  // for grammars, which prove it (mote_model_vocabulary); none: the host makes it

  Table<int32_t> byte_ids, last_byte_ids;
  Table<CharacterId> characters;
  int32_t unknown_id;
  bool fuse_unknown;
  Table<uint32_t> merge_offsets;
  Table<Merge> merges;
  Table<uint32_t> whole_words;

  Table<TrieNode> pieces;
  uint32_t continuing_node;  // of the trie: where pieces inside a word start, or kNoNode
  Table<uint8_t> continuing_prefix;
  uint32_t word_characters;
  Table<double> scores, foreign_scores;  // of tokens, and of pieces behind them that become unknown
  Table<TrieNode> unknown_pieces;        // of characters without a piece
  double unknown_score;
  bool float_sums;     // of scores
  double start_score;  // what they begin with

  uint32_t classes;
  Table<uint8_t> class_flags, class_table;
  Table<uint16_t> class_blocks;
  Table<uint32_t> class_ranges;  // in place of class_blocks and class_table, or none
  SplitterView splitters[kMaxSplitters];
  uint32_t splitter_count;

  Table<AddedToken> added;
  Table<TrieNode> raw_trie, normal_trie;
  uint32_t longest_normal;  // bytes of the longest added token sought in normalized text

  Table<uint8_t> segment_prefix, piece_prefix;
  file::PrefixRule piece_prefix_rule;
  uint32_t prefix_depth;  // splitters before the piece prefix
  NormalizerView normalizers[kMaxNormalizers];
  uint32_t normalizer_count;
  Table<CombiningRange> combining;
  Table<Composition> compositions;
  ReplacementView replacements[kMaxReplacements];
  uint32_t replacement_count;

  TemplateView single, pair, plain_pair;
  bool no_pairs, cut_left;
  bool trim_offsets, trim_keeps_prefix;
  uint32_t strip_spaces;
  bool strip_first_token;

  /// Says whether the pieces of a word may be put together to the token, or to a piece behind the tokens: a
  /// special token is found where special tokens are looked for, and nowhere else. A single character stays
  /// what it is.
  bool may_be_word(uint32_t id) const {
    return id >= tokens || (token_flags[id] & kTokenSpecial) == 0 || static_cast<int32_t>(id) == unknown_id;
  }
  bool has_token(int32_t id) const { return id >= 0 && static_cast<uint32_t>(id) < tokens; }
  Table<uint8_t> text_of(uint32_t id) const {
    return {token_text.data + token_offsets[id], token_offsets[id + 1] - token_offsets[id]};
  }
  uint32_t class_of(uint32_t code_point) const {
    if (class_ranges.count != 0) return class_in_ranges(code_point);
    return class_table[size_t{class_blocks[code_point / kClassBlockSize]} * kClassBlockSize +
                       code_point % kClassBlockSize];
  }
  uint32_t class_in_ranges(uint32_t code_point) const;
};

/// The segment of a file, for tables that lie in it.
struct Segment {
  const uint8_t* data;
  uint64_t bytes;
};

/// Proves all tables. `vocab` is the model's number of ids, of which the tokenizer has more only where the
/// file says so (`more_tokens`); with `hashes` the tables' hashes are checked too.
/// MOTE_CORRUPT_FILE or MOTE_UNSUPPORTED_FILE says what is wrong.
mote_status open_tokenizer(const file::Tokenizer& root, Segment segment, uint32_t vocab, bool more_tokens,
                           bool hashes, Tokenizer* tokenizer, mote_error* error);

}  // namespace mote
