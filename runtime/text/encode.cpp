// SPDX-License-Identifier: Apache-2.0
//
// The pipeline of Hugging Face's tokenizers in one pass: added tokens are cut out of the given text; what
// lies between them is normalized into a window; in there the added tokens that are sought in normalized text
// are cut out; what lies between those is cut into words; each word is encoded. A word that reaches the end
// of the window is read again when there is more of the text.
#include "runtime/text/encode.h"

#include "kernels/trimmed_build.h"
#include "runtime/error.h"
#include "runtime/text/added.h"
#include "runtime/text/bpe.h"
#include "runtime/text/trie.h"
#include "runtime/text/unigram.h"
#include "runtime/text/utf8.h"
#include "runtime/text/window.h"
#include "runtime/text/wordpiece.h"

namespace mote {
namespace {

/// Where a match ends that starts at `begin`: `begin` if none does. `unsure` if more text could change it.
struct Match {
  uint32_t end;
  bool unsure;
};

class Encoder {
 public:
  Encoder(const Tokenizer& tokenizer, const TextScratch& scratch, Given text, bool parse_special,
          TokenSink* sink)
      : t_(tokenizer),
        s_(scratch),
        text_(text.data),
        bytes_(text.bytes),
        parse_special_(parse_special),
        sink_(sink),
        first_(sink->count),
        window_(tokenizer, scratch, text.data) {}

  /// False if a word is too long, at `too_long()` in the given text.
  bool encode() {
    for (uint32_t at = 0; at < bytes_;) {
      const AddedSearch search{&t_.raw_trie, parse_special_, text_, 0, at, bytes_};
      const AddedMatch match = find_added(t_, search, at, bytes_);
      const uint32_t end = match.id >= 0 ? match.begin : bytes_;
      if (at < end && !encode_segment(at, end)) return false;
      if (match.id < 0) break;
      put_added(match.id, {match.begin, match.end});
      at = match.end;
    }
    return true;
  }

  uint32_t too_long() const { return window_.position(); }

 private:
  bool encode_segment(uint32_t begin, uint32_t end) {
    window_.start(begin, end);
    bool at_piece_start = true;
    bool stuck = false;  // nothing was consumed since the window was filled
    for (;;) {
      if (!window_.fill() && stuck) return false;
      const AddedMatch match = find_normal_added();
      const bool found = match.id >= 0;
      const bool ended = found || window_.complete();
      const uint32_t limit = found ? match.begin : ended ? window_.end() : certain_end();
      const uint32_t before = window_.begin();
      if (at_piece_start && window_.begin() < limit) {
        if (t_.prefix_depth == 0) window_.consume_to(window_.put_piece_prefix(window_.begin(), limit));
        at_piece_start = false;
      }
      window_.consume_to(split(0, window_.begin(), limit, ended));
      stuck = window_.begin() <= before && !found;
      if (!ended) continue;
      if (!found) return true;
      put_added(match.id, window_.origin(match.begin, match.end));
      window_.consume_to(match.end);
      at_piece_start = true;
      if (window_.begin() == window_.end() && window_.complete()) return true;
    }
  }

  /// An added token in the window, none while more text could change which.
  AddedMatch find_normal_added() const {
    const AddedSearch search{&t_.normal_trie, parse_special_,  window_.text(),
                             window_.begin(), window_.begin(), window_.end()};
    const AddedMatch none{0, 0, -1};
    if (t_.normal_trie.count == 0) return none;
    const AddedMatch match = find_added(t_, search, window_.begin(), window_.end());
    const bool whole = window_.complete() || (match.id >= 0 && match.end < window_.end() &&
                                              window_.end() - match.begin > t_.longest_normal);
    return whole ? match : none;
  }

  /// Up to where no added token can start that more text would complete or give white space to.
  uint32_t certain_end() const {
    if (t_.normal_trie.count == 0) return window_.end();
    const uint32_t size = window_.end() - window_.begin();
    uint32_t end = size < t_.longest_normal ? window_.begin() : window_.end() - t_.longest_normal;
    while (end > window_.begin() && utf8_continues(window_.text()[end])) --end;
    const AddedSearch search{&t_.normal_trie, parse_special_,  window_.text(),
                             window_.begin(), window_.begin(), window_.end()};
    const AddedMatch match = find_added(t_, search, window_.begin(), end);
    return skip_space_back(t_, window_.text(), window_.begin(), match.id >= 0 ? match.begin : end);
  }

