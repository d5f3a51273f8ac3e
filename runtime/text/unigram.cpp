// SPDX-License-Identifier: Apache-2.0
//
// The segmentation of the highest sum of scores (Kudo 2018), by Viterbi's algorithm from the left: for each
// place the best way to get there, in `score`, the start of its last piece, in `where`, and that piece, in
// `id`. Among equal sums the one whose last piece starts first is kept, and sums are of doubles: both as
// Hugging Face has it. SentencePiece, where a vocabulary of its own numbers the pieces, has sums of floats.
// Unknown characters side by side become one symbol.
#include "runtime/text/unigram.h"

#include "runtime/text/trie.h"
#include "runtime/text/utf8.h"

namespace mote {
namespace {

constexpr uint32_t kNoPiece = UINT32_MAX;

class Lattice {
 public:
  Lattice(const Tokenizer& tokenizer, const TextScratch& scratch, uint32_t begin, uint32_t end)
      : t_(tokenizer), s_(scratch), begin_(begin), end_(end) {}

  void fill() {
    for (uint32_t at = begin_ + 1; at <= end_; ++at) s_.where[at] = kNoPiece;
    s_.score[begin_] = t_.start_score;
    for (uint32_t at = begin_; at < end_;) {
      const uint32_t next = at + utf8_decode(s_.text + at, s_.text + end_).bytes;
      if (!offer_pieces(at, next)) offer(at, next, kUnknownCharacters, t_.unknown_score);
      at = next;
    }
  }

  /// Puts the symbols of the best way, found from the end, at their first slots.
  void trace() {
    uint32_t end = end_, right_end = end_;
    uint32_t id = s_.id[end], begin = s_.where[end];
    bool right_unknown = false;
    for (;;) {
      const uint32_t left_id = s_.id[begin], left_begin = s_.where[begin];
      const bool unknown = id == kUnknownCharacters || id == static_cast<uint32_t>(t_.unknown_id);
      const bool fuses = unknown && right_unknown && t_.fuse_unknown;
      if (!fuses) right_end = end;
      const bool foreign = id >= t_.tokens && id != kUnknownCharacters;
      s_.id[begin] = fuses ? kUnknownCharacters : foreign ? static_cast<uint32_t>(t_.unknown_id) : id;
      s_.length[begin] = right_end - begin;
      if (begin == begin_) return;
      right_unknown = unknown;
      end = begin;
      begin = left_begin;
      id = left_id;
    }
  }

 private:
  /// Says whether one of the pieces from `at` on ends at `next`, as its first character does.
  bool offer_pieces(uint32_t at, uint32_t next) {
    bool single = false;
    const TrieNode* node = &t_.pieces[0];
    for (uint32_t to = at; to < end_;) {
      node = trie_child(t_.pieces, *node, s_.text[to++]);
      if (node == nullptr) break;
      if (node->added < 0) continue;
      if (to != next && !t_.may_be_word(static_cast<uint32_t>(node->added))) continue;
      offer(at, to, static_cast<uint32_t>(node->added), score_of(static_cast<uint32_t>(node->added)));
      single = single || to == next;
    }
    return single;
  }

  double score_of(uint32_t id) const {
    return id < t_.tokens ? t_.scores[id] : t_.foreign_scores[id - t_.tokens];
  }

  void offer(uint32_t from, uint32_t to, uint32_t id, double score) {
    const double exact = s_.score[from] + score;
    const double sum = t_.float_sums ? double{static_cast<float>(exact)} : exact;
    if (s_.where[to] != kNoPiece && !(sum > s_.score[to])) return;
    s_.where[to] = from;
    s_.id[to] = id;
    s_.score[to] = sum;
  }

  const Tokenizer& t_;
  const TextScratch& s_;
  uint32_t begin_, end_;
};

}  // namespace

void encode_unigram(const Tokenizer& tokenizer, const TextScratch& scratch, uint32_t begin, uint32_t end) {
  Lattice lattice(tokenizer, scratch, begin, end);
  lattice.fill();
  lattice.trace();
}

}  // namespace mote
