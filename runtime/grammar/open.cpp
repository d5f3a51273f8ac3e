// SPDX-License-Identifier: Apache-2.0
//
// The proofs of tables. Behind them every index is in range, every walk ends, and a byte is tried in a
// bounded number of readings: rules call each other without a byte between only from one to those behind it.
#include "mote/grammar.h"
#include "runtime/error.h"
#include "runtime/file/model.h"
#include "runtime/file/xxh64.h"
#include "runtime/grammar/readings.h"

namespace mote {
namespace {

/// Keeps the first thing that is wrong.
class Proof {
 public:
  Proof(const char* what, mote_error* error) : what_(what), error_(error) {}

  MOTE_GETS_WORDS inline bool expect(bool condition, const char* where, const char* wrong) {
    if (!condition && status_ == MOTE_OK)
      status_ = fail(error_, MOTE_CORRUPT_FILE, what_, ": ", where, ": ", wrong);
    return status_ == MOTE_OK;
  }
  mote_status status() const { return status_; }

 private:
  const char* what_;
  mote_error* error_;
  mote_status status_ = MOTE_OK;
};

/// Proves that steps are a preorder: sizes end where the depths say, siblings ascend.
void prove_steps(const TrieStep* steps, uint32_t count, uint32_t longest, uint32_t values, const char* where,
                 Proof* proof) {
  uint32_t ends[kMaxTokenBytes + 1];
  int32_t last_bytes[kMaxTokenBytes + 2];
  ends[0] = count;
  last_bytes[1] = -1;
  uint32_t above = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const TrieStep& step = steps[i];
    if (!proof->expect(step.depth >= 1 && step.depth <= above + 1 && step.depth <= longest, where,
                       "depths that are none"))
      return;
    for (; above >= step.depth; --above) {
      if (!proof->expect(ends[above] == i, where, "sizes that are none")) return;
    }
    above = step.depth;
    if (!proof->expect(step.size >= 1 && step.size <= ends[above - 1] - i, where, "sizes that are none") ||
        !proof->expect(static_cast<int32_t>(step.byte) > last_bytes[above], where,
                       "bytes that do not ascend") ||
        !proof->expect(step.value == kNoTrieValue || step.value < values, where, "no such value"))
      return;
    ends[above] = i + step.size;
    last_bytes[above] = static_cast<int32_t>(step.byte);
    last_bytes[above + 1] = -1;
  }
  for (; above > 0; --above) {
    if (!proof->expect(ends[above] == count, where, "sizes that are none")) return;
  }
}

void prove_vocabulary(const Vocabulary& view, Proof* proof) {
  const VocabularyHeader& header = *view.header;
  prove_steps(view.steps, header.steps, header.longest, header.vocab, "steps", proof);
  prove_steps(view.special_steps, header.special_steps, header.longest, header.vocab, "special steps", proof);
  for (uint32_t i = 0; i < header.twins; ++i) {
    if (!proof->expect(view.twins[i].id < header.vocab && view.twins[i].twin < header.vocab, "twins",
                       "no such id"))
      return;
  }
  for (uint32_t i = 0; i < header.textless; ++i) {
    if (!proof->expect(view.textless[i] < header.vocab, "ids without text", "no such id")) return;
  }
  for (uint32_t i = 0; i < header.vocab; ++i) {
    const uint32_t place = view.places[i];
    if (place == kNoPlace) continue;
    const bool special = (place & kSpecialPlace) != 0;
    if (!proof->expect((place & ~kSpecialPlace) < (special ? header.special_steps : header.steps), "places",
                       "no such step"))
      return;
  }
  for (uint32_t byte = 0; byte <= 256; ++byte) {
    const uint32_t first = view.roots[byte], before = byte == 0 ? 0 : view.roots[byte - 1];
    const bool next = first == before || (before < header.steps && view.steps[before].byte == byte - 1 &&
                                          first == before + view.steps[before].size);
    if (!proof->expect(byte == 0 ? first == 0 : next, "roots", "no such step")) return;
    if (!proof->expect(first == header.steps || view.steps[first].byte >= byte, "roots", "a step too early"))
      return;
  }
  proof->expect(view.roots[256] == header.steps, "roots", "no such step");
}

class GrammarProof {
 public:
  GrammarProof(const Grammar& view, uint32_t longest, Proof* proof)
      : view_(view), header_(*view.header), longest_(longest), proof_(proof) {}

