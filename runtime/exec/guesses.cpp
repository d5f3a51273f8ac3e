// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/guesses.h"

#include <string.h>

#include "mote/speculate.h"
#include "runtime/error.h"
#include "runtime/exec/compute.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/fixed_state.h"
#include "runtime/exec/history.h"
#include "runtime/exec/kv_state.h"
#include "runtime/exec/splitmix.h"

struct mote_speculation {
  mote_speculation_options options;
  mote_speculation_counts counts;
  uint32_t limit;
  uint32_t entered;    // the table knows what comes before this token of the sequence
  uint32_t count, at;  // guesses of the last run, and which of them is compared next
  uint32_t offered_count;
  int32_t ids[MOTE_MOST_GUESSES];
  int32_t offered[MOTE_MOST_GUESSES];
  const int32_t* before;  // [before_count] ids that are looked up in as if the sequence began with them
  uint32_t before_count;

  uint32_t* table() { return reinterpret_cast<uint32_t*>(this + 1); }
};

namespace mote {
namespace {

constexpr uint32_t kWays = 4;        // places for tokens of one hash, the newest first
constexpr uint32_t kMostMatch = 16;  // tokens that are compared
constexpr uint32_t kMostPlaces = 1u << 24;

uint64_t speculation_bytes(const mote_speculation_options& options) {
  const uint64_t places = options.match == 0 ? 0 : options.places;
  return sizeof(mote_speculation) + places * sizeof(uint32_t);
}

/// Null if the options are valid, else what is wrong with them.
const char* options_problem(const mote_speculation_options& options) {
  if (options.most == 0 || options.most > MOTE_MOST_GUESSES) return "guesses of a run are 1 to 32";
  if (options.match > kMostMatch) return "tokens that match are 0 to 16";
  const uint32_t places = options.places;
  if (options.match != 0 && (places < kWays || places > kMostPlaces || (places & (places - 1)) != 0))
    return "places of the table are a power of two from 4 to 2^24";
  return nullptr;
}

/// The ids before a sequence, its tokens and the one behind them.
struct Text {
  const int32_t* before;
  uint32_t before_count;
  const int32_t* ids;
  uint32_t length;  // without the last
  int32_t last;