  /// Cuts [begin, end) by splitter `depth` and what follows it. Returns where the first word starts that is
  /// not certain; that is `end` if the text ends there (`ended`).
  uint32_t split(uint32_t depth, uint32_t begin, uint32_t end, bool ended) {
    if (begin == end) return end;
    if (depth != 0 && depth == t_.prefix_depth) begin = window_.put_piece_prefix(begin, end);
    if (depth == t_.splitter_count) {
      if (!ended) return begin;
      encode_word(begin, end);
      return end;
    }
    const SplitterView& splitter = t_.splitters[depth];
    uint32_t rest = begin;  // start of what no match has taken
    for (uint32_t at = begin; at < end;) {
      const Match match = longest_match(splitter, at, end, ended);
      if (match.unsure) return rest;
      if (match.end == at) {
        at += utf8_decode(window_.text() + at, window_.text() + end).bytes;
        continue;
      }
      if (splitter.keep_rest) split(depth + 1, rest, at, true);
      if (splitter.keep_matches) split(depth + 1, at, match.end, true);
      at = rest = match.end;
    }
    if (!ended) return rest;
    if (splitter.keep_rest) split(depth + 1, rest, end, true);
    return end;
  }

  Match longest_match(const SplitterView& splitter, uint32_t begin, uint32_t end, bool ended) const {
    const uint8_t* text = window_.text();
    const uint32_t row = t_.classes + 1;
    uint32_t state = kDfaStart;
    uint32_t matched = begin;
    for (uint32_t at = begin; state != kDfaDead;) {
      if (at >= end && !ended) return {begin, true};
      uint32_t column = t_.classes;
      uint32_t length = 0;
      if (at < end) {
        const Utf8Character character = utf8_decode(text + at, text + end);
        column = t_.class_of(character.code_point);
        length = character.bytes;
      }
      const uint16_t transition = splitter.transitions[size_t{state} * row + column];
      if ((transition & kDfaMatch) != 0) matched = at;
      if (at >= end) break;
      state = transition & kDfaState;
      at += length;
    }
    return {matched, false};
  }

  void encode_word(uint32_t begin, uint32_t end) {
    uint32_t at = begin;
    if (MOTE_TEXT_BPE && t_.model == file::TokenModel::bpe) at = encode_bpe(t_, s_, begin, end);
    if (MOTE_TEXT_WORDPIECE && t_.model == file::TokenModel::wordpiece) encode_wordpiece(t_, s_, begin, end);
    if (MOTE_TEXT_UNIGRAM && t_.model == file::TokenModel::unigram) encode_unigram(t_, s_, begin, end);
    for (; at < end; at += s_.length[at]) {
      if (t_.model == file::TokenModel::unigram && s_.id[at] == kUnknownCharacters) {
        put_unknown(at, at + s_.length[at]);
      } else {
        put_word_token(s_.id[at], at, at + s_.length[at]);
      }
    }
  }

  /// The token that has the characters as its text, the unknown one if there is none.
  uint32_t unknown_piece(uint32_t begin, uint32_t end) const {
    const bool has_pieces = MOTE_TEXT_UNIGRAM && t_.unknown_pieces.count != 0;
    const TrieNode* node = has_pieces ? &t_.unknown_pieces[0] : nullptr;
    for (; begin < end && node != nullptr; ++begin)
      node = trie_child(t_.unknown_pieces, *node, window_.text()[begin]);
    return static_cast<uint32_t>(node == nullptr || node->added < 0 ? t_.unknown_id : node->added);
  }

  /// As a token for each byte, if there are such, or as one.
  void put_unknown(uint32_t begin, uint32_t end) {
    if (t_.byte_ids.count == 0) return put_word_token(unknown_piece(begin, end), begin, end);
    for (uint32_t at = begin; at < end; ++at) {
      put_word_token(static_cast<uint32_t>(t_.byte_ids[window_.text()[at]]), begin, end);
    }
  }

  /// With trimmed offsets, those leave out the token's spaces at both ends.
  void put_word_token(uint32_t id, uint32_t begin, uint32_t end) {
    const Span span = window_.origin(begin, end);
    if (sink_->offsets == nullptr || !t_.trim_offsets) return sink_->put(id, span);
    const uint8_t* text = window_.text();
    uint32_t leading = 0, trailing = 0;
    while (leading < end - begin && text[begin + leading] == ' ') ++leading;
    while (trailing < end - begin && text[end - trailing - 1] == ' ') ++trailing;
    put_trimmed(id, span, leading, trailing);
  }