  void prove() {
    prove_header();
    for (uint32_t i = 0; i < header_.rules && proof_->status() == MOTE_OK; ++i) prove_rule(i);
    for (uint32_t i = 1; i < header_.states && proof_->status() == MOTE_OK; ++i) prove_state(view_.states[i]);
    for (uint32_t i = 0; i < header_.edges && proof_->status() == MOTE_OK; ++i)
      proof_->expect(is_state(view_.edges[i].target), "edges", "no such state");
    for (uint32_t i = 0; i < header_.rows && proof_->status() == MOTE_OK; ++i) {
      for (const uint16_t target : view_.rows[i])
        if (!proof_->expect(target < header_.states, "rows", "no such state")) return;
    }
    for (uint32_t i = 0; i < header_.calls && proof_->status() == MOTE_OK; ++i) {
      const GrammarCall& call = view_.calls[i];
      proof_->expect(call.rule < header_.rules && call.back < header_.states, "calls",
                     "no such rule or state");
    }
    for (uint32_t i = 0; i < header_.masks && proof_->status() == MOTE_OK; ++i) prove_mask(view_.masks[i]);
  }

 private:
  bool is_state(uint32_t state) const { return state != 0 && state < header_.states; }
  static bool is_part(uint64_t first, uint64_t count, uint64_t all) {
    return first <= all && count <= all - first;
  }

  void prove_header() {
    proof_->expect(header_.depth >= 1 && header_.depth <= kMaxGrammarDepth, "depth", "none that there is");
    proof_->expect(is_state(header_.start) && header_.rules <= kMaxGrammarStates, "start", "no such state");
    proof_->expect(header_.states <= kMaxGrammarStates + 1, "states", "too many");
    proof_->expect(header_.masks == 0 || header_.vocabulary != 0, "masks", "of no vocabulary");
  }

  /// Returns the readings of a byte that begins behind the state: its own and those of the rules that it
  /// calls.
  uint32_t width_of(const GrammarState& state) const {
    uint64_t width = 1;
    for (uint32_t i = 0; i < state.call_count; ++i) {
      const uint16_t rule = view_.calls[state.calls + i].rule;
      width += rule < header_.rules ? view_.rules[rule].width : 0;
    }
    return width < UINT32_MAX ? static_cast<uint32_t>(width) : UINT32_MAX;
  }

  void prove_rule(uint32_t number) {
    const GrammarRule& rule = view_.rules[number];
    if (!proof_->expect(is_state(rule.entry), "rules", "no such state")) return;
    const GrammarState& entry = view_.states[rule.entry];
    proof_->expect((entry.flags & kStateAccepts) == 0, "rules", "one that may be empty");
    proof_->expect(entry.rule == number, "rules", "an entry of another rule");
    proof_->expect(rule.least <= rule.most && rule.most != 0, "rules", "counts that are none");
    if (!proof_->expect(is_part(entry.calls, entry.call_count, header_.calls), "states", "calls outside"))
      return;
    for (uint32_t i = 0; i < entry.call_count; ++i)
      proof_->expect(view_.calls[entry.calls + i].rule > number, "rules", "one that begins with itself");
    proof_->expect(rule.width <= kMaxReadings && rule.width >= width_of(entry), "rules",
                   "too many readings of a byte");
  }

  void prove_state(const GrammarState& state) {
    proof_->expect(state.rule < header_.rules, "states", "no such rule");
    const bool dense = (state.flags & kStateDense) != 0;
    proof_->expect(dense ? state.edges < header_.rows : is_part(state.edges, state.edge_count, header_.edges),
                   "states", "edges outside");
    if (!proof_->expect(is_part(state.calls, state.call_count, header_.calls), "states", "calls outside"))
      return;
    proof_->expect(width_of(state) <= kMaxReadings, "states", "too many readings of a byte");
    proof_->expect((state.flags & kStateCalls) == 0 || state.step < state.call_count, "states",
                   "no such call");
    proof_->expect(state.mask <= header_.masks, "states", "no such mask");
  }

