// SPDX-License-Identifier: Apache-2.0
#include "runtime/grammar/matcher.h"

#include <string.h>

#include "runtime/error.h"

namespace mote {
namespace {

size_t matcher_bytes(const Grammar& grammar) {
  return sizeof(mote_matcher) + (frame_room(grammar) * sizeof(Frame) + 7) / 8 * 8;
}

bool is_stop(const mote_vocabulary& vocabulary, int32_t id) {
  for (uint32_t i = 0; i < vocabulary.stop_count; ++i) {
    if (vocabulary.stop_ids[i] == id) return true;
  }
  return false;
}

/// A token of the vocabulary: its bytes, and whether it is special.
struct FoundToken {
  uint8_t bytes[kMaxTokenBytes];
  uint32_t length;
  bool special;
};

/// Walks down to the token's step: what lies before it and does not hold it is passed over.
void find_token(const Vocabulary& vocabulary, uint32_t id, FoundToken* token) {
  const uint32_t place = vocabulary.places[id];
  token->length = 0;
  token->special = place != kNoPlace && (place & kSpecialPlace) != 0;
  if (place == kNoPlace) return;
  const TrieStep* const steps = token->special ? vocabulary.special_steps : vocabulary.steps;
  const uint32_t target = place & ~kSpecialPlace;
  for (uint32_t at = 0;; ++at) {
    while (at + steps[at].size <= target) at += steps[at].size;
    token->bytes[token->length++] = static_cast<uint8_t>(steps[at].byte);
    if (at == target) return;
  }
}

void take(mote_matcher* matcher, const Grammar& grammar, TokenReader* reader) {
  reader->keep_room();
  matcher->readings = static_cast<uint16_t>(reader->count());
  matcher->frames = static_cast<uint16_t>(reader->all().frames());
  memcpy(matcher->reading, reader->readings(), reader->count() * sizeof(Reading));
  memcpy(matcher->frame(), reader->frames(), matcher->frames * sizeof(Frame));
  bool free = false;
  for (uint32_t i = 0; i < matcher->readings; ++i)
    free = free || (grammar.states[matcher->reading[i].state].flags & kStateFree) != 0;
  if (!free) {
    matcher->free_tokens = 0;
    matcher->forced = 0;
  }
}

bool read_all(TokenReader* reader, const uint8_t* bytes, size_t length, bool special) {
  for (size_t i = 0; i < length; ++i) {
    if ((special && !reader->is_free()) || !reader->read(bytes[i])) return false;
  }
  return true;
}

/// Appends bytes; false where no reading goes on with them. Where readings that go on were dropped for those
/// that seemed shorter, each is tried alone.
bool append(mote_matcher* matcher, const Grammar& grammar, const uint8_t* bytes, size_t length,
            bool special) {
  TokenReader reader(grammar, *matcher);
  reader.start();
  bool reads = read_all(&reader, bytes, length, special);
  for (uint32_t i = 0; i < matcher->readings && !reads && matcher->readings > 1; ++i) {
    reader.start_from(matcher->reading[i]);
    reads = read_all(&reader, bytes, length, special);
  }
  if (reads) take(matcher, grammar, &reader);
  return reads;
}

Readings readings_of(const mote_matcher& matcher, const Grammar& grammar) {
  // Questions make no frames.
  return Readings(grammar, const_cast<Frame*>(matcher.frame()), matcher.frames, matcher.frames,
                  matcher.forced != 0);
}

mote_status check_scratch(const mote_matcher* matcher, void* memory, size_t bytes, MatcherScratch* scratch,
                          mote_error* error) {
  if (matcher == nullptr || memory == nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "a matcher: null pointer");
  if (reinterpret_cast<uintptr_t>(memory) % 8 != 0)
    return fail(error, MOTE_NOT_ALIGNED, "a matcher's scratch must be 8-byte aligned");
  const size_t needed =
      lay_out_scratch(view_of(*matcher->grammar), view_of(*matcher->grammar->vocabulary), memory, scratch);
  if (bytes < needed)
    return fail(error, MOTE_TOO_SMALL, "a matcher's scratch takes ", uint64_t{needed}, " bytes, given ",
                uint64_t{bytes});
  *scratch->ending_bytes = 0;
  return MOTE_OK;
}

uint32_t least_need(const mote_matcher& matcher, const MatcherScratch& scratch) {
  const Grammar grammar = view_of(*matcher.grammar);
  const Vocabulary vocabulary = view_of(*matcher.grammar->vocabulary);
  memcpy(scratch.frames, matcher.frame(), matcher.frames * sizeof(Frame));
  const Readings readings(grammar, scratch.frames, matcher.frames, scratch.frame_count, matcher.forced != 0);
  uint32_t least = kMaxNeed;
  for (uint32_t i = 0; i < matcher.readings; ++i) {
    const uint32_t need = exact_need(grammar, vocabulary, readings, matcher.reading[i], scratch);
    if (need < least) least = need;
  }
  return least;
}

}  // namespace

void lead_to_trigger(const mote_matcher& matcher, uint32_t likeliest, uint32_t* mask) {
  const Vocabulary vocabulary = view_of(*matcher.grammar->vocabulary);
  if (allows_id(mask, likeliest) || mote_matcher_is_free(&matcher) == 0) return;
  FoundToken token;
  find_token(vocabulary, likeliest, &token);
  const Grammar grammar = view_of(*matcher.grammar);
  TokenReader reader(grammar, matcher);
  reader.start();
  uint32_t free = 0;  // bytes up to the trigger's end
  while (free < token.length && reader.is_free()) {
    if (!reader.read(token.bytes[free++])) return;
  }
  bool reads = true;
  for (uint32_t i = free; i < token.length && reads; ++i) reads = reader.read(token.bytes[i]);
  if (reads) return;  // too few tokens are left behind it
  uint32_t longest = kNoTrieValue, at = vocabulary.roots[token.bytes[0]], end = vocabulary.header->steps;
  for (uint32_t i = 0; i < free; ++i) {
    while (at < end && vocabulary.steps[at].byte < token.bytes[i]) at += vocabulary.steps[at].size;
    if (at >= end || vocabulary.steps[at].byte != token.bytes[i]) break;
    const TrieStep& step = vocabulary.steps[at];
    if (step.value != kNoTrieValue && allows_id(mask, step.value)) longest = step.value;
    end = at + step.size;
    ++at;
  }
  if (longest == kNoTrieValue) return;
  memset(mask, 0, (vocabulary.header->vocab + 31) / 32 * sizeof(uint32_t));
  allow_id(mask, longest);
}

}  // namespace mote

