// SPDX-License-Identifier: Apache-2.0
#include "kernels/trimmed_build.h"
#include "runtime/text/opener.h"

namespace mote {
namespace {

constexpr uint32_t kMaxDfaStates = 1u << 15;
constexpr uint32_t kMaxClasses = 256;
constexpr uint32_t kMaxTokens = 1u << 24;

void open_tokens(const file::Tokenizer& root, uint32_t vocab, bool more_tokens, Opener* opener,
                 Tokenizer* t) {
  t->tokens = root.tokens();
  t->vocab = vocab;
  const uint32_t most = more_tokens ? kMaxTokens : vocab;
  if (!opener->expect(t->tokens > 0 && t->tokens <= most, "tokens", "more than the model has, or none"))
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

void open_class_ranges(Opener* opener, const Tokenizer& t) {
  const Table<uint32_t>& ranges = t.class_ranges;
  opener->expect(ranges[0] >> kRangeClassBits == 0, "class_ranges", "do not begin with the first character");
  for (uint32_t i = 0; i < ranges.count; ++i) {
    const bool ascends = i == 0 || ranges[i - 1] >> kRangeClassBits < ranges[i] >> kRangeClassBits;
    const uint32_t character_class = ranges[i] & ((1u << kRangeClassBits) - 1);
    if (!opener->expect(ascends && character_class < t.classes, "class_ranges",
                        "not ascending or no such class"))
      return;
  }
}

void open_classes(const file::Tokenizer& root, Opener* opener, Tokenizer* t) {
  t->classes = root.classes();
  if (!opener->table(root.class_flags(), "class_flags", &t->class_flags) ||
      !opener->table(root.class_ranges(), "class_ranges", &t->class_ranges)) {
    return;
  }
  opener->expect(t->classes > 0 && t->classes <= kMaxClasses && t->class_flags.count == t->classes, "classes",
                 "impossible number");
  if (t->class_ranges.count != 0) return open_class_ranges(opener, *t);
  if (!opener->table(root.class_blocks(), "class_blocks", &t->class_blocks) ||
      !opener->table(root.class_table(), "class_table", &t->class_table)) {
    return;
  }
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
    open_splitter(*root.splitters()->Get(i), opener, *t, &t->splitters[i]);
  }
}

void open_added(const file::Tokenizer& root, Opener* opener, Tokenizer* t) {
  if (!opener->table(root.added(), "added", &t->added)) return;
  for (uint32_t i = 0; i < t->added.count; ++i) {
    if (!opener->expect(t->has_token(t->added[i].id), "added", "no such token")) return;
  }
  open_trie(root.raw_trie(), "raw_trie", t->added.count, opener, &t->raw_trie);
  open_trie(root.normal_trie(), "normal_trie", t->added.count, opener, &t->normal_trie);
  t->longest_normal = root.longest_normal();
}

/// The ids around texts, and types for these and the texts, of which there are `texts`.
void open_template(const flatbuffers::Vector<int32_t>* before, const flatbuffers::Vector<int32_t>* between,
                   const flatbuffers::Vector<int32_t>* after, const flatbuffers::Vector<uint8_t>* types,
                   uint32_t texts, Opener* opener, const Tokenizer& t, TemplateView* view) {
  *view = {vector_table(before), vector_table(between), vector_table(after), vector_table(types)};
  uint64_t parts = texts;
  for (const Table<int32_t>& ids : {view->before, view->between, view->after}) {
    parts += ids.count;
    for (uint32_t i = 0; i < ids.count; ++i) {
      opener->expect(t.has_token(ids[i]), "ids around the text", "no such token");
    }
  }
  opener->expect(view->types.count == 0 || view->types.count == parts, "types", "not one for each part");
}

void open_templates(const file::Tokenizer& root, Opener* opener, Tokenizer* t) {
  open_template(root.before_ids(), nullptr, root.after_ids(), root.types(), 1, opener, *t, &t->single);
  if (!MOTE_TEXT_PAIRS) return;
  open_template(root.pair_before_ids(), root.pair_between_ids(), root.pair_after_ids(), root.pair_types(), 2,
                opener, *t, &t->pair);
  open_template(nullptr, nullptr, nullptr, root.plain_pair_types(), 2, opener, *t, &t->plain_pair);
  t->no_pairs = root.no_pairs();
  t->cut_left = root.cut_left();
  t->trim_offsets = root.trim_offsets();
  t->trim_keeps_prefix = root.trim_keeps_prefix();
  t->strip_spaces = root.strip_spaces();
  t->strip_first_token = root.strip_first_token();
  opener->expect(t->strip_spaces <= UINT8_MAX, "strip_spaces", "too many");
}

}  // namespace

void open_splitter(const file::Splitter& splitter, Opener* opener, const Tokenizer& t, SplitterView* view) {
  const uint32_t states = splitter.states();
  Table<uint16_t> transitions;
  if (!opener->table(splitter.transitions(), "transitions", &transitions)) return;
  if (!opener->expect(states > kDfaStart && states <= kMaxDfaStates &&
                          transitions.count == uint64_t{states} * (t.classes + 1),
                      "transitions", "not one for each state and class")) {
    return;
  }
  for (uint32_t i = 0; i < transitions.count; ++i) {
    if (!opener->expect((transitions[i] & kDfaState) < states, "transitions", "no such state")) return;
  }
  *view = {transitions.data, splitter.keep_matches(), splitter.keep_rest()};
}

uint32_t Tokenizer::class_in_ranges(uint32_t code_point) const {
  uint32_t low = 0;  // the last range that begins at the code point or before is from low on
  for (uint32_t high = class_ranges.count; high - low > 1;) {
    const uint32_t middle = low + (high - low) / 2;
    (class_ranges[middle] >> kRangeClassBits <= code_point ? low : high) = middle;
  }
  return class_ranges[low] & ((1u << kRangeClassBits) - 1);
}

Table<uint8_t> Opener::bytes_of(const file::Blob* blob, const char* name, uint32_t element) {
  if (status_ != MOTE_OK || blob == nullptr || blob->bytes() == 0) return {nullptr, 0};
  if (blob->offset() % kAlignment != 0 || blob->bytes() % element != 0 || blob->bytes() > kMaxTableBytes ||
      blob->bytes() > segment_.bytes || blob->offset() > segment_.bytes - blob->bytes()) {
    refuse(name, "lies outside the file");
    return {nullptr, 0};
  }
  const uint8_t* data = segment_.data + blob->offset();
  if (hashes_ && xxh64(data, static_cast<size_t>(blob->bytes())) != blob->xxh64()) {
    refuse(name, "hash differs; copy or download the file again");
    return {nullptr, 0};
  }
  return {data, static_cast<uint32_t>(blob->bytes())};
}

/// A node's children lie behind it, so every walk from the root ends.
void open_trie(const file::Blob* blob, const char* name, uint32_t values, Opener* opener,
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
        node.added == -1 || (i != 0 && node.added >= 0 && static_cast<uint32_t>(node.added) < values);
    if (!opener->expect(known, name, "no such value")) return;
  }
}

