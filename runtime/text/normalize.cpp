// SPDX-License-Identifier: Apache-2.0
//
// Offsets follow Hugging Face's alignments. A step writes its characters one by one, each with a change: 0
// takes the place of the next character that came in, -n does and drops the n after it, 1 is new and belongs
// to the character before it. So where marks change places or are put together, what counts is the order in
// which characters come out, not which of them they were.
//
// Canonical order sorts each run of marks by combining class, stably: short runs by insertion, long ones by
// counting, so that a text of marks alone takes linear time. Composition (Unicode 3.11, D117) then walks
// along: a mark joins the last starter unless a mark between them has the same or a higher class.
#include "runtime/text/normalize.h"

#include "runtime/text/trie.h"
#include "runtime/text/utf8.h"

namespace mote {
namespace {

// Hangul syllables are computed (Unicode 3.12).
constexpr uint32_t kSyllables = 0xAC00, kLeads = 0x1100, kVowels = 0x1161, kTrails = 0x11A7;
constexpr uint32_t kLeadCount = 19, kVowelCount = 21, kTrailCount = 28;
constexpr uint32_t kSyllableCount = kLeadCount * kVowelCount * kTrailCount;

constexpr uint32_t kShortRun = 16;

// While marks are sorted, a character's combining class stands above its code point.
constexpr uint32_t kClassShift = 21;
constexpr uint32_t kCodePointMask = (1u << kClassShift) - 1;

// SentencePiece's maps see grapheme clusters of fewer bytes as one.
constexpr uint32_t kLongCluster = 6;

class NormalizerStep {
 public:
  NormalizerStep(const Tokenizer& tokenizer, const NormalizerView& step, NormalText* text)
      : t_(tokenizer), n_(step), x_(text) {}

  /// False if the room does not do. `late`, where it is not null: by how many characters the origins are.
  bool run(NormalPart part, uint32_t* late) {
    switch (n_.kind) {
      case file::NormalizerKind::map:
        map();
        break;
      case file::NormalizerKind::decompose:
      case file::NormalizerKind::compose:
        put_in_canonical_form();
        break;
      case file::NormalizerKind::clusters: {
        const uint32_t dropped = map_clusters();
        const uint32_t taken = align(late == nullptr ? dropped : 0);
        if (late != nullptr) *late = x_->count - taken;
        break;
      }
      case file::NormalizerKind::replace:
        replace();
        break;
      case file::NormalizerKind::strip:
        strip(part);
        break;
      case file::NormalizerKind::longest:
        map_longest(part);
        break;
    }
    if (full_) return false;
    swap(&x_->code_point, &x_->made_code_point);
    swap(&x_->origin, &x_->made_origin);
    x_->count = made_;
    return true;
  }

 private:
  static void swap(uint32_t** a, uint32_t** b) {
    uint32_t* const kept = *a;
    *a = *b;
    *b = kept;
  }

  /// Where characters come from that changed as they say; the first `dropped` that came in are left out.
  /// Returns how many of those that came in were passed.
  uint32_t align(uint32_t dropped) {
    uint32_t next = dropped;
    for (uint32_t i = 0; i < made_; ++i) {
      const int32_t change = x_->change[i];
      const uint32_t from = change > 0 && next != 0 ? next - 1 : next;
      x_->made_origin[i] = x_->origin[from < x_->count ? from : x_->count - 1];
      if (change <= 0) next += 1 + static_cast<uint32_t>(-change);
    }
    return next < x_->count ? next : x_->count;
  }

  void put(uint32_t code_point) {
    if (made_ == x_->room) {
      full_ = true;
      return;
    }
    x_->made_code_point[made_++] = code_point;
  }
  void put_from(uint32_t code_point, uint32_t origin) {
    put(code_point);
    if (!full_) x_->made_origin[made_ - 1] = origin;
  }
  void put_change(uint32_t code_point, int32_t change) {
    put(code_point);
    if (!full_) x_->change[made_ - 1] = change;
  }

