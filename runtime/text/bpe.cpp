// SPDX-License-Identifier: Apache-2.0
//
// The merge loop of Sennrich et al. 2016: of all neighbouring symbols that have a merge, those of the lowest
// rank are merged, the leftmost first, until none is left. A binary heap holds the start of every symbol that
// can be merged with the next, ordered by (rank, start); each symbol is in it at most once and knows where,
// so a word of n symbols takes n heap slots and n log n steps. A symbol's length stands at its first and last
// slot, so that its neighbours are found in both directions.
#include "runtime/text/bpe.h"

#include <string.h>

#include "runtime/text/utf8.h"

namespace mote {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

class Merger {
 public:
  Merger(const Tokenizer& tokenizer, const TextScratch& scratch, uint32_t begin, uint32_t end)
      : t_(tokenizer), s_(scratch), begin_(begin), end_(end) {}

  void run() {
    for (uint32_t at = begin_; at < end_; at += s_.length[at]) s_.where[at] = kNone;
    for (uint32_t at = begin_; at < end_; at += s_.length[at]) update(at);
    while (heap_size_ != 0) {
      const uint32_t left = s_.heap[0];
      const uint32_t right = left + s_.length[left];
      const Merge* merge = find(s_.id[left], s_.id[right]);
      remove(left);
      if (s_.where[right] != kNone) remove(right);
      s_.id[left] = merge->merged;
      const uint32_t length = s_.length[left] + s_.length[right];
      s_.length[left] = s_.length[left + length - 1] = length;
      update(left);
      if (left > begin_) update(left - s_.length[left - 1]);
    }
  }

 private:
  const Merge* find(uint32_t left, uint32_t right) const {
    uint32_t low = t_.merge_offsets[left];
    const uint32_t end = t_.merge_offsets[left + 1];
    for (uint32_t high = end; low < high;) {
      const uint32_t middle = low + (high - low) / 2;
      if (t_.merges[middle].right < right) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const bool found = low < end && t_.merges[low].right == right && t_.may_be_word(t_.merges[low].merged);
    return found ? &t_.merges[low] : nullptr;
  }

  /// Brings the heap up to date on the symbol at `at` after it or the next has changed.
  void update(uint32_t at) {
    const uint32_t next = at + s_.length[at];
    const Merge* merge = next < end_ ? find(s_.id[at], s_.id[next]) : nullptr;
    if (s_.where[at] != kNone) remove(at);
    if (merge == nullptr) return;
    s_.rank[at] = merge->rank;
    sift_up(heap_size_++, at);
  }

  bool is_before(uint32_t a, uint32_t b) const {
    return s_.rank[a] != s_.rank[b] ? s_.rank[a] < s_.rank[b] : a < b;
  }

  void place(uint32_t index, uint32_t symbol) {
    s_.heap[index] = symbol;
    s_.where[symbol] = index;
  }

  void sift_up(uint32_t index, uint32_t symbol) {
    while (index != 0 && is_before(symbol, s_.heap[(index - 1) / 2])) {
      place(index, s_.heap[(index - 1) / 2]);
      index = (index - 1) / 2;
    }
    place(index, symbol);
  }

  void sift_down(uint32_t index, uint32_t symbol) {
    for (uint32_t child = 2 * index + 1; child < heap_size_; child = 2 * index + 1) {
      if (child + 1 < heap_size_ && is_before(s_.heap[child + 1], s_.heap[child])) ++child;
      if (!is_before(s_.heap[child], symbol)) break;
      place(index, s_.heap[child]);
      index = child;
    }
    place(index, symbol);
  }

  void remove(uint32_t symbol) {
    const uint32_t index = s_.where[symbol];
    s_.where[symbol] = kNone;
    const uint32_t last = s_.heap[--heap_size_];
    if (last == symbol) return;
    if (index != 0 && is_before(last, s_.heap[(index - 1) / 2])) {
      sift_up(index, last);
    } else {
      sift_down(index, last);
    }
  }

  const Tokenizer& t_;
  const TextScratch& s_;
  uint32_t begin_, end_;
  uint32_t heap_size_ = 0;
};

/// Writes the symbols that merging starts from.
class Symbols {
 public:
  Symbols(const Tokenizer& tokenizer, const TextScratch& scratch, uint32_t begin)
      : t_(tokenizer), s_(scratch), first_(begin), at_(begin) {}