using mote::fail;

extern "C" {

size_t mote_matcher_bytes(const mote_grammar* grammar) {
  return grammar == nullptr ? 0 : mote::matcher_bytes(mote::view_of(*grammar));
}

size_t mote_matcher_scratch_bytes(const mote_grammar* grammar) {
  if (grammar == nullptr) return 0;
  mote::MatcherScratch scratch;
  return mote::lay_out_scratch(mote::view_of(*grammar), mote::view_of(*grammar->vocabulary), nullptr,
                               &scratch);
}

mote_status mote_matcher_init(void* memory, size_t bytes, const mote_grammar* grammar, mote_matcher** matcher,
                              mote_error* error) {
  if (memory == nullptr || grammar == nullptr || matcher == nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_matcher_init: null pointer");
  if (reinterpret_cast<uintptr_t>(memory) % 8 != 0)
    return fail(error, MOTE_NOT_ALIGNED, "a matcher's memory must be 8-byte aligned");
  const size_t needed = mote_matcher_bytes(grammar);
  if (bytes < needed)
    return fail(error, MOTE_TOO_SMALL, "a matcher takes ", uint64_t{needed}, " bytes, given ",
                uint64_t{bytes});
  const mote::Grammar view = mote::view_of(*grammar);
  mote_matcher* const made = static_cast<mote_matcher*>(memory);
  *made = {};
  made->grammar = grammar;
  made->readings = 1;
  made->reading[0] = {view.header->start, mote::kNoFrame, 0};
  *matcher = made;
  return MOTE_OK;
}

mote_status mote_matcher_allow(const mote_matcher* matcher, uint32_t tokens_left, uint32_t* mask,
                               void* memory, size_t scratch_bytes, mote_error* error) {
  mote::MatcherScratch scratch;
  const mote_status status = mote::check_scratch(matcher, memory, scratch_bytes, &scratch, error);
  if (status != MOTE_OK) return status;
  if (mask == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "mote_matcher_allow: null pointer");
  const mote_vocabulary& vocabulary = *matcher->grammar->vocabulary;
  const uint32_t words = (vocabulary.vocab + 31) / 32;
  memset(mask, 0, words * sizeof(uint32_t));
  const bool limited = tokens_left != UINT32_MAX;
  const int finished = mote_matcher_finished(matcher);
  if (matcher->ended == 0 && tokens_left != 0)
    mote::allow_tokens(*matcher, limited ? tokens_left - 1 : UINT32_MAX, scratch, mask);
  for (uint32_t i = 0; i < vocabulary.stop_count; ++i) {
    const auto id = static_cast<uint32_t>(vocabulary.stop_ids[i]);
    if (finished != 0) {
      mote::allow_id(mask, id);
    } else {
      mask[id / 32] &= ~(uint32_t{1} << id % 32);
    }
  }
  uint32_t any = 0;
  for (uint32_t word = 0; word < words; ++word) any |= mask[word];
  if (any != 0) return MOTE_OK;
  if (finished != 0)
    return fail(error, MOTE_WRONG_STATE, "the answer is whole, and the model has no stop id");
  const uint32_t need = mote::least_need(*matcher, scratch);
  if (need == mote::kMaxNeed)
    return fail(error, MOTE_INVALID_ARGUMENT,
                "no tokens of the vocabulary write what the grammar asks for next");
  return fail(error, MOTE_TOO_SMALL, "the shortest answer of the grammar takes ", need, " tokens, there are ",
              tokens_left);
}

mote_status mote_matcher_accept(mote_matcher* matcher, int32_t id, mote_error* error) {
  if (matcher == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "mote_matcher_accept: null pointer");
  const mote_vocabulary& open = *matcher->grammar->vocabulary;
  if (id < 0 || static_cast<uint32_t>(id) >= open.vocab)
    return fail(error, MOTE_INVALID_ARGUMENT, "id ", id, " of a vocabulary of ", open.vocab);
  const auto refused = [&] {
    return fail(error, MOTE_INVALID_ARGUMENT, "id ", id, " is not what the grammar goes on with");
  };
  if (mote::is_stop(open, id)) {
    if (mote_matcher_finished(matcher) == 0) return refused();
    matcher->ended = 1;
    return MOTE_OK;
  }
  if (matcher->ended != 0) return refused();
  const mote::Grammar grammar = mote::view_of(*matcher->grammar);
  mote::FoundToken token;
  mote::find_token(mote::view_of(open), static_cast<uint32_t>(id), &token);
  const bool was_free = mote_matcher_is_free(matcher) != 0;
  if (token.length == 0) {
    if (!was_free || matcher->forced != 0) return refused();
    ++matcher->free_tokens;
    return MOTE_OK;
  }
  ++matcher->free_tokens;
  if (mote::append(matcher, grammar, token.bytes, token.length, token.special)) return MOTE_OK;
  --matcher->free_tokens;
  return refused();
}

mote_status mote_matcher_accept_bytes(mote_matcher* matcher, const void* text, size_t bytes,
                                      mote_error* error) {
  if (matcher == nullptr || (text == nullptr && bytes != 0))
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_matcher_accept_bytes: null pointer");
  const mote::Grammar grammar = mote::view_of(*matcher->grammar);
  if (matcher->ended == 0 && mote::append(matcher, grammar, static_cast<const uint8_t*>(text), bytes, false))
    return MOTE_OK;
  return fail(error, MOTE_INVALID_ARGUMENT, "the grammar does not go on with this text");
}

int mote_matcher_finished(const mote_matcher* matcher) {
  if (matcher->ended != 0) return 2;
  const mote::Grammar grammar = mote::view_of(*matcher->grammar);
  const mote::Readings readings = mote::readings_of(*matcher, grammar);
  bool whole = false;
  uint32_t next[8] = {};
  for (uint32_t i = 0; i < matcher->readings; ++i) {
    whole = whole || readings.is_whole(matcher->reading[i]);
    readings.next_bytes(matcher->reading[i], next);
  }
  uint32_t any = 0;
  for (const uint32_t word : next) any |= word;
  return !whole ? 0 : any == 0 ? 2 : 1;
}

mote_status mote_matcher_need(const mote_matcher* matcher, void* memory, size_t scratch_bytes,
                              uint32_t* tokens, mote_error* error) {
  mote::MatcherScratch scratch;
  const mote_status status = mote::check_scratch(matcher, memory, scratch_bytes, &scratch, error);
  if (status != MOTE_OK) return status;
  if (tokens == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "mote_matcher_need: null pointer");
  const uint32_t need = mote::least_need(*matcher, scratch);
  *tokens = need == mote::kMaxNeed ? UINT32_MAX : need;
  return MOTE_OK;
}

size_t mote_matcher_forced(const mote_matcher* matcher, char* out, size_t capacity) {
  const mote::Grammar grammar = mote::view_of(*matcher->grammar);
  mote::TokenReader reader(grammar, *matcher);
  reader.start();
  for (size_t written = 0;; ++written) {
    uint32_t next[8] = {};
    bool whole = matcher->ended != 0;
    for (uint32_t i = 0; i < reader.count(); ++i) {
      whole = whole || reader.all().is_whole(reader.readings()[i]);
      reader.all().next_bytes(reader.readings()[i], next);
    }
    uint32_t choices = 0, byte = 0;
    for (uint32_t i = 0; i < 256; ++i) {
      if (!mote::has_byte(next, static_cast<uint8_t>(i))) continue;
      ++choices;
      byte = i;
    }
    if (whole || choices != 1 || written == capacity || !reader.read(static_cast<uint8_t>(byte)))
      return written;
    out[written] = static_cast<char>(byte);
  }
}

void mote_matcher_force_trigger(mote_matcher* matcher) {
  if (mote_matcher_is_free(matcher) != 0) matcher->forced = 1;
}

uint32_t mote_matcher_free_tokens(const mote_matcher* matcher) { return matcher->free_tokens; }

int mote_matcher_is_free(const mote_matcher* matcher) {
  const mote::Grammar grammar = mote::view_of(*matcher->grammar);
  for (uint32_t i = 0; i < matcher->readings; ++i) {
    if ((grammar.states[matcher->reading[i].state].flags & mote::kStateFree) == 0) return 0;
  }
  return 1;
}

}  // extern "C"
