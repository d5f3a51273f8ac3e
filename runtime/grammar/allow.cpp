// SPDX-License-Identifier: Apache-2.0
//
// The ids that may come next. The vocabulary is a trie: bytes that several tokens begin with are read once,
// and what is below a byte that cannot be read is passed over. Where the tables have a mask for the state,
// most ids are copied, and only tokens that leave the state are read, from the byte on that leaves it.
#include <string.h>

#include "runtime/grammar/matcher.h"

namespace mote {
namespace {

constexpr uint32_t kRememberedNeeds = 16;
constexpr uint32_t kFewSteps = 16;  // below a step: each byte is tried

class TokenWalk {
 public:
  TokenWalk(const mote_matcher& matcher, const Grammar& grammar, const Vocabulary& vocabulary, uint32_t left,
            const MatcherScratch& scratch, uint32_t* mask)
      : matcher_(matcher),
        grammar_(grammar),
        vocabulary_(vocabulary),
        left_(left),
        scratch_(scratch),
        mask_(mask),
        readings_(grammar, scratch.frames, matcher.frames, scratch.frame_count, matcher.forced != 0) {
    memcpy(scratch.frames, matcher.frame(), matcher.frames * sizeof(Frame));
  }

  void allow(uint32_t number) {
    number_ = number;
    rest_known_ = false;
    const Reading& reading = matcher_.reading[number];
    if (!allow_by_mask(reading)) {
      walk(reading, {vocabulary_.steps, vocabulary_.header->steps, vocabulary_.roots},
           [&](const TrieStep& step) { allow_id(mask_, step.value); });
    }
    if ((grammar_.states[reading.state].flags & kStateFree) == 0) return;
    free_only_ = true;
    walk(reading, {vocabulary_.special_steps, vocabulary_.header->special_steps, nullptr},
         [&](const TrieStep& step) { allow_id(mask_, step.value); });
    free_only_ = false;
    if (matcher_.forced == 0 && fits(reading)) {
      for (uint32_t i = 0; i < vocabulary_.header->textless; ++i) allow_id(mask_, vocabulary_.textless[i]);
    }
  }

 private:
  /// Says whether the shortest ending behind a token that ends here is short enough.
  bool fits(const Reading& reading) {
    if (left_ == UINT32_MAX || readings_.need(reading) <= left_) return true;
    for (uint32_t i = 0; i < remembered_; ++i) {
      const Need& known = needs_[i];
      if (known.state == reading.state && known.count == reading.count && known.frame == reading.frame &&
          reading.frame < matcher_.frames)
        return known.need <= left_;
    }
    const uint32_t need = exact_need(grammar_, vocabulary_, readings_, reading, scratch_);
    needs_[next_need_++ % kRememberedNeeds] = {reading.state, reading.frame, reading.count, need};
    if (remembered_ < kRememberedNeeds) ++remembered_;
    return need <= left_;
  }
  bool any_fits(const Reading* readings, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      if (fits(readings[i])) return true;
    }
    return false;
  }
  bool all_free(const Reading* readings, uint32_t count) const {
    for (uint32_t i = 0; i < count; ++i) {
      const GrammarState& state = grammar_.states[readings[i].state];
      if ((state.flags & kStateFree) == 0) return false;
    }
    return true;
  }

  struct Trie {
    const TrieStep* steps;
    uint32_t count;
    const uint32_t* roots;  // as the vocabulary has them, or null
  };

  /// Writes which bytes the readings below so many steps of a path go on with.
  void find_next_bytes(uint32_t depth, const Reading* readings, uint32_t count) {
    uint32_t* const set = scratch_.nexts + size_t{8} * depth;
    for (uint32_t word = 0; word < 8; ++word) set[word] = 0;
    for (uint32_t i = 0; i < count; ++i) readings_.next_bytes(readings[i], set);
  }