  int32_t operator[](uint32_t i) const {
    if (i < before_count) return before[i];
    return i < length ? ids[i - before_count] : last;
  }
};

Text text_of(const mote_session& session, const mote_speculation& guesses, int32_t last) {
  return {guesses.before, guesses.before_count, history_of(session, 0),
          guesses.before_count + session.lengths[0], last};
}

/// Returns the places for the `match` tokens before token `end`.
uint32_t* places_of(mote_speculation* guesses, const Text& text, uint32_t end) {
  uint64_t hash = 0;
  for (uint32_t i = end - guesses->options.match; i < end; ++i)
    hash = splitmix_mix(hash + static_cast<uint32_t>(text[i]) + kSplitMixStep);
  const uint32_t buckets = guesses->options.places / kWays;
  return guesses->table() + (hash & (buckets - 1)) * kWays;
}

/// Enters where tokens were that something follows. Tokens that were taken back since may stay in the table:
/// whoever looks up compares.
void enter_new(mote_speculation* guesses, const Text& text) {
  const uint32_t first = guesses->options.match;
  if (guesses->entered > text.length + 1) guesses->entered = text.length + 1;
  if (guesses->entered < first) guesses->entered = first;
  for (uint32_t& next = guesses->entered; next <= text.length; ++next) {
    uint32_t* places = places_of(guesses, text, next);
    if (places[0] == next) continue;
    memmove(places + 1, places, (kWays - 1) * sizeof places[0]);
    places[0] = next;
  }
}

/// Returns how many tokens before `at` are those at the text's end.
uint32_t matching(const Text& text, uint32_t at) {
  uint32_t count = 0;
  while (count < kMostMatch && count < at && text[at - 1 - count] == text[text.length - count]) ++count;
  return count;
}

/// Returns the token whose predecessors match the text's end furthest, of equals the last; 0 for none.
uint32_t look_up(mote_speculation* guesses, const Text& text) {
  const uint32_t end = text.length + 1;
  if (end < guesses->options.match) return 0;
  const uint32_t* places = places_of(guesses, text, end);
  uint32_t best = 0, longest = guesses->options.match - 1;
  for (uint32_t way = 0; way < kWays; ++way) {
    const uint32_t at = places[way];
    if (at == 0 || at >= end) continue;
    const uint32_t count = matching(text, at);
    if (count > longest) longest = count, best = at;
  }
  return best;
}

/// Guesses what followed before; past the text's end, what was guessed there.
void guess_again(mote_speculation* guesses, const Text& text, uint32_t from) {
  for (uint32_t i = 0; i < guesses->options.most; ++i) {
    const uint32_t at = from + i;
    const int32_t id = at <= text.length ? text[at] : guesses->ids[at - text.length - 1];
    if (id == kNoId) return;
    guesses->ids[guesses->count++] = id;
  }
}

/// Returns the rows that fit behind the pending token's in the pages that it takes: guesses take none.
uint32_t room_in_pages(const mote_session& session, uint32_t position) {
  uint32_t room = UINT32_MAX;
  for (uint32_t p = 0; p < session.pool_count; ++p) {
    const PagePool& pool = session.pools[p];
    if (!pool.kind.appends()) continue;
    const uint32_t left = pool.page_positions - 1 - position % pool.page_positions;
    room = left < room ? left : room;
  }
  return room;
}

uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/// Looks guesses up behind the token `last`.
void guess_by_text(const mote_session& session, mote_speculation* guesses, int32_t last) {
  guesses->count = 0;
  if (guesses->options.match == 0) return;
  const Text text = text_of(session, *guesses, last);
  enter_new(guesses, text);
  const uint32_t from = look_up(guesses, text);
  if (from != 0) guess_again(guesses, text, from);
}

void take_offered(const mote_session& session, mote_speculation* guesses) {
  const uint32_t vocab = session.model->root->vocab();
  for (guesses->count = 0; guesses->count < guesses->offered_count; ++guesses->count) {
    const int32_t id = guesses->offered[guesses->count];
    if (id < 0 || static_cast<uint32_t>(id) >= vocab) break;
    guesses->ids[guesses->count] = id;
  }
  guesses->offered_count = 0;
}

/// Writes the guesses of the next run to `ids`. Returns how many it computes with its token.
uint32_t guess_next(const mote_session& session, mote_speculation* guesses, int32_t pending, uint32_t most,
                    int32_t* ids) {
  guesses->at = 0;
  if (guesses->offered_count != 0) {
    take_offered(session, guesses);
  } else {
    guess_by_text(session, guesses, pending);
  }
  ++guesses->counts.runs;
  ++guesses->counts.rows;
  if (mote_speculation_hindrance(&session) != nullptr) return 0;
  const uint32_t position = session.lengths[0];
  uint32_t count = least(least(guesses->count, guesses->limit), most);
  count = least(count, least(session.options.logit_rows, session.options.chunk) - 1);
  count = least(count, session.options.context - position - 1);
  count = least(count, room_in_pages(session, position));
  memcpy(ids, guesses->ids, count * sizeof ids[0]);
  guesses->counts.rows += count;
  guesses->counts.guessed += count;
  return count;
}

}  // namespace

void begin_guessed(mote_session* session, mote_speculation* guesses, int32_t pending, uint32_t most) {
  GenerationState& generation = session->generation;
  int32_t ids[1 + MOTE_MOST_GUESSES] = {pending};
  generation.row = 0;
  generation.guesses = guess_next(*session, guesses, pending, most, ids + 1);
  begin_chunk(session, 0, ids, 1 + generation.guesses, MOTE_LOGITS_ALL);
  session->run.guesses = generation.guesses;
}

void compare_guess(const mote_session& session, mote_speculation* guesses, int32_t id) {
  if (guesses->at == guesses->count) return;
  const bool computed = session.generation.row < session.generation.guesses;
  const bool right = guesses->ids[guesses->at] == id;
  ++(right ? guesses->counts.right : guesses->counts.wrong);
  guesses->counts.stood += right && computed;
  // A guess behind one that has no row was made without knowing the token between.
  if (right && computed) {
    ++guesses->at;
  } else {
    guesses->at = guesses->count;
  }
}

bool take_guess(mote_session* session, int32_t id) {
  GenerationState& generation = session->generation;
  if (generation.row == generation.guesses) return false;
  if (history_of(*session, 0)[session->lengths[0]] != id) return false;
  ++session->lengths[0];
  slide_pages(session, 0);
  ++generation.row;
  return true;
}

}  // namespace mote