  void put_added(int32_t id, Span span) {
    if ((t_.token_flags[static_cast<uint32_t>(id)] & kTokenSpecial) != 0)
      sink_->specials.add(static_cast<uint32_t>(id));
    if (sink_->offsets == nullptr || !t_.trim_offsets) return sink_->put(static_cast<uint32_t>(id), span);
    uint32_t end = skip_space_back(t_, text_, span.begin, span.end);
    uint32_t begin = span.begin;
    while (begin < end) {
      const Utf8Character character = utf8_decode(text_ + begin, text_ + end);
      if ((t_.class_flags[t_.class_of(character.code_point)] & kClassSpace) == 0) break;
      begin += character.bytes;
    }
    put_trimmed(static_cast<uint32_t>(id), span, begin - span.begin, span.end - end);
  }

  void put_trimmed(uint32_t id, Span span, uint32_t leading, uint32_t trailing) {
    const bool first = sink_->count == first_ || span.begin == 0;
    if (leading != 0 && first && t_.trim_keeps_prefix) --leading;
    span.begin = span.begin + leading < span.end ? span.begin + leading : span.end;
    if (span.end >= trailing) span.end = span.end - trailing > span.begin ? span.end - trailing : span.begin;
    sink_->put(id, span);
  }

  const Tokenizer& t_;
  const TextScratch& s_;
  const uint8_t* text_;
  uint32_t bytes_;
  bool parse_special_;
  TokenSink* sink_;
  uint32_t first_;  // tokens before this text's
  Window window_;
};

/// Names an added token that the model has no row for.
mote_status refuse_token(const Tokenizer& tokenizer, uint32_t id, mote_error* error) {
  if constexpr (!kHasSentences) return fail(error, MOTE_INVALID_ARGUMENT);
  char name[64];
  const Table<uint8_t> text = tokenizer.text_of(id);
  uint32_t bytes = text.count < sizeof name ? text.count : uint32_t{sizeof name} - 1;
  while (bytes > 0 && bytes < text.count && utf8_continues(text[bytes])) --bytes;
  for (uint32_t i = 0; i < bytes; ++i) name[i] = static_cast<char>(text[i]);
  name[bytes] = '\0';
  return fail(error, MOTE_INVALID_ARGUMENT, "'", name, "' is token ", id,
              " of the tokenizer, the model has only ", tokenizer.vocab,
              ": leave it out of the text, or train the model with it");
}

/// How many of each text's tokens are kept where they must be cut.
struct KeptTokens {
  uint32_t of[2];
};

/// transformers' longest_first: the longer text is cut to the other's length, then both to halves of the
/// room, of which the longer gets what is left over.
KeptTokens cut_longer(const uint32_t counts[2], uint32_t room) {
  const uint8_t longer = counts[0] > counts[1] ? 0 : 1;
  uint32_t less = counts[1 - longer], more = less > room ? less : less > room - less ? less : room - less;
  if (uint64_t{less} + more > room) {
    less = room / 2;
    more = less + room % 2;
  }
  KeptTokens kept{};
  kept.of[longer] = more < counts[longer] ? more : counts[longer];
  kept.of[1 - longer] = less;
  return kept;
}

/// One text or two with what the model wants around them.
class TextPutter {
 public:
  TextPutter(const Tokenizer& tokenizer, const TextScratch& scratch, Given first, const Given* second,
             uint32_t flags, TokenSink* sink)
      : t_(tokenizer),
        scratch_(scratch),
        texts_{&first_, second},
        first_(first),
        flags_(flags),
        sink_(sink),
        pattern_(pattern_of(second != nullptr)) {}

  uint32_t added() const { return pattern_.before.count + pattern_.between.count + pattern_.after.count; }
  const TemplateView& pattern() const { return pattern_; }
  const uint32_t* counts() const { return counts_; }
  /// Says whether the parts before the last text were written whole; the last text alone is cut where it
  /// ends.
  bool whole() const { return whole_; }

