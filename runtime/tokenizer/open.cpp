// SPDX-License-Identifier: Apache-2.0
#include "runtime/error.h"
#include "runtime/tokenizer/tokenizer.h"
#include "runtime/xxh64.h"
#include "schema/block_formats.h"

namespace mote {
namespace {

constexpr uint32_t kMaxTableBytes = 1u << 30;
constexpr uint32_t kMaxStates = 1u << 15;
constexpr uint32_t kMaxClasses = 256;

/// Takes tables out of the segment; the first failure stays.
class Opener {
 public:
  Opener(Segment segment, bool hashes, mote_error* error)
      : segment_(segment), hashes_(hashes), error_(error) {}

  mote_status status() const { return status_; }

  /// False after a failure.
  template <class T>
  bool table(const file::Blob* blob, const char* name, Table<T>* out) {
    *out = {nullptr, 0};
    if (status_ != MOTE_OK || blob == nullptr || blob->bytes() == 0) return status_ == MOTE_OK;
    if (blob->offset() % kAlignment != 0 || blob->bytes() % sizeof(T) != 0 ||
        blob->bytes() > kMaxTableBytes || blob->bytes() > segment_.bytes ||
        blob->offset() > segment_.bytes - blob->bytes()) {
      return refuse(name, "lies outside the file");
    }
    const uint8_t* data = segment_.data + blob->offset();
    if (hashes_ && xxh64(data, static_cast<size_t>(blob->bytes())) != blob->xxh64()) {
      return refuse(name, "hash differs; copy or download the file again");
    }
    *out = {reinterpret_cast<const T*>(data), static_cast<uint32_t>(blob->bytes() / sizeof(T))};
    return true;
  }

  bool refuse(const char* name, const char* what) {
    if (status_ == MOTE_OK) status_ = fail(error_, MOTE_CORRUPT_FILE, "tokenizer: ", name, ": ", what);
    return false;
  }
  bool expect(bool condition, const char* name, const char* what) {
    return condition ? status_ == MOTE_OK : refuse(name, what);
  }