/// Says whether the build has the parts that the tokenizer needs.
static bool built(const file::Tokenizer& root) {
  if (!MOTE_TEXT_NORMALIZERS && size_of(root.normalizers()) != 0) return false;
  if (!MOTE_TEXT_PAIRS && root.cut_left()) return false;
  return root.model() == file::TokenModel::bpe         ? MOTE_TEXT_BPE
         : root.model() == file::TokenModel::wordpiece ? MOTE_TEXT_WORDPIECE
                                                       : MOTE_TEXT_UNIGRAM;
}

mote_status open_tokenizer(const file::Tokenizer& root, Segment segment, uint32_t vocab, bool more_tokens,
                           bool hashes, Tokenizer* tokenizer, mote_error* error) {
  if (root.model() > file::TokenModel::MAX) {
    return fail(error, MOTE_UNSUPPORTED_FILE, "tokenizer of an unknown kind");
  }
  if (!built(root)) {
    return fail(error, MOTE_UNSUPPORTED_FILE, "tokenizer of a kind that the build, for another model, lacks");
  }
  *tokenizer = {};
  tokenizer->model = root.model();
  Opener opener(segment, hashes, error);
  open_tokens(root, vocab, more_tokens, &opener, tokenizer);
  if (opener.status() == MOTE_OK && kHasGrammar)
    opener.table(root.vocabulary(), "vocabulary", &tokenizer->vocabulary);
  if (opener.status() == MOTE_OK) open_model(root, &opener, tokenizer);
  if (opener.status() == MOTE_OK) open_classes(root, &opener, tokenizer);
  if (opener.status() == MOTE_OK) open_splitters(root, &opener, tokenizer);
  if (opener.status() == MOTE_OK) open_added(root, &opener, tokenizer);
  if (opener.status() == MOTE_OK) open_normalization(root, &opener, tokenizer);
  if (opener.status() == MOTE_OK) open_templates(root, &opener, tokenizer);
  return opener.status();
}

}  // namespace mote