  void prove_ids(uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count; ++i) {
      if (!proof_->expect((view_.list[i] & 0xFFFFFF) < header_.vocab, "list", "no such id")) return;
    }
  }

  void prove_mask(const GrammarMask& mask) {
    proof_->expect(is_state(mask.state), "masks", "no such state");
    if (!proof_->expect(is_part(mask.levels, mask.level_count, header_.levels) &&
                            is_part(mask.tries, mask.trie_count, header_.tries) &&
                            is_part(mask.groups, mask.group_count, header_.groups),
                        "masks", "parts outside"))
      return;
    for (uint32_t i = 0; i < mask.level_count; ++i) {
      const GrammarLevel& level = view_.levels[mask.levels + i];
      if (!proof_->expect(
              level.bits < header_.bits && is_part(level.cleared, level.cleared_count, header_.list),
              "levels", "parts outside"))
        return;
      prove_ids(level.cleared, level.cleared_count);
    }
    const GrammarState& state = view_.states[mask.state];
    if (!proof_->expect(mask.call <= state.call_count, "masks", "no such call")) return;
    const uint16_t called = mask.call == 0 ? state.rule : view_.calls[state.calls + mask.call - 1].rule;
    for (uint32_t i = 0; i < mask.trie_count && proof_->status() == MOTE_OK; ++i) {
      const GrammarTrie& trie = view_.tries[mask.tries + i];
      prove_trie(trie, trie.in_call != 0 ? called : state.rule);
    }
    for (uint32_t i = 0; i < mask.group_count && proof_->status() == MOTE_OK; ++i) {
      const GrammarGroup& group = view_.groups[mask.groups + i];
      if (!proof_->expect(is_state(group.state) &&
                              view_.states[group.state].rule == (group.in_call != 0 ? called : state.rule),
                          "groups", "a state of another rule") ||
          !proof_->expect(is_part(group.ids, group.id_count, header_.list), "groups", "ids outside"))
        return;
      prove_ids(group.ids, group.id_count);
    }
  }

  void prove_trie(const GrammarTrie& trie, uint16_t rule) {
    if (!proof_->expect(is_state(trie.state) && view_.states[trie.state].rule == rule, "tries",
                        "a state of another rule") ||
        !proof_->expect(is_part(trie.steps, trie.step_count, header_.steps), "tries", "steps outside"))
      return;
    const TrieStep* const steps = view_.steps + trie.steps;
    prove_steps(steps, trie.step_count, longest_, header_.list, "tries", proof_);
    for (uint32_t i = 0; i < trie.step_count && proof_->status() == MOTE_OK; ++i) {
      if (steps[i].value == kNoTrieValue) continue;
      const uint32_t count = view_.list[steps[i].value];
      if (!proof_->expect(is_part(uint64_t{steps[i].value} + 1, count, header_.list), "list",
                          "a part outside"))
        return;
      prove_ids(steps[i].value + 1, count);
    }
  }

  const Grammar& view_;
  const GrammarHeader& header_;
  uint32_t longest_;
  Proof* proof_;
};

/// Checks what must hold before the header's counts are looked at.
template <class Header>
mote_status check_begin(const void* data, uint64_t bytes, uint32_t magic, uint32_t version, const char* what,
                        mote_error* error) {
  if (data == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, what, ": null pointer");
  if (reinterpret_cast<uintptr_t>(data) % 8 != 0)
    return fail(error, MOTE_NOT_ALIGNED, what, ": the tables must be 8-byte aligned");
  const Header* const header = static_cast<const Header*>(data);
  if (bytes < sizeof(Header) || header->magic != magic)
    return fail(error, MOTE_CORRUPT_FILE, what, ": these are no such tables; mote grammar makes them");
  if (header->version != version)
    return fail(error, MOTE_UNSUPPORTED_FILE, what, ": version ", header->version, ", this build reads ",
                version);
  return MOTE_OK;
}

}  // namespace
}  // namespace mote