  /// Calls found(step) for each step with a value whose bytes the reading goes on with.
  template <class Found>
  void walk(const Reading& from, const Trie& trie, Found found) {
    const TrieStep* const steps = trie.steps;
    const uint32_t frames_before = readings_.frames();
    scratch_.readings[0] = from;
    scratch_.begins[0] = 0;
    scratch_.begins[1] = 1;
    frame_marks_[0] = static_cast<uint16_t>(frames_before);
    looks_[0] = trie.count > kFewSteps;
    if (looks_[0]) find_next_bytes(0, &from, 1);
    for (uint32_t at = looks_[0] && trie.roots != nullptr ? next_root(trie, 0) : 0; at < trie.count;) {
      const TrieStep& step = steps[at];
      const uint32_t depth = step.depth;  // verified: at most one more than that of the step before
      if (looks_[depth - 1] && !has_byte(scratch_.nexts + size_t{8} * (depth - 1), step.byte & 0xFF)) {
        at += step.size;
        if (depth == 1 && trie.roots != nullptr) at = next_root(trie, step.byte + 1);
        continue;
      }
      const uint32_t begin = scratch_.begins[depth - 1], end = scratch_.begins[depth];
      const uint32_t room = scratch_.reading_count - end;
      Reading* const out = scratch_.readings + end;
      const auto byte = static_cast<uint8_t>(step.byte);
      uint32_t next = 0;
      readings_.drop_frames(frame_marks_[depth - 1]);
      if (end - begin == 1 && room != 0 && readings_.step_plainly(scratch_.readings[begin], byte, out)) {
        next = out->state != 0 ? 1 : 0;
      } else {
        readings_.clear_overflow();
        for (uint32_t i = begin; i < end; ++i) {
          next = readings_.step(scratch_.readings[i], byte, out, next,
                                room < kStepReadings ? room : kStepReadings);
        }
        if (readings_.overflowed()) {
          read_one_by_one(from, steps, at, found);
          at += step.size;
          continue;
        }
        next = readings_.keep_shortest(out, next);
      }
      if (next == 0) {
        at += step.size;
        continue;
      }
      if (step.value != kNoTrieValue && any_fits(out, next)) found(step);
      scratch_.begins[depth + 1] = static_cast<uint16_t>(end + next);
      frame_marks_[depth] = static_cast<uint16_t>(readings_.frames());
      looks_[depth] = step.size > kFewSteps;
      if (looks_[depth]) find_next_bytes(depth, out, next);
      at += free_only_ && !all_free(out, next) ? step.size : 1;
    }
    readings_.drop_frames(frames_before);
  }

  /// Returns the first step of depth 1 whose byte is `byte` or more and one that the walk's reading goes on
  /// with.
  uint32_t next_root(const Trie& trie, uint32_t byte) const {
    const uint32_t* const set = scratch_.nexts;
    while (byte < 256 && !has_byte(set, static_cast<uint8_t>(byte))) {
      byte = set[byte / 32] >> byte % 32 == 0 ? (byte / 32 + 1) * 32 : byte + 1;
    }
    return trie.roots[byte < 256 ? byte : 256];
  }

  /// Reads the tokens below step number `top` each from its first byte, in memory of one byte's readings.
  template <class Found>
  void read_one_by_one(const Reading& from, const TrieStep* steps, uint32_t top, Found found) {
    TokenReader reader(grammar_, matcher_);
    // The bytes above are found by going back through the preorder.
    uint8_t bytes[kMaxTokenBytes + 1];
    for (uint32_t depth = steps[top].depth, at = top;; --at) {
      if (steps[at].depth == depth) {
        bytes[depth] = static_cast<uint8_t>(steps[at].byte);
        if (--depth == 0) break;
      }
    }
    for (uint32_t at = top; at < top + steps[top].size; ++at) {
      const uint32_t depth = steps[at].depth;
      bytes[depth] = static_cast<uint8_t>(steps[at].byte);
      if (steps[at].value == kNoTrieValue) continue;
      reader.start_from(from);
      bool reads = true;
      for (uint32_t i = 1; i <= depth && reads; ++i) {
        reads = (!free_only_ || reader.is_free()) && reader.read(bytes[i]);
      }
      if (!reads) continue;
      bool short_enough = false;
      for (uint32_t i = 0; i < reader.count() && !short_enough; ++i) {
        const Reading& reading = reader.readings()[i];
        short_enough = left_ == UINT32_MAX || reader.all().need(reading) <= left_ ||
                       exact_need(grammar_, vocabulary_, reader.all(), reading, scratch_) <= left_;
      }
      if (short_enough) found(steps[at]);
    }
  }

