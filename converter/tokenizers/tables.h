// SPDX-License-Identifier: Apache-2.0
//
// A tokenizer's tables for the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "converter/tokenizers/tokenizer_spec.h"
#include "runtime/file.h"

namespace mote::convert {

class TokenizerTables {
 public:
  /// Throws Error where the runtime could not hold it.
  explicit TokenizerTables(const TokenizerSpec& spec);

  /// What goes into the segment, a multiple of 64 bytes.
  std::span<const std::byte> bytes() const { return bytes_; }
  uint32_t tokens() const { return static_cast<uint32_t>(spec_.tokens.size()); }

  /// The metadata, where `offset`, a multiple of 64, is the place of bytes() in the segment.
  flatbuffers::Offset<file::Tokenizer> write(flatbuffers::FlatBufferBuilder& builder, uint64_t offset) const;

 private:
  template <class T>
  file::Blob add(const std::vector<T>& table);
  void add_tokens();
  void add_symbols();
  void add_merges();
  void add_added();
  void add_splits();
  std::string normalized(const std::string& text) const;

  struct SplitterTable {
    uint32_t states;
    file::Blob transitions;
    bool keep_matches, keep_rest;
  };

  TokenizerSpec spec_;
  std::vector<std::byte> bytes_;
  file::Blob token_offsets_, token_text_, token_flags_, characters_, merge_offsets_, merges_, whole_words_;
  file::Blob class_flags_, class_blocks_, class_table_, added_, raw_trie_, normal_trie_;
  uint32_t classes_ = 0;
  uint32_t longest_normal_ = 0;
  std::vector<SplitterTable> splitters_;
};

}  // namespace mote::convert