using mote::fail;

extern "C" {

mote_status mote_vocabulary_open(const void* data, uint64_t bytes, const int32_t* stop_ids,
                                 uint32_t stop_count, mote_vocabulary* vocabulary, mote_error* error) {
  if (vocabulary == nullptr || (stop_ids == nullptr && stop_count != 0))
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_vocabulary_open: null pointer");
  const mote_status begins = mote::check_begin<mote::VocabularyHeader>(
      data, bytes, mote::kVocabularyMagic, mote::kVocabularyVersion, "vocabulary", error);
  if (begins != MOTE_OK) return begins;
  const mote_vocabulary open = {
      data, bytes, stop_ids, stop_count, static_cast<const mote::VocabularyHeader*>(data)->vocab, {}};
  uint64_t end = 0;
  const mote::Vocabulary view = mote::view_of(open, &end);
  mote::Proof proof("vocabulary", error);
  proof.expect(end == bytes, "bytes", "more or fewer than its header says");
  proof.expect(view.header->longest <= mote::kMaxTokenBytes, "longest", "too long");
  proof.expect(view.header->vocab != 0 && view.header->vocab < mote::kNoTrieValue, "ids", "too many or none");
  if (proof.status() == MOTE_OK) mote::prove_vocabulary(view, &proof);
  if (proof.status() != MOTE_OK) return proof.status();
  for (uint32_t i = 0; i < stop_count; ++i) {
    if (stop_ids[i] < 0 || static_cast<uint32_t>(stop_ids[i]) >= open.vocab)
      return fail(error, MOTE_INVALID_ARGUMENT, "stop id ", stop_ids[i], " of a vocabulary of ", open.vocab);
  }
  *vocabulary = open;
  return MOTE_OK;
}

mote_status mote_model_vocabulary(const mote_model* model, mote_vocabulary* vocabulary, mote_error* error) {
  if (model == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "mote_model_vocabulary: null pointer");
  const mote::Table<uint8_t>& tables = model->tokenizer.vocabulary;
  if (tables.count == 0)
    return fail(error, MOTE_UNSUPPORTED_FILE, "the file has no tables of its vocabulary");
  const auto* const stops = model->root->stop_ids();
  const bool has_stops = stops != nullptr && stops->size() != 0;
  const mote_status status =
      mote_vocabulary_open(tables.data, tables.count, has_stops ? stops->data() : nullptr,
                           has_stops ? stops->size() : 0, vocabulary, error);
  if (status != MOTE_OK || vocabulary->vocab == model->root->vocab()) return status;
  return fail(error, MOTE_CORRUPT_FILE, "vocabulary: of ", vocabulary->vocab, " ids, the model has ",
              model->root->vocab());
}

mote_status mote_grammar_open(const void* data, uint64_t bytes, const mote_vocabulary* vocabulary,
                              mote_grammar* grammar, mote_error* error) {
  if (vocabulary == nullptr || grammar == nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_grammar_open: null pointer");
  const mote_status begins = mote::check_begin<mote::GrammarHeader>(data, bytes, mote::kGrammarMagic,
                                                                    mote::kGrammarVersion, "grammar", error);
  if (begins != MOTE_OK) return begins;
  const mote_grammar open = {data, bytes, vocabulary, {}};
  uint64_t end = 0;
  const mote::Grammar view = mote::view_of(open, &end);
  const mote::VocabularyHeader& of = *mote::view_of(*vocabulary).header;
  mote::Proof proof("grammar", error);
  proof.expect(end == bytes, "bytes", "more or fewer than its header says");
  if (proof.status() != MOTE_OK) return proof.status();
  if (view.header->vocabulary != 0 && (view.header->vocabulary != of.hash || view.header->vocab != of.vocab))
    return fail(error, MOTE_INVALID_ARGUMENT,
                "the grammar's masks are of another vocabulary: compile it for this model, or for none");
  mote::GrammarProof(view, of.longest, &proof).prove();
  if (proof.status() != MOTE_OK) return proof.status();
  *grammar = open;
  return MOTE_OK;
}

}  // extern "C"