  void add_bytes(const Table<int32_t>& ids, const uint8_t* text, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      const int32_t id = ids[text[i]];
      if (id >= 0) {
        add(static_cast<uint32_t>(id), 1);
      } else {
        add_unknown(1);
      }
    }
  }

  void add_character(const uint8_t* text, Utf8Character character) {
    uint32_t low = 0;
    for (uint32_t high = t_.characters.count; low < high;) {
      const uint32_t middle = low + (high - low) / 2;
      if (t_.characters[middle].code_point < character.code_point) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low < t_.characters.count && t_.characters[low].code_point == character.code_point) {
      add(t_.characters[low].id, character.bytes);
    } else if (t_.byte_ids.count != 0) {
      add_bytes(t_.byte_ids, text, character.bytes);
    } else {
      add_unknown(character.bytes);
    }
  }

  uint32_t first() const { return first_; }

 private:
  void add(uint32_t id, uint32_t length) {
    s_.id[at_] = id;
    s_.length[at_] = s_.length[at_ + length - 1] = length;
    last_ = at_;
    at_ += length;
    last_unknown_ = false;
  }

  void add_unknown(uint32_t length) {
    const bool known = t_.unknown_id >= 0;
    if (known && !(t_.fuse_unknown && last_unknown_)) {
      add(static_cast<uint32_t>(t_.unknown_id), length);
      last_unknown_ = true;
    } else if (last_ !=
               kNone) {  // part of the unknown before it, or left out: the symbol before it takes its place
      s_.length[last_] += length;
      s_.length[last_ + s_.length[last_] - 1] = s_.length[last_];
      at_ += length;
    } else {
      at_ += length;
      first_ = at_;
    }
  }

  const Tokenizer& t_;
  const TextScratch& s_;
  uint32_t first_, at_;
  uint32_t last_ = kNone;  // the symbol before `at_`
  bool last_unknown_ = false;
};

/// The token whose text is the word, -1 if there is none.
int32_t find_whole_word(const Tokenizer& t, const uint8_t* text, uint32_t bytes) {
  uint32_t low = 0;
  for (uint32_t high = t.whole_words.count; low < high;) {
    const uint32_t middle = low + (high - low) / 2;
    const Table<uint8_t> word = t.text_of(t.whole_words[middle]);
    const uint32_t common = word.count < bytes ? word.count : bytes;
    const int order = common == 0 ? 0 : memcmp(word.data, text, common);
    if (order == 0 && word.count == bytes) return static_cast<int32_t>(t.whole_words[middle]);
    if (order < 0 || (order == 0 && word.count < bytes)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return -1;
}

}  // namespace

uint32_t encode_bpe(const Tokenizer& tokenizer, const TextScratch& scratch, uint32_t begin, uint32_t end) {
  const uint8_t* text = scratch.text;
  if (tokenizer.whole_words.count != 0) {
    const int32_t id = find_whole_word(tokenizer, text + begin, end - begin);
    if (id >= 0 && tokenizer.may_be_word(static_cast<uint32_t>(id))) {
      scratch.id[begin] = static_cast<uint32_t>(id);
      scratch.length[begin] = end - begin;
      return begin;
    }
  }
  Symbols symbols(tokenizer, scratch, begin);
  if (tokenizer.characters.count == 0) {
    const bool own_ends = tokenizer.last_byte_ids.count != 0;
    symbols.add_bytes(tokenizer.byte_ids, text + begin, end - begin - (own_ends ? 1 : 0));
    if (own_ends) symbols.add_bytes(tokenizer.last_byte_ids, text + end - 1, 1);
  } else {
    for (uint32_t at = begin; at < end;) {
      const Utf8Character character = utf8_decode(text + at, text + end);
      symbols.add_character(text + at, character);
      at += character.bytes;
    }
  }
  Merger(tokenizer, scratch, symbols.first(), end).run();
  return symbols.first();
}

}  // namespace mote
