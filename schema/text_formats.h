// SPDX-License-Identifier: Apache-2.0
//
// The tokenizer's tables in the segment, each 64-byte aligned. The converter writes them, runtime/text/
// reads them in place.
#pragma once

#include <stdint.h>

#include "schema/little_endian.h"

namespace mote {

/// Replaces a pair of neighbouring tokens; the lowest rank goes first, the leftmost among equals.
struct Merge {
  uint32_t right;
  uint32_t merged;
  uint32_t rank;
};
static_assert(sizeof(Merge) == 12);

/// The token that a character is before any merge.
struct CharacterId {
  uint32_t code_point;
  uint32_t id;
};
static_assert(sizeof(CharacterId) == 8);

/// A node of a trie over bytes; the root is node 0. Children lie side by side behind their parent, ascending
/// by byte.
struct TrieNode {
  uint32_t first_child;
  int32_t added;  // index of the added token, text or token that ends here, -1 for none
  uint16_t children;
  uint8_t byte;  // on the way from the parent
  uint8_t unused;
};
static_assert(sizeof(TrieNode) == 12);

/// The canonical combining class of code points; those in no range have 0.
struct CombiningRange {
  uint32_t first, last;
  uint32_t combining_class;  // 1 to 254
};
static_assert(sizeof(CombiningRange) == 12);

/// Two code points that canonical composition makes one. Hangul is computed.
struct Composition {
  uint32_t first, second, composed;
};
static_assert(sizeof(Composition) == 12);

/// In a normalizer's text: the character itself.
inline constexpr uint32_t kSameCharacter = 0x110000;

enum AddedFlag : uint32_t {
  kAddedSpecial = 1,     // not recognized in text that nobody vouches for
  kAddedLeftStrip = 2,   // takes the white space before it
  kAddedRightStrip = 4,  // and after it
  kAddedSingleWord = 8,  // not inside a word
  kAddedAtStart = 16,    // only where the text starts
};

/// A token that is found before the text is cut up.
struct AddedToken {
  int32_t id;
  uint32_t flags;  // AddedFlag
};
static_assert(sizeof(AddedToken) == 8);

enum TokenFlag : uint8_t {
  kTokenSpecial = 1,  // a sign for the model, not text
  kTokenByte = 2,     // one byte of a character that has no token
  kTokenInner = 4,    // follows without a space: a text that starts with it shows the continuing prefix
};

enum ClassFlag : uint8_t {
  kClassSpace = 1,  // white space
  kClassWord = 2,   // letters, marks, digits, connectors
  // Between a character that closes and one that opens the text can be cut and normalized part by part.
  kClassOpens = 4,
  kClassCloses = 8,
};

// A transition holds the next state and, in its highest bit, whether a match ends before the character.
inline constexpr uint16_t kDfaMatch = 0x8000;
inline constexpr uint16_t kDfaState = 0x7FFF;
inline constexpr uint16_t kDfaDead = 0;
inline constexpr uint16_t kDfaStart = 1;

inline constexpr uint32_t kClassBlockSize = 256;
inline constexpr uint32_t kClassBlocks = 0x110000 / kClassBlockSize;

/// Or, small and slower: an element for each run of code points of one class, the first of them above the
/// class.
inline constexpr uint32_t kRangeClassBits = 8;

// Longest strings that normalization puts into the text, in bytes.
inline constexpr uint32_t kMaxPrefixBytes = 32;
inline constexpr uint32_t kMaxReplacementBytes = 64;

}  // namespace mote