  /// `kept`: null to write all that fits.
  mote_status put(const KeptTokens* kept, bool cut_end, mote_error* error) {
    const uint32_t room = sink_->capacity - (cut_end ? pattern_.after.count : 0);
    part_ = 0;
    sink_->limit = room;
    put_added(pattern_.before);
    for (uint8_t i = 0; i < (MOTE_TEXT_PAIRS ? 2 : 1) && texts_[i] != nullptr; ++i) {
      if (i != 0) put_added(pattern_.between);
      whole_ = sink_->written == sink_->count || kept != nullptr;
      sink_->text = i;
      sink_->type = pattern_.types.count != 0 ? pattern_.types[part_] : i;
      ++part_;
      const uint32_t before = sink_->count;
      if (MOTE_TEXT_PAIRS && kept != nullptr) {
        sink_->limit = sink_->written + kept->of[i];
        sink_->skip = t_.cut_left ? counts_[i] - kept->of[i] : 0;
      }
      Encoder encoder(t_, scratch_, *texts_[i], (flags_ & MOTE_PARSE_SPECIAL) != 0, sink_);
      if (!encoder.encode()) {
        sink_->count = 0;
        return fail(error, MOTE_TEXT_TOO_LONG, "the word from byte ", encoder.too_long(),
                    i == 0 ? "" : " of the second text", " on is longer than the session's text_bytes");
      }
      counts_[i] = sink_->count - before;
      if (MOTE_TEXT_PAIRS && kept != nullptr) sink_->limit = room;
    }
    sink_->limit = sink_->capacity;
    put_added(pattern_.after);
    return MOTE_OK;
  }

 private:
  const TemplateView& pattern_of(bool pair) const {
    static constexpr TemplateView kPlain{};
    if ((flags_ & MOTE_ADD_SPECIAL) != 0) return pair ? t_.pair : t_.single;
    return pair ? t_.plain_pair : kPlain;
  }

  void put_added(const Table<int32_t>& ids) {
    sink_->text = MOTE_NO_TEXT;
    for (uint32_t i = 0; i < ids.count; ++i, ++part_) {
      sink_->type = pattern_.types.count != 0 ? pattern_.types[part_] : uint8_t{0};
      sink_->put(static_cast<uint32_t>(ids[i]), {0, 0});
    }
  }

  const Tokenizer& t_;
  const TextScratch& scratch_;
  const Given* texts_[2];
  Given first_;
  uint32_t flags_;
  TokenSink* sink_;
  const TemplateView& pattern_;
  uint32_t part_ = 0, counts_[2] = {0, 0};
  bool whole_ = true;
};

}  // namespace

mote_status encode_text(const Tokenizer& tokenizer, const TextScratch& scratch, Given first,
                        const Given* second, uint32_t flags, TokenSink* sink, mote_error* error) {
  sink->vocab = tokenizer.vocab;
  if (!MOTE_TEXT_PAIRS && (second != nullptr || (flags & MOTE_CUT_LONGER) != 0))
    return fail(error, MOTE_INVALID_ARGUMENT, "the build, for another model, takes no two texts");
  TextPutter putter(tokenizer, scratch, first, second, flags, sink);
  const bool cuts = (flags & MOTE_TRUNCATE) != 0 && putter.added() <= sink->capacity;
  const bool longer = second != nullptr && (flags & MOTE_CUT_LONGER) != 0;
  const bool counts_first = MOTE_TEXT_PAIRS && cuts && (longer || tokenizer.cut_left);
  const bool cut_end =
      (flags & MOTE_TRUNCATE) != 0 && putter.pattern().after.count <= sink->capacity && !counts_first;
  mote_status status = putter.put(nullptr, cut_end, error);
  if (status != MOTE_OK) return status;
  bool done = sink->count <= sink->capacity || (cut_end && putter.whole());
  const uint32_t room = sink->capacity - (cuts ? putter.added() : 0);
  if (counts_first && !done && (longer || second == nullptr || putter.counts()[0] <= room)) {
    KeptTokens kept{{second == nullptr ? room : putter.counts()[0], room - putter.counts()[0]}};
    if (longer) kept = cut_longer(putter.counts(), room);
    sink->restart();
    status = putter.put(&kept, false, error);
    if (status != MOTE_OK) return status;
    done = true;
  }
  if (sink->beyond >= 0) return refuse_token(tokenizer, static_cast<uint32_t>(sink->beyond), error);
  if (done) return MOTE_OK;
  return fail(error, MOTE_TOO_SMALL, "the text has ", sink->count, " tokens, there is room for ",
              sink->capacity);
}

}  // namespace mote