  void map() {
    for (uint32_t i = 0; i < x_->count && !full_; ++i) {
      const uint32_t c = x_->code_point[i];
      const Table<uint32_t> text = n_.text_for(c);
      for (uint32_t k = 0; k < text.count && !full_; ++k) {
        put_from(text[k] == kSameCharacter ? c : text[k], x_->origin[i]);
      }
    }
  }

  // ---- Canonical forms ----

  void put_in_canonical_form() {
    decompose();
    if (full_) return;
    sort_marks();
    if (n_.kind == file::NormalizerKind::compose) compose();
    for (uint32_t i = 0; i < made_; ++i) x_->made_code_point[i] &= kCodePointMask;
    align(0);
  }

  uint32_t combining_class(uint32_t c) const {
    if (t_.combining.count == 0 || c < t_.combining[0].first) return 0;
    uint32_t low = 0;
    for (uint32_t high = t_.combining.count; high - low > 1;) {
      const uint32_t middle = low + (high - low) / 2;
      if (t_.combining[middle].first <= c) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return c <= t_.combining[low].last ? t_.combining[low].combining_class : 0;
  }

  void put_classed(uint32_t c, bool first) {
    put_change(c | combining_class(c) << kClassShift, first ? 0 : 1);
  }

  void decompose() {
    for (uint32_t i = 0; i < x_->count && !full_; ++i) {
      const uint32_t c = x_->code_point[i];
      const uint32_t syllable = c - kSyllables;
      if (syllable < kSyllableCount) {
        put_change(kLeads + syllable / (kVowelCount * kTrailCount), 0);
        put_change(kVowels + syllable / kTrailCount % kVowelCount, 1);
        if (syllable % kTrailCount != 0) put_change(kTrails + syllable % kTrailCount, 1);
        continue;
      }
      const Table<uint32_t> text = n_.text_for(c);
      for (uint32_t k = 0; k < text.count && !full_; ++k) {
        put_classed(text[k] == kSameCharacter ? c : text[k], k == 0);
      }
    }
  }

  void sort_marks() {
    for (uint32_t begin = 0; begin < made_;) {
      if (x_->made_code_point[begin] >> kClassShift == 0) {
        ++begin;
        continue;
      }
      uint32_t end = begin + 1;
      bool sorted = true;
      while (end < made_ && x_->made_code_point[end] >> kClassShift != 0) {
        sorted =
            sorted && x_->made_code_point[end - 1] >> kClassShift <= x_->made_code_point[end] >> kClassShift;
        ++end;
      }
      if (!sorted && end - begin <= kShortRun) sort_by_insertion(begin, end);
      if (!sorted && end - begin > kShortRun) sort_by_counting(begin, end);
      begin = end;
    }
  }

  void sort_by_insertion(uint32_t begin, uint32_t end) {
    for (uint32_t i = begin + 1; i < end; ++i) {
      const uint32_t c = x_->made_code_point[i];
      const int32_t change = x_->change[i];
      uint32_t at = i;
      for (; at > begin && x_->made_code_point[at - 1] >> kClassShift > c >> kClassShift; --at) {
        x_->made_code_point[at] = x_->made_code_point[at - 1];
        x_->change[at] = x_->change[at - 1];
      }
      x_->made_code_point[at] = c;
      x_->change[at] = change;
    }
  }

  /// Through the arrays that hold nothing now: what came in is decomposed, what goes out has no origins yet.
  void sort_by_counting(uint32_t begin, uint32_t end) {
    uint32_t place[256] = {};
    for (uint32_t i = begin; i < end; ++i) ++place[x_->made_code_point[i] >> kClassShift & 0xFF];
    uint32_t next = begin;
    for (uint32_t& p : place) {
      const uint32_t count = p;
      p = next;
      next += count;
    }
    uint32_t* sorted = x_->made_origin;
    uint32_t* changes = x_->code_point;
    for (uint32_t i = begin; i < end; ++i) {
      const uint32_t to = place[x_->made_code_point[i] >> kClassShift & 0xFF]++;
      sorted[to] = x_->made_code_point[i];
      changes[to] = static_cast<uint32_t>(x_->change[i]);
    }
    for (uint32_t i = begin; i < end; ++i) {
      x_->made_code_point[i] = sorted[i];
      x_->change[i] = static_cast<int32_t>(changes[i]);
    }
  }

  /// The character that two become, 0 if they do not.
  uint32_t composed(uint32_t first, uint32_t second) const {
    const uint32_t lead = first - kLeads, vowel = second - kVowels;
    if (lead < kLeadCount && vowel < kVowelCount) {
      return kSyllables + (lead * kVowelCount + vowel) * kTrailCount;
    }
    const uint32_t syllable = first - kSyllables, trail = second - kTrails;
    if (syllable < kSyllableCount && syllable % kTrailCount == 0 && trail - 1 < kTrailCount - 1) {
      return first + trail;
    }
    uint32_t low = 0;
    for (uint32_t high = t_.compositions.count; low < high;) {
      const uint32_t middle = low + (high - low) / 2;
      const Composition& c = t_.compositions[middle];
      if (c.first < first || (c.first == first && c.second < second)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const bool found = low < t_.compositions.count && t_.compositions[low].first == first &&
                       t_.compositions[low].second == second;
    return found ? t_.compositions[low].composed : 0;
  }

  void compose() {
    uint32_t kept = 0;
    uint32_t starter = made_;     // the last one's index, none yet
    uint32_t blocking_class = 0;  // of the mark behind it, 0 for none
    for (uint32_t i = 0; i < made_; ++i) {
      const uint32_t c = x_->made_code_point[i] & kCodePointMask;
      const uint32_t c_class = x_->made_code_point[i] >> kClassShift;
      if (starter < kept && (blocking_class == 0 || blocking_class < c_class)) {
        const uint32_t whole = composed(x_->made_code_point[starter], c);
        if (whole != 0) {
          x_->made_code_point[starter] = whole;
          x_->change[starter] += x_->change[i] - 1;
          continue;
        }
      }
      blocking_class = c_class;
      if (c_class == 0) starter = kept;
      x_->made_code_point[kept] = c;
      x_->change[kept++] = x_->change[i];
    }
    made_ = kept;
  }

  // ---- Precompiled maps ----

  /// Where the longest match of the step's matcher ends, `begin` if there is none.
  uint32_t match(uint32_t begin) const {
    uint32_t state = kDfaStart, matched = begin;
    for (uint32_t at = begin; state != kDfaDead; ++at) {
      const uint32_t column = at < x_->count ? t_.class_of(x_->code_point[at]) : t_.classes;
      const uint16_t transition = n_.matcher.transitions[size_t{state} * (t_.classes + 1) + column];
      if ((transition & kDfaMatch) != 0) matched = at;
      if (at == x_->count) break;
      state = transition & kDfaState;
    }
    return matched;
  }

  /// The text for the characters [begin, end) of fewer than kLongCluster bytes: that of the shortest key they
  /// start with, as Hugging Face takes it. -1 if there is none.
  int32_t find_text(uint32_t begin, uint32_t end) const {
    if (n_.trie.count == 0) return -1;
    const TrieNode* node = &n_.trie[0];
    for (uint32_t i = begin; i < end; ++i) {
      uint8_t bytes[4];
      const uint32_t count = utf8_encode(x_->code_point[i], bytes);
      for (uint32_t k = 0; k < count; ++k) {
        node = trie_child(n_.trie, *node, bytes[k]);
        if (node == nullptr || node->added >= 0) return node == nullptr ? -1 : node->added;
      }
    }
    return -1;
  }

  /// Returns how many characters were dropped before the first that was not.
  uint32_t map_clusters() {
    uint32_t dropped = 0;
    for (uint32_t begin = 0; begin < x_->count && !full_;) {
      uint32_t end = match(begin);
      if (end == begin) ++end;
      uint32_t bytes = 0;
      for (uint32_t i = begin; i < end && bytes < kLongCluster; ++i) bytes += utf8_size(x_->code_point[i]);
      const int32_t whole = bytes < kLongCluster ? find_text(begin, end) : -1;
      if (whole >= 0) {
        dropped += put_text(static_cast<uint32_t>(whole), end - begin);
      } else {
        for (uint32_t i = begin; i < end && !full_; ++i) {
          const int32_t text = find_text(i, i + 1);
          if (text >= 0) {
            dropped += put_text(static_cast<uint32_t>(text), 1);
          } else {
            put_change(x_->code_point[i], 0);
          }
        }
      }
      begin = end;
    }
    return dropped;
  }

  /// In place of `old_count` characters. Returns how many were dropped with nothing before them.
  uint32_t put_text(uint32_t index, uint32_t old_count) {
    const Table<uint32_t> text = n_.text_at(index);
    for (uint32_t k = 0; k < text.count && !full_; ++k) put_change(text[k], k < old_count ? 0 : 1);
    if (full_ || text.count >= old_count) return 0;
    if (made_ == 0) return old_count;
    x_->change[made_ - 1] -= static_cast<int32_t>(old_count - text.count);
    return 0;
  }

  // ---- SentencePiece's own way ----

  /// The text of the longest key at `begin`, and where that ends. -1 if there is none.
  int32_t find_longest(uint32_t begin, uint32_t* end) const {
    int32_t found = -1;
    const TrieNode* node = n_.trie.count == 0 ? nullptr : &n_.trie[0];
    for (uint32_t i = begin; i < x_->count && node != nullptr; ++i) {
      uint8_t bytes[4];
      const uint32_t count = utf8_encode(x_->code_point[i], bytes);
      for (uint32_t k = 0; k < count && node != nullptr; ++k) node = trie_child(n_.trie, *node, bytes[k]);
      if (node == nullptr || node->added < 0) continue;
      found = node->added;
      *end = i + 1;
    }
    return found;
  }

  /// Keys become texts, other characters stay. A text that follows a space loses its own first ones.
  void map_longest(NormalPart part) {
    bool after_space = n_.left && part.first;
    for (uint32_t begin = 0, end = 0; begin < x_->count && !full_; begin = end) {
      end = begin + 1;
      const int32_t found = find_longest(begin, &end);
      const Table<uint32_t> text =
          found < 0 ? Table<uint32_t>{&x_->code_point[begin], 1} : n_.text_at(static_cast<uint32_t>(found));
      uint32_t k = 0;
      while (after_space && k < text.count && text[k] == ' ') ++k;
      if (k == text.count) continue;
      after_space = n_.left && text[text.count - 1] == ' ';
      for (; k < text.count && !full_; ++k) put_from(text[k], x_->origin[begin]);
    }
    while (n_.left && part.last && made_ != 0 && x_->made_code_point[made_ - 1] == ' ') --made_;
  }

  // ---- Matches and ends ----

  /// A replacement belongs to the last character that it replaces.
  void replace() {
    const Table<uint32_t> text = n_.text_at(0);
    for (uint32_t at = 0; at < x_->count && !full_;) {
      const uint32_t end = match(at);
      if (end == at) {
        put_from(x_->code_point[at], x_->origin[at]);
        ++at;
        continue;
      }
      for (uint32_t k = 0; k < text.count && !full_; ++k) put_from(text[k], x_->origin[end - 1]);
      at = end;
    }
  }

  void strip(NormalPart part) {
    uint32_t begin = 0, end = x_->count;
    const auto is_space = [&](uint32_t at) {
      return (t_.class_flags[t_.class_of(x_->code_point[at])] & kClassSpace) != 0;
    };
    while (n_.left && part.first && begin < end && is_space(begin)) ++begin;
    while (n_.right && part.last && begin < end && is_space(end - 1)) --end;
    for (uint32_t i = begin; i < end; ++i) put_from(x_->code_point[i], x_->origin[i]);
  }

  const Tokenizer& t_;
  const NormalizerView& n_;
  NormalText* x_;
  uint32_t made_ = 0;
  bool full_ = false;
};

}  // namespace

bool normalize(const Tokenizer& tokenizer, NormalPart part, NormalText* text, uint32_t* late) {
  *late = 0;
  for (uint32_t i = 0; i < tokenizer.normalizer_count; ++i) {
    if (!NormalizerStep(tokenizer, tokenizer.normalizers[i], text).run(part, i == 0 ? late : nullptr))
      return false;
  }
  return true;
}

}  // namespace mote
