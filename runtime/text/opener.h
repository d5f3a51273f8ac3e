// SPDX-License-Identifier: Apache-2.0
//
// The proofs of a tokenizer's tables. Each open_... leaves its part of the tokenizer as open_tokenizer
// promises it, or a failure in the opener; each may use what those before it have proved.
#pragma once

#include "runtime/error.h"
#include "runtime/file/xxh64.h"
#include "runtime/text/tokenizer.h"
#include "schema/block_formats.h"

namespace mote {

inline constexpr uint32_t kMaxTableBytes = 1u << 30;

/// Takes tables out of the segment; the first failure stays.
class Opener {
 public:
  Opener(Segment segment, bool hashes, mote_error* error)
      : segment_(segment), hashes_(hashes), error_(error) {}

  mote_status status() const { return status_; }

  /// False after a failure.
  template <class T>
  bool table(const file::Blob* blob, const char* name, Table<T>* out) {
    const Table<uint8_t> bytes = bytes_of(blob, name, sizeof(T));
    *out = {reinterpret_cast<const T*>(bytes.data), bytes.count / static_cast<uint32_t>(sizeof(T))};
    return status_ == MOTE_OK;
  }

  MOTE_GETS_WORDS inline bool refuse(const char* name, const char* what) {
    if constexpr (!kHasSentences) return expect_without_text(false);
    if (status_ == MOTE_OK) status_ = fail(error_, MOTE_CORRUPT_FILE, "tokenizer: ", name, ": ", what);
    return false;
  }
  MOTE_GETS_WORDS inline bool expect(bool condition, const char* name, const char* what) {
    if constexpr (!kHasSentences) return expect_without_text(condition);
    return condition ? status_ == MOTE_OK : refuse(name, what);
  }

 private:
  bool expect_without_text(bool condition) {
    if (!condition && status_ == MOTE_OK) status_ = fail_without_text(error_, MOTE_CORRUPT_FILE, -1);
    return condition && status_ == MOTE_OK;
  }

  /// A table of elements of so many bytes; none after a failure.
  Table<uint8_t> bytes_of(const file::Blob* blob, const char* name, uint32_t element);

  Segment segment_;
  bool hashes_;
  mote_error* error_;
  mote_status status_ = MOTE_OK;
};

template <class T>
inline Table<T> vector_table(const flatbuffers::Vector<T>* vector) {
  if (vector == nullptr || vector->size() == 0) return {nullptr, 0};
  return {vector->data(), vector->size()};
}

inline Table<uint8_t> string_table(const flatbuffers::String* string) {
  if (string == nullptr || string->size() == 0) return {nullptr, 0};
  return {string->Data(), string->size()};
}

/// `tokens` + 1 offsets into a table of `count` elements: ascending from 0 to `count`.
inline bool are_offsets(const Table<uint32_t>& offsets, uint32_t tokens, uint32_t count) {
  if (offsets.count != tokens + 1 || offsets[0] != 0 || offsets[tokens] != count) return false;
  for (uint32_t i = 0; i < tokens; ++i) {
    if (offsets[i] > offsets[i + 1]) return false;
  }
  return true;
}

/// Symbols, merges, pieces and scores.
void open_model(const file::Tokenizer& root, Opener* opener, Tokenizer* t);

/// A table of transitions over the character classes.
void open_splitter(const file::Splitter& splitter, Opener* opener, const Tokenizer& t, SplitterView* view);

/// A trie whose nodes refer to one of `values` things.
void open_trie(const file::Blob* blob, const char* name, uint32_t values, Opener* opener,
               Table<TrieNode>* trie);

/// Prefixes, normalizers and replacements.
void open_normalization(const file::Tokenizer& root, Opener* opener, Tokenizer* t);

}  // namespace mote