 private:
  Segment segment_;
  bool hashes_;
  mote_error* error_;
  mote_status status_ = MOTE_OK;
};

template <class T>
Table<T> vector_table(const flatbuffers::Vector<T>* vector) {
  if (vector == nullptr || vector->size() == 0) return {nullptr, 0};
  return {vector->data(), vector->size()};
}

Table<uint8_t> string_table(const flatbuffers::String* string) {
  if (string == nullptr || string->size() == 0) return {nullptr, 0};
  return {string->Data(), string->size()};
}

/// Offsets into a table of `count` elements: ascending from 0 to `count`.
bool are_offsets(const Table<uint32_t>& offsets, uint32_t tokens, uint32_t count) {
  if (offsets.count != tokens + 1 || offsets[0] != 0 || offsets[tokens] != count) return false;
  for (uint32_t i = 0; i < tokens; ++i) {
    if (offsets[i] > offsets[i + 1]) return false;
  }
  return true;
}

void open_tokens(const file::Tokenizer& root, uint32_t vocab, Opener* opener, Tokenizer* t) {
  t->tokens = root.tokens();
  if (!opener->expect(t->tokens > 0 && t->tokens <= vocab, "tokens", "more than the model has, or none"))
    return;
  if (!opener->table(root.token_offsets(), "token_offsets", &t->token_offsets) ||
      !opener->table(root.token_text(), "token_text", &t->token_text) ||
      !opener->table(root.token_flags(), "token_flags", &t->token_flags)) {
    return;
  }
  opener->expect(t->token_flags.count == t->tokens, "token_flags", "not one for each token");
  if (!opener->expect(are_offsets(t->token_offsets, t->tokens, t->token_text.count), "token_offsets",
                      "not ascending")) {
    return;
  }
  for (uint32_t i = 0; i < t->tokens; ++i) {
    const Table<uint8_t> text = t->text_of(i);
    if (text.count > t->longest_token) t->longest_token = text.count;
    const bool byte = (t->token_flags[i] & kTokenByte) != 0;
    if (byte && text.count != 1) opener->refuse("token_flags", "a byte token is not one byte");
  }
}

void open_symbols(const file::Tokenizer& root, Opener* opener, Tokenizer* t) {
  t->byte_ids = vector_table(root.byte_ids());
  t->unknown_id = root.unknown_id();
  t->fuse_unknown = root.fuse_unknown();
  if (!opener->table(root.characters(), "characters", &t->characters)) return;
  opener->expect(t->byte_ids.count == 256 || (t->byte_ids.count == 0 && t->characters.count != 0), "byte_ids",
                 "not 256");
  for (uint32_t i = 0; i < t->byte_ids.count; ++i) {
    opener->expect(t->byte_ids[i] == -1 || t->has_token(t->byte_ids[i]), "byte_ids", "no such token");
  }
  opener->expect(t->unknown_id == -1 || t->has_token(t->unknown_id), "unknown_id", "no such token");
  for (uint32_t i = 0; i < t->characters.count; ++i) {
    const bool ascends = i == 0 || t->characters[i - 1].code_point < t->characters[i].code_point;
    if (!opener->expect(ascends && t->characters[i].id < t->tokens, "characters", "not ascending")) return;
  }
}

void open_merges(const file::Tokenizer& root, Opener* opener, Tokenizer* t) {
  if (!opener->table(root.merge_offsets(), "merge_offsets", &t->merge_offsets) ||
      !opener->table(root.merges(), "merges", &t->merges)) {
    return;
  }
  if (!opener->expect(are_offsets(t->merge_offsets, t->tokens, t->merges.count), "merge_offsets",
                      "not ascending")) {
    return;
  }
  for (uint32_t left = 0; left < t->tokens; ++left) {
    for (uint32_t i = t->merge_offsets[left]; i < t->merge_offsets[left + 1]; ++i) {
      const Merge& merge = t->merges[i];
      const bool ascends = i == t->merge_offsets[left] || t->merges[i - 1].right < merge.right;
      if (!opener->expect(ascends && merge.right < t->tokens && merge.merged < t->tokens, "merges",
                          "not ascending or no such token")) {
        return;
      }
    }
  }
}

/// Less, equal or greater than 0, by bytes.
int compare(Table<uint8_t> a, Table<uint8_t> b) {
  for (uint32_t i = 0; i < a.count && i < b.count; ++i) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return a.count < b.count ? -1 : a.count > b.count ? 1 : 0;
}

void open_whole_words(const file::Tokenizer& root, Opener* opener, Tokenizer* t) {
  if (!opener->table(root.whole_words(), "whole_words", &t->whole_words)) return;
  for (uint32_t i = 0; i < t->whole_words.count; ++i) {
    if (!opener->expect(t->whole_words[i] < t->tokens, "whole_words", "no such token")) return;
    const bool ascends =
        i == 0 || compare(t->text_of(t->whole_words[i - 1]), t->text_of(t->whole_words[i])) < 0;
    if (!opener->expect(ascends, "whole_words", "not ascending")) return;
  }
}

void open_classes(const file::Tokenizer& root, Opener* opener, Tokenizer* t) {
  t->classes = root.classes();
  if (!opener->table(root.class_flags(), "class_flags", &t->class_flags) ||
      !opener->table(root.class_blocks(), "class_blocks", &t->class_blocks) ||
      !opener->table(root.class_table(), "class_table", &t->class_table)) {
    return;
  }
  opener->expect(t->classes > 0 && t->classes <= kMaxClasses && t->class_flags.count == t->classes, "classes",
                 "impossible number");
  opener->expect(t->class_blocks.count == kClassBlocks, "class_blocks", "not one for each 256 code points");
  const uint32_t blocks = t->class_table.count / kClassBlockSize;
  for (uint32_t i = 0; i < t->class_blocks.count; ++i) {
    if (!opener->expect(t->class_blocks[i] < blocks, "class_blocks", "no such block")) return;
  }
  for (uint32_t i = 0; i < t->class_table.count; ++i) {
    if (!opener->expect(t->class_table[i] < t->classes, "class_table", "no such class")) return;
  }
}

void open_splitters(const file::Tokenizer& root, Opener* opener, Tokenizer* t) {
  if (root.splitters() == nullptr || opener->status() != MOTE_OK) return;
  t->splitter_count = root.splitters()->size();
  if (!opener->expect(t->splitter_count <= kMaxSplitters, "splitters", "too many")) return;
  for (uint32_t i = 0; i < t->splitter_count; ++i) {
    const file::Splitter* splitter = root.splitters()->Get(i);
    const uint32_t states = splitter->states();
    Table<uint16_t> transitions;
    if (!opener->table(splitter->transitions(), "transitions", &transitions)) return;
    if (!opener->expect(states > kDfaStart && states <= kMaxStates &&
                            transitions.count == uint64_t{states} * (t->classes + 1),
                        "transitions", "not one for each state and class")) {
      return;
    }
    for (uint32_t k = 0; k < transitions.count; ++k) {
      if (!opener->expect((transitions[k] & kDfaState) < states, "transitions", "no such state")) return;
    }
    t->splitters[i] = {transitions.data, splitter->keep_matches(), splitter->keep_rest()};
  }
}

/// A node's children lie behind it, so every walk from the root ends.
void open_trie(const file::Blob* blob, const char* name, Opener* opener, const Tokenizer& t,
               Table<TrieNode>* trie) {
  if (!opener->table(blob, name, trie)) return;
  for (uint32_t i = 0; i < trie->count; ++i) {
    const TrieNode& node = (*trie)[i];
    const bool inside = node.children == 0 || (node.first_child > i && node.first_child < trie->count &&
                                               node.children <= trie->count - node.first_child);
    if (!opener->expect(inside, name, "children outside")) return;
    for (uint32_t c = 1; c < node.children; ++c) {
      const bool ascends = (*trie)[node.first_child + c - 1].byte < (*trie)[node.first_child + c].byte;
      if (!opener->expect(ascends, name, "children not ascending")) return;
    }
    const bool known =
        node.added == -1 || (i != 0 && node.added >= 0 && static_cast<uint32_t>(node.added) < t.added.count);
    if (!opener->expect(known, name, "no such added token")) return;
  }
}

void open_added(const file::Tokenizer& root, Opener* opener, Tokenizer* t) {
  if (!opener->table(root.added(), "added", &t->added)) return;
  for (uint32_t i = 0; i < t->added.count; ++i) {
    if (!opener->expect(t->has_token(t->added[i].id), "added", "no such token")) return;
  }
  open_trie(root.raw_trie(), "raw_trie", opener, *t, &t->raw_trie);
  open_trie(root.normal_trie(), "normal_trie", opener, *t, &t->normal_trie);
  t->longest_normal = root.longest_normal();
}

void open_normalization(const file::Tokenizer& root, Opener* opener, Tokenizer* t) {
  t->segment_prefix = string_table(root.segment_prefix());
  t->piece_prefix = string_table(root.piece_prefix());
  t->piece_prefix_rule = root.piece_prefix_rule();
  opener->expect(t->segment_prefix.count <= kMaxPrefixBytes && t->piece_prefix.count <= kMaxPrefixBytes,
                 "prefix", "too long");
  opener->expect(t->piece_prefix_rule <= file::PrefixRule::MAX, "piece_prefix_rule", "unknown");
  t->replacement_count = root.replacements() == nullptr ? 0 : root.replacements()->size();
  if (!opener->expect(t->replacement_count <= kMaxReplacements, "replacements", "too many")) return;
  for (uint32_t i = 0; i < t->replacement_count; ++i) {
    const file::Replacement* replacement = root.replacements()->Get(i);
    ReplacementView& view = t->replacements[i];
    view = {string_table(replacement->from()), string_table(replacement->to())};
    opener->expect(view.from.count != 0 && view.from.count <= kMaxReplacementBytes &&
                       view.to.count <= kMaxReplacementBytes,
                   "replacements", "empty or too long");
  }
}

void open_template(const file::Tokenizer& root, Opener* opener, Tokenizer* t) {
  t->before_ids = vector_table(root.before_ids());
  t->after_ids = vector_table(root.after_ids());
  for (const Table<int32_t>& ids : {t->before_ids, t->after_ids}) {
    for (uint32_t i = 0; i < ids.count; ++i) {
      opener->expect(t->has_token(ids[i]), "before_ids or after_ids", "no such token");
    }
  }
  t->trim_offsets = root.trim_offsets();
  t->trim_keeps_prefix = root.trim_keeps_prefix();
  t->strip_spaces = root.strip_spaces();
  t->strip_first_token = root.strip_first_token();
  opener->expect(t->strip_spaces <= UINT8_MAX, "strip_spaces", "too many");
}

}  // namespace

mote_status open_tokenizer(const file::Tokenizer& root, Segment segment, uint32_t vocab, bool hashes,
                           Tokenizer* tokenizer, mote_error* error) {
  if (root.model() > file::TokenModel::MAX) {
    return fail(error, MOTE_UNSUPPORTED_FILE, "tokenizer of an unknown kind");
  }
  *tokenizer = {};
  Opener opener(segment, hashes, error);
  open_tokens(root, vocab, &opener, tokenizer);
  if (opener.status() == MOTE_OK) open_symbols(root, &opener, tokenizer);
  if (opener.status() == MOTE_OK) open_merges(root, &opener, tokenizer);
  if (opener.status() == MOTE_OK) open_whole_words(root, &opener, tokenizer);
  if (opener.status() == MOTE_OK) open_classes(root, &opener, tokenizer);
  if (opener.status() == MOTE_OK) open_splitters(root, &opener, tokenizer);
  if (opener.status() == MOTE_OK) open_added(root, &opener, tokenizer);
  if (opener.status() == MOTE_OK) open_normalization(root, &opener, tokenizer);
  if (opener.status() == MOTE_OK) open_template(root, &opener, tokenizer);
  return opener.status();
}

}  // namespace mote
