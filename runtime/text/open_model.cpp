// SPDX-License-Identifier: Apache-2.0
#include "kernels/trimmed_build.h"
#include "runtime/text/opener.h"
#include "runtime/text/trie.h"

namespace mote {
namespace {

void open_symbols(const file::Tokenizer& root, Opener* opener, Tokenizer* t) {
  t->byte_ids = vector_table(root.byte_ids());
  t->unknown_id = root.unknown_id();
  t->fuse_unknown = root.fuse_unknown();
  t->continuing_prefix = string_table(root.continuing_prefix());
  opener->expect(t->continuing_prefix.count <= kMaxPrefixBytes, "continuing_prefix", "too long");
  if (!opener->table(root.characters(), "characters", &t->characters)) return;
  t->last_byte_ids = vector_table(root.last_byte_ids());
  const bool by_bytes = t->model == file::TokenModel::bpe && t->characters.count == 0;
  opener->expect(t->byte_ids.count == 256 || (t->byte_ids.count == 0 && !by_bytes), "byte_ids", "not 256");
  opener->expect(t->last_byte_ids.count == 256 || t->last_byte_ids.count == 0, "last_byte_ids", "not 256");
  // Unigram has all byte tokens or none.
  const int32_t least = t->model == file::TokenModel::unigram ? 0 : -1;
  for (const Table<int32_t>& ids : {t->byte_ids, t->last_byte_ids}) {
    for (uint32_t i = 0; i < ids.count; ++i) {
      opener->expect(ids[i] >= least && (ids[i] == -1 || t->has_token(ids[i])), "byte_ids", "no such token");
    }
  }
  const bool needs_unknown = t->model != file::TokenModel::bpe;
  opener->expect(t->has_token(t->unknown_id) || (t->unknown_id == -1 && !needs_unknown), "unknown_id",
                 "no such token");
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

void open_sentence_piece(const file::Tokenizer& root, Opener* opener, Tokenizer* t) {
  t->start_score = 0;
  const file::SentencePiece* own = root.sentence_piece();
  if (own == nullptr) return;
  const bool fits = MOTE_TEXT_UNIGRAM && t->model == file::TokenModel::unigram;
  if (!opener->expect(fits, "sentence_piece", "of another model than unigram")) return;
  t->float_sums = true;
  t->start_score = double{own->start()};
  const bool starts = own->start() == 0.0f || root.piece_prefix_rule() == file::PrefixRule::first_segment;
  if (!opener->expect(starts, "start", "of another piece_prefix_rule than first_segment")) return;
  if (!opener->table(own->foreign_scores(), "foreign_scores", &t->foreign_scores)) return;
  opener->expect(t->foreign_scores.count <= INT32_MAX - t->tokens, "foreign_scores", "too many");
  open_trie(own->unknown_pieces(), "unknown_pieces", t->tokens, opener, &t->unknown_pieces);
}

void open_pieces(const file::Tokenizer& root, Opener* opener, Tokenizer* t) {
  open_sentence_piece(root, opener, t);
  if (opener->status() != MOTE_OK) return;
  open_trie(root.pieces(), "pieces", t->tokens + t->foreign_scores.count, opener, &t->pieces);
  t->word_characters = root.word_characters();
  if (!opener->expect(t->pieces.count != 0, "pieces", "none")) return;
  const TrieNode* node = &t->pieces[0];
  for (uint32_t i = 0; i < t->continuing_prefix.count && node != nullptr; ++i) {
    node = trie_child(t->pieces, *node, t->continuing_prefix[i]);
  }
  t->continuing_node = node == nullptr ? kNoNode : static_cast<uint32_t>(node - t->pieces.data);
}

void open_scores(const file::Tokenizer& root, Opener* opener, Tokenizer* t) {
  if (!opener->table(root.scores(), "scores", &t->scores)) return;
  t->unknown_score = root.unknown_score();
  opener->expect(t->scores.count == t->tokens, "scores", "not one for each token");
}

}  // namespace

void open_model(const file::Tokenizer& root, Opener* opener, Tokenizer* t) {
  open_symbols(root, opener, t);
  if (opener->status() != MOTE_OK) return;
  if (MOTE_TEXT_BPE && t->model == file::TokenModel::bpe) {
    open_merges(root, opener, t);
    if (opener->status() == MOTE_OK) open_whole_words(root, opener, t);
  } else if (MOTE_TEXT_WORDPIECE || MOTE_TEXT_UNIGRAM) {
    open_pieces(root, opener, t);
    if (MOTE_TEXT_UNIGRAM && t->model == file::TokenModel::unigram) open_scores(root, opener, t);
  }
}

}  // namespace mote
