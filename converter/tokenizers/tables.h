// SPDX-License-Identifier: Apache-2.0
//
// A tokenizer's tables for the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "converter/tokenizers/dfa.h"
#include "converter/tokenizers/tokenizer_spec.h"
#include "runtime/file/file.h"
#include "runtime/file/xxh64.h"
#include "schema/block_formats.h"

namespace mote::convert {

/// Tables one behind the other, each 64-byte aligned.
class TableBytes {
 public:
  template <class T>
  file::Blob add(const std::vector<T>& table) {
    const uint64_t offset = bytes_.size();
    const uint64_t size = table.size() * sizeof(T);
    bytes_.resize(align_up(offset + size, kAlignment));
    if (size != 0) std::memcpy(bytes_.data() + offset, table.data(), size);
    return {offset, size, xxh64(table.data(), size)};
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

struct SplitterTable {
  uint32_t states;
  file::Blob transitions;
  bool keep_matches, keep_rest;
};

struct NormalizerTable {
  NormalizerKind kind;
  file::Blob blocks, table, text_offsets, text, trie;
  std::optional<SplitterTable> matcher;
  bool left, right;
};

/// A normalizer's step. `classes` knows its matcher's characters.
NormalizerTable add_normalizer(const NormalizerSpec& step, const CharClasses& classes, TableBytes& bytes);

/// Texts to a trie, level by level.
std::vector<TrieNode> build_trie(const std::map<std::string, int32_t>& texts);

class TokenizerTables {
 public:
  /// Throws Error where the runtime could not hold it. `class_ranges`: of characters' classes, ranges in
  /// place of the larger table of blocks.
  explicit TokenizerTables(const TokenizerSpec& spec, bool class_ranges = false);

  /// Returns the bytes that go into the segment, a multiple of 64.
  std::span<const std::byte> bytes() const { return bytes_.bytes(); }
  bool has_class_ranges() const { return class_ranges_.bytes() != 0; }
  bool is_sentence_piece() const { return spec_.sentence_piece.has_value(); }
  /// Says whether all tokens from this id on are added ones, which a text names. Models are trained with
  /// fewer: such an id is refused when it is met.
  bool adds_all_from(uint32_t first) const;
  uint32_t tokens() const { return static_cast<uint32_t>(spec_.tokens.size()); }

  /// Adds the trie of the tokens' bytes that grammars read, for a model of so many ids.
  void add_vocabulary(uint32_t vocab);

  /// The metadata, where `offset`, a multiple of 64, is the place of bytes() in the segment.
  flatbuffers::Offset<file::Tokenizer> write(flatbuffers::FlatBufferBuilder& builder, uint64_t offset) const;

 private:
  void check_normalization() const;
  void add_tokens();
  void add_symbols();
  void add_merges();
  void add_pieces();
  void add_splits();
  void add_added();
  std::vector<std::string> normalized(const std::vector<std::string>& texts) const;

  TokenizerSpec spec_;
  bool small_classes_;
  TableBytes bytes_;
  file::Blob token_offsets_, token_text_, token_flags_, characters_, merge_offsets_, merges_, whole_words_;
  file::Blob class_flags_, class_blocks_, class_table_, class_ranges_, added_, raw_trie_, normal_trie_;
  file::Blob vocabulary_;
  file::Blob pieces_, scores_, unknown_pieces_, foreign_scores_, combining_, compositions_;
  uint32_t classes_ = 0;
  uint32_t longest_normal_ = 0;
  std::vector<SplitterTable> splitters_;
  std::vector<NormalizerTable> normalizers_;
};

}  // namespace mote::convert
