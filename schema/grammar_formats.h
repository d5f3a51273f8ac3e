// SPDX-License-Identifier: Apache-2.0
//
// Tables of grammars and of a vocabulary's bytes, as they lie in files: one block of bytes, 8-byte aligned, a
// header and then the sections in the order of its counts. host/grammar writes them, runtime/grammar reads
// them in place. docs/structured-output.md says what they mean.
#pragma once

#include <stdint.h>

#include "schema/little_endian.h"

namespace mote {

inline constexpr uint32_t kGrammarMagic = 0x4D52474D;     // "MGRM"
inline constexpr uint32_t kVocabularyMagic = 0x434F564D;  // "MVOC"
inline constexpr uint32_t kGrammarVersion = 2;
inline constexpr uint32_t kVocabularyVersion = 2;
inline constexpr uint32_t kMaxGrammarStates = 65535;
inline constexpr uint32_t kMaxGrammarDepth = 200;
inline constexpr uint32_t kMaxTokenBytes = 255;  // a longer token is in no answer of a grammar
inline constexpr uint32_t kMaxReadings = 256;    // configurations that a byte is tried in from one state

/// A node of a trie over bytes in preorder. The nodes below it follow; those below and itself are `size`.
struct TrieStep {
  uint32_t byte : 8, size : 24;
  uint32_t value : 24, depth : 8;  // depth 1: the first byte
};
static_assert(sizeof(TrieStep) == 8);
inline constexpr uint32_t kNoTrieValue = 0xFFFFFF;

/// Two ids of one text; the trie has the first.
struct TwinTokens {
  uint32_t id, twin;
};

struct VocabularyHeader {
  uint32_t magic, version;
  uint64_t hash;  // XXH64 of all behind the header
  uint32_t vocab;
  uint32_t steps;          // TrieStep [steps]: tokens that are text
  uint32_t special_steps;  // TrieStep [special_steps]: special tokens
  uint32_t twins;          // TwinTokens [twins], ascending by id
  uint32_t textless;       // uint32 [textless]: ids without a text, or with one that is too long
  uint32_t longest;        // depth of the deepest step
  // uint32 [vocab] follow: the step where each id's text ends, with kSpecialPlace of the special ones;
  // kNoPlace. Then uint32 [257]: number b is the first of `steps` of depth 1 whose byte is b or more, or the
  // number of steps.
};
static_assert(sizeof(VocabularyHeader) == 40);

inline constexpr uint32_t kSpecialPlace = 0x80000000;
inline constexpr uint32_t kNoPlace = UINT32_MAX;

enum GrammarStateFlag : uint8_t {
  kStateAccepts = 1,  // the rule may end here, once the count has reached the rule's `least`
  kStateHead = 2,     // of a counted rule: steps from here count on, while the count is below `most`
  kStateDense = 4,    // `edges` is the number of a row
  kStateFree = 8,     // of text before a trigger: `step` is the byte that leads on to it
  kStateCalls = 16,   // the shortest ending goes by call number `step` of the state, not by the byte `step`
};

/// A state of a rule's automaton. Entering one with kStateHead, by a byte or behind a call, counts one more.
struct GrammarState {
  uint32_t edges;  // the first of its edges, ascending by `first`
  uint32_t calls;  // the first of its calls
  uint16_t edge_count, call_count;
  uint16_t rule;
  uint16_t mask;  // number of its stored mask from 1 on; 0: none
  uint32_t need;  // tokens, at most, of the shortest ending of the rule, without what counts still ask for
  uint8_t flags;  // GrammarStateFlag
  uint8_t depth;  // frames that this ending takes
  uint16_t step;  // how it begins
};
static_assert(sizeof(GrammarState) == 24);

struct GrammarEdge {
  uint8_t first, last;
  uint16_t target;
};
static_assert(sizeof(GrammarEdge) == 4);

struct GrammarCall {
  uint16_t rule;
  uint16_t back;  // the state behind it; 0: the frame ends with the call, none is kept
};
static_assert(sizeof(GrammarCall) == 4);

inline constexpr uint32_t kNoMost = UINT32_MAX;

struct GrammarRule {
  uint16_t entry;  // accepts never, so that each call takes a byte
  uint16_t
      width;  // readings of one byte at the entry: 1 and those of the rules that it calls, which lie behind
  uint32_t least, most;  // counts; without heads 0 and kNoMost
  uint32_t unit;         // tokens of one count
  uint32_t starts[8];    // bytes that it can begin with
};
static_assert(sizeof(GrammarRule) == 48);

/// Row of a dense state: the target of each byte, 0 for none.
using GrammarRow = uint16_t[256];

/// Tokens that may follow a state whatever lies above it on the stack, the certain ones: a level for each
/// number of counts that they may take, and groups by the state that they end in. Tries have those that have
/// to be tried from the byte on that leaves the certain part.
struct GrammarMask {
  uint16_t state;
  uint16_t call;        // number, from 1 on, of the state's call that some of its tokens begin with; 0: none
  uint32_t need;        // of the states that certain tokens end in, the most
  uint32_t most_count;  // counts that they take, the most
  uint32_t levels, level_count;
  uint32_t tries, trie_count;
  uint32_t groups, group_count;  // the first has all certain tokens but those of the others
};
static_assert(sizeof(GrammarMask) == 36);

/// Certain tokens that end in one state.
struct GrammarGroup {
  uint16_t state;
  uint16_t in_call;        // 1: a state of the rule that the mask's call calls
  uint32_t ids, id_count;  // in the list; the first group has none there
};
static_assert(sizeof(GrammarGroup) == 12);

struct GrammarLevel {
  uint32_t most;                    // counts of its tokens
  uint32_t bits;                    // number of the set of bits
  uint32_t cleared, cleared_count;  // ids in the list that are taken out of it
};
static_assert(sizeof(GrammarLevel) == 16);

/// Its steps' values are places in the list: a number, and so many entries id | counts before << 24.
struct GrammarTrie {
  uint16_t state;
  uint16_t in_call;  // 1: a state of the rule that the mask's call calls, in a frame of that call
  uint32_t steps, step_count;
};
static_assert(sizeof(GrammarTrie) == 12);

struct GrammarHeader {
  uint32_t magic, version;
  uint64_t vocabulary;  // hash of the vocabulary that needs and masks are of; 0: of none, needs are bytes
  uint32_t vocab;       // ids of a set of bits
  uint16_t depth;       // most frames
  uint16_t start;       // state of an empty answer
  uint32_t rules, states, edges, calls, rows;
  uint32_t masks, levels, tries, steps, list, bits;  // sets of bits of (vocab + 31) / 32 words
  uint32_t groups;
};
static_assert(sizeof(GrammarHeader) == 72);

}  // namespace mote