  /// False where there is no mask, or one that does not say enough here.
  bool allow_by_mask(const Reading& reading) {
    const GrammarState& state = grammar_.states[reading.state];
    if (state.mask == 0 || ((state.flags & kStateFree) != 0 && matcher_.forced != 0)) return false;
    const GrammarMask& mask = grammar_.masks[state.mask - 1];
    const GrammarRule& rule = grammar_.rules[state.rule];
    const uint32_t frames_before = readings_.frames();
    Reading called = reading;
    if (mask.call != 0 && !readings_.call(reading, grammar_.calls[state.calls + mask.call - 1], &called)) {
      readings_.clear_overflow();
      readings_.drop_frames(frames_before);
      return false;
    }
    const bool all = mask_fits(reading, mask, rule);
    if (!all && !has_plain_needs(reading, mask, called)) {
      readings_.drop_frames(frames_before);
      return false;
    }
    const uint32_t counts = rule.most == kNoMost ? UINT32_MAX : rule.most - reading.count;
    const GrammarLevel* level = nullptr;
    for (uint32_t i = 0; i < mask.level_count; ++i) {
      const GrammarLevel& one = grammar_.levels[mask.levels + i];
      if (one.most <= counts) level = &one;
    }
    if (level != nullptr && all) add_level(*level);
    if (level != nullptr && !all) add_groups(*level, mask, reading, called);
    for (uint32_t i = 0; i < mask.trie_count; ++i) {
      const GrammarTrie& trie = grammar_.tries[mask.tries + i];
      if (trie.in_call != 0) {
        try_left(trie, {trie.state, called.frame, grammar_.rule_of(trie.state).least}, UINT32_MAX, 0);
      } else {
        const uint32_t missing = rule.least > reading.count ? rule.least - reading.count : 0;
        try_left(trie, {trie.state, reading.frame, reading.count + missing}, counts, missing);
      }
    }
    readings_.drop_frames(frames_before);
    return true;
  }
  /// Reads what is left of tokens; those before which fewer than `least` or more than `most` counts come are
  /// not allowed.
  void try_left(const GrammarTrie& trie, const Reading& from, uint32_t most, uint32_t least) {
    walk(from, {grammar_.steps + trie.steps, trie.step_count, nullptr}, [&](const TrieStep& step) {
      const uint32_t* const list = grammar_.list + step.value;
      for (uint32_t k = 1; k <= list[0]; ++k) {
        const uint32_t before = list[k] >> 24;
        if (before <= most && before >= least) allow_id(mask_, list[k] & 0xFFFFFF);
      }
    });
  }
  bool mask_fits(const Reading& reading, const GrammarMask& mask, const GrammarRule& rule) {
    if (left_ == UINT32_MAX) return true;
    const uint32_t missing = rule.least > reading.count ? rule.least - reading.count : 0;
    const uint64_t own = mask.need + uint64_t{missing} * rule.unit;
    if (own > left_) return false;
    if (reading.frame == kNoFrame || own + readings_.frame(reading.frame).rest <= left_) return true;
    if (!rest_known_) {
      rest_ = exact_need(grammar_, vocabulary_, readings_, readings_.returned(reading), scratch_);
      rest_known_ = true;
    }
    return own + rest_ <= left_;
  }
  /// Says whether what tokens need is said by the states that they end in: no count asks for more, and no
  /// ids of another reading are in the mask that some would have to be taken out of.
  bool has_plain_needs(const Reading& reading, const GrammarMask& mask, const Reading& called) const {
    const GrammarRule& rule = grammar_.rule_of(mask.state);
    return number_ == 0 && mask.group_count != 0 && reading.count >= rule.least &&
           (mask.call == 0 || grammar_.rule_of(called.state).least == 0);
  }
  /// Adds the ids of the groups behind which the shortest ending is short enough.
  void add_groups(const GrammarLevel& level, const GrammarMask& mask, const Reading& reading,
                  const Reading& called) {
    bool main = false;
    for (uint32_t i = 0; i < mask.group_count; ++i) {
      const GrammarGroup& group = grammar_.groups[mask.groups + i];
      const bool in_call = group.in_call != 0;
      const bool fit =
          fits({group.state, in_call ? called.frame : reading.frame, in_call ? 0 : reading.count});
      if (i == 0) {
        main = fit;
        if (main) add_level(level);
        continue;
      }
      const uint32_t* const ids = grammar_.list + group.ids;
      for (uint32_t k = 0; k < group.id_count && main != fit; ++k) {
        if (main) {
          mask_[ids[k] / 32] &= ~(uint32_t{1} << ids[k] % 32);
        } else if (has_id(level, ids[k])) {
          allow_id(mask_, ids[k]);
        }
      }
    }
  }
  bool has_id(const GrammarLevel& level, uint32_t id) const {
    const uint32_t words = (grammar_.header->vocab + 31) / 32;
    if (!allows_id(grammar_.bits + size_t{level.bits} * words, id)) return false;
    for (uint32_t i = 0; i < level.cleared_count; ++i) {
      if (grammar_.list[level.cleared + i] == id) return false;
    }
    return true;
  }
  void add_level(const GrammarLevel& level) {
    const uint32_t words = (grammar_.header->vocab + 31) / 32;
    const uint32_t* const bits = grammar_.bits + size_t{level.bits} * words;
    if (number_ == 0) {
      memcpy(mask_, bits, words * sizeof(uint32_t));
      for (uint32_t i = 0; i < level.cleared_count; ++i) {
        const uint32_t id = grammar_.list[level.cleared + i];
        mask_[id / 32] &= ~(uint32_t{1} << id % 32);
      }
      return;
    }
    uint32_t cleared = 0;
    for (uint32_t word = 0; word < words; ++word) {
      uint32_t set = bits[word];
      for (; cleared < level.cleared_count && grammar_.list[level.cleared + cleared] / 32 == word; ++cleared)
        set &= ~(uint32_t{1} << grammar_.list[level.cleared + cleared] % 32);
      mask_[word] |= set;
    }
  }