using mote::fail;

extern "C" {

mote_speculation_options mote_speculation_options_default(void) {
  mote_speculation_options options{};
  options.most = 8;
  options.match = 2;
  options.places = 8192;
  return options;
}

size_t mote_speculation_bytes(const mote_speculation_options* options) {
  if (options == nullptr || mote::options_problem(*options) != nullptr) return 0;
  return static_cast<size_t>(mote::speculation_bytes(*options));
}

mote_status mote_speculation_init(void* memory, size_t bytes, const mote_speculation_options* options,
                                  mote_speculation** speculation, mote_error* error) {
  if (memory == nullptr || options == nullptr || speculation == nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_speculation_init: null pointer");
  if (reinterpret_cast<uintptr_t>(memory) % alignof(mote_speculation) != 0)
    return fail(error, MOTE_NOT_ALIGNED, "the memory of guesses must be 8-byte aligned");
  const char* problem = mote::options_problem(*options);
  if (problem != nullptr) return fail(error, MOTE_INVALID_ARGUMENT, problem);
  const uint64_t needed = mote::speculation_bytes(*options);
  if (bytes < needed)
    return fail(error, MOTE_TOO_SMALL, "guesses of these options take ", needed, " bytes, given ",
                uint64_t{bytes});
  memset(memory, 0, static_cast<size_t>(needed));
  *speculation = static_cast<mote_speculation*>(memory);
  (*speculation)->options = *options;
  (*speculation)->limit = options->most;
  return MOTE_OK;
}

void mote_speculation_limit(mote_speculation* speculation, uint32_t n) { speculation->limit = n; }

mote_status mote_speculation_offer(mote_speculation* speculation, const int32_t* ids, uint32_t n,
                                   mote_error* error) {
  if (speculation == nullptr || (ids == nullptr && n != 0))
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_speculation_offer: null pointer");
  if (n > speculation->options.most)
    return fail(error, MOTE_INVALID_ARGUMENT, n, " guesses are offered, there is room for ",
                speculation->options.most);
  if (n != 0) memcpy(speculation->offered, ids, n * sizeof ids[0]);
  speculation->offered_count = n;
  return MOTE_OK;
}

void mote_speculation_precede(mote_speculation* speculation, const int32_t* ids, uint32_t n) {
  speculation->before = ids;
  speculation->before_count = ids == nullptr ? 0 : n;
  speculation->entered = 0;
  if (speculation->options.match != 0)
    memset(speculation->table(), 0, speculation->options.places * sizeof(uint32_t));
}

uint32_t mote_speculation_look_up(mote_speculation* speculation, const mote_session* session, int32_t last,
                                  int32_t* ids) {
  mote::guess_by_text(*session, speculation, last);
  const uint32_t count = speculation->count;
  memcpy(ids, speculation->ids, count * sizeof ids[0]);
  speculation->at = count;  // they are compared once a run has them
  return count;
}

void mote_speculation_get_counts(const mote_speculation* speculation, mote_speculation_counts* counts) {
  *counts = speculation->counts;
}

const char* mote_speculation_hindrance(const mote_session* session) {
  if (!mote::kHasSpeculation) return "the build, for one model, computes no guesses";
  if (session->model->encoder) return "the model generates nothing";
  if (mote::kind_without_past(*session->model->root) != nullptr)
    return "the model has states that keep no earlier tokens";
  if (mote_model_memory(session->model) != 0) return "the model reads in segments";
  if (session->options.trace != nullptr) return "the session is traced";
  if (session->options.logit_rows < 2 || session->options.chunk < 2)
    return "the session has room for one row of logits, or for chunks of one row";
  return nullptr;
}

}  // extern "C"
