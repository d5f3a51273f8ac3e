// SPDX-License-Identifier: Apache-2.0
//
// A verified view of a file's tokenizer: pointers into the file, nothing copied. After open_tokenizer every
// index in the tables is in range and every walk through them ends.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "mote/status.h"
#include "runtime/file.h"
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

inline constexpr uint32_t kMaxSplitters = 8;
inline constexpr uint32_t kMaxReplacements = 4;

struct Tokenizer {
  uint32_t tokens;
  Table<uint32_t> token_offsets;
  Table<uint8_t> token_text, token_flags;
  uint32_t longest_token;  // in bytes

  Table<int32_t> byte_ids;
  Table<CharacterId> characters;
  int32_t unknown_id;
  bool fuse_unknown;
  Table<uint32_t> merge_offsets;
  Table<Merge> merges;
  Table<uint32_t> whole_words;

  uint32_t classes;
  Table<uint8_t> class_flags, class_table;
  Table<uint16_t> class_blocks;
  SplitterView splitters[kMaxSplitters];
  uint32_t splitter_count;

  Table<AddedToken> added;
  Table<TrieNode> raw_trie, normal_trie;
  uint32_t longest_normal;  // bytes of the longest added token sought in normalized text

  Table<uint8_t> segment_prefix, piece_prefix;
  file::PrefixRule piece_prefix_rule;
  ReplacementView replacements[kMaxReplacements];
  uint32_t replacement_count;

  Table<int32_t> before_ids, after_ids;
  bool trim_offsets, trim_keeps_prefix;
  uint32_t strip_spaces;
  bool strip_first_token;

  bool has_token(int32_t id) const { return id >= 0 && static_cast<uint32_t>(id) < tokens; }
  Table<uint8_t> text_of(uint32_t id) const {
    return {token_text.data + token_offsets[id], token_offsets[id + 1] - token_offsets[id]};
  }
  uint32_t class_of(uint32_t code_point) const {
    return class_table[size_t{class_blocks[code_point / kClassBlockSize]} * kClassBlockSize +
                       code_point % kClassBlockSize];
  }
};

/// The segment of a file, for tables that lie in it.
struct Segment {
  const uint8_t* data;
  uint64_t bytes;
};

/// Proves all tables. `vocab` is the model's number of ids; with `hashes` the tables' hashes are checked too.
/// MOTE_CORRUPT_FILE or MOTE_UNSUPPORTED_FILE says what is wrong.
mote_status open_tokenizer(const file::Tokenizer& root, Segment segment, uint32_t vocab, bool hashes,
                           Tokenizer* tokenizer, mote_error* error);

}  // namespace mote