  struct Need {
    uint16_t state, frame;
    uint32_t count, need;
  };

  const mote_matcher& matcher_;
  const Grammar& grammar_;
  const Vocabulary& vocabulary_;
  uint32_t left_;
  const MatcherScratch& scratch_;
  uint32_t* mask_;
  Readings readings_;
  uint16_t frame_marks_[kMaxTokenBytes + 1];
  Need needs_[kRememberedNeeds];
  uint32_t remembered_ = 0, next_need_ = 0, number_ = 0, rest_ = 0;
  bool rest_known_ = false, free_only_ = false;
  bool looks_[kMaxTokenBytes + 1];  // into scratch_.nexts at each depth
};

}  // namespace

size_t lay_out_scratch(const Grammar& grammar, const Vocabulary& vocabulary, void* memory,
                       MatcherScratch* scratch, const ScratchRoom& room) {
  const uint32_t longest = vocabulary.header->longest;
  scratch->frame_count = frame_room(grammar) + 4 * longest + 64;
  if (scratch->frame_count > 1024) scratch->frame_count = 1024;
  scratch->reading_count = 4 * longest + 2 * kMostReadings + room.step_readings;
  uint8_t* const at = static_cast<uint8_t*>(memory);
  size_t bytes = 0;
  const auto take = [&](size_t size) {
    uint8_t* const part = at == nullptr ? nullptr : at + bytes;
    bytes = (bytes + size + 7) / 8 * 8;
    return part;
  };
  scratch->frames = reinterpret_cast<Frame*>(take(scratch->frame_count * sizeof(Frame)));
  scratch->readings = reinterpret_cast<Reading*>(take(scratch->reading_count * sizeof(Reading)));
  scratch->begins = reinterpret_cast<uint16_t*>(take((longest + 2) * sizeof(uint16_t)));
  scratch->nexts = reinterpret_cast<uint32_t*>(take((longest + 1) * 8 * sizeof(uint32_t)));
  scratch->tokens = reinterpret_cast<uint16_t*>(take((room.shortest_bytes + 1) * sizeof(uint16_t)));
  scratch->text = take(room.shortest_bytes);
  scratch->ending = take(room.shortest_bytes);
  scratch->ending_bytes = reinterpret_cast<uint32_t*>(take(sizeof(uint32_t)));
  return bytes;
}

void allow_tokens(const mote_matcher& matcher, uint32_t left, const MatcherScratch& scratch, uint32_t* mask) {
  const Grammar grammar = view_of(*matcher.grammar);
  const Vocabulary vocabulary = view_of(*matcher.grammar->vocabulary);
  TokenWalk walk(matcher, grammar, vocabulary, left, scratch, mask);
  for (uint32_t i = 0; i < matcher.readings; ++i) walk.allow(i);
  for (uint32_t i = 0; i < vocabulary.header->twins; ++i) {
    const TwinTokens& pair = vocabulary.twins[i];
    if (allows_id(mask, pair.id)) allow_id(mask, pair.twin);
  }
}

}  // namespace mote
