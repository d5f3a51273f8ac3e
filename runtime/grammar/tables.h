// SPDX-License-Identifier: Apache-2.0
//
// Views of verified tables: every number in them that is an index is in range.
#pragma once

#include <stddef.h>

#include "mote/grammar.h"
#include "schema/grammar_formats.h"

namespace mote {

struct Vocabulary {
  const VocabularyHeader* header;
  const TrieStep* steps;
  const TrieStep* special_steps;
  const TwinTokens* twins;
  const uint32_t* textless;
  const uint32_t* places;
  const uint32_t* roots;  // [257]
};

struct Grammar {
  const GrammarHeader* header;
  const GrammarRule* rules;
  const GrammarState* states;
  const GrammarEdge* edges;
  const GrammarCall* calls;
  const GrammarRow* rows;
  const GrammarMask* masks;
  const GrammarLevel* levels;
  const GrammarTrie* tries;
  const GrammarGroup* groups;
  const TrieStep* steps;
  const uint32_t* list;
  const uint32_t* bits;

  const GrammarRule& rule_of(uint32_t state) const { return rules[states[state].rule]; }
};

/// Gives sections of a block one after the other, each from the next multiple of 8 bytes on.
class Sections {
 public:
  Sections(const void* data, uint64_t at) : data_(static_cast<const uint8_t*>(data)), at_(at) {}
  template <class T>
  const T* take(uint64_t count) {
    const T* const section = reinterpret_cast<const T*>(data_ + at_);
    at_ = (at_ + count * sizeof(T) + 7) / 8 * 8;
    return section;
  }
  uint64_t end() const { return at_; }

 private:
  const uint8_t* data_;
  uint64_t at_;
};

inline Vocabulary view_of(const mote_vocabulary& open, uint64_t* bytes = nullptr) {
  Vocabulary view;
  view.header = static_cast<const VocabularyHeader*>(open.tables);
  Sections sections(open.tables, sizeof(VocabularyHeader));
  view.steps = sections.take<TrieStep>(view.header->steps);
  view.special_steps = sections.take<TrieStep>(view.header->special_steps);
  view.twins = sections.take<TwinTokens>(view.header->twins);
  view.textless = sections.take<uint32_t>(view.header->textless);
  view.places = sections.take<uint32_t>(view.header->vocab);
  view.roots = sections.take<uint32_t>(257);
  if (bytes != nullptr) *bytes = sections.end();
  return view;
}

inline Grammar view_of(const mote_grammar& open, uint64_t* bytes = nullptr) {
  Grammar view;
  view.header = static_cast<const GrammarHeader*>(open.tables);
  const GrammarHeader& header = *view.header;
  Sections sections(open.tables, sizeof(GrammarHeader));
  view.rules = sections.take<GrammarRule>(header.rules);
  view.states = sections.take<GrammarState>(header.states);
  view.edges = sections.take<GrammarEdge>(header.edges);
  view.calls = sections.take<GrammarCall>(header.calls);
  view.rows = sections.take<GrammarRow>(header.rows);
  view.masks = sections.take<GrammarMask>(header.masks);
  view.levels = sections.take<GrammarLevel>(header.levels);
  view.tries = sections.take<GrammarTrie>(header.tries);
  view.groups = sections.take<GrammarGroup>(header.groups);
  view.steps = sections.take<TrieStep>(header.steps);
  view.list = sections.take<uint32_t>(header.list);
  view.bits = sections.take<uint32_t>(uint64_t{header.bits} * ((header.vocab + 31) / 32));
  if (bytes != nullptr) *bytes = sections.end();
  return view;
}

inline bool has_byte(const uint32_t* set, uint8_t byte) { return (set[byte / 32] >> byte % 32 & 1) != 0; }
inline bool allows_id(const uint32_t* mask, uint32_t id) { return (mask[id / 32] >> id % 32 & 1) != 0; }
inline void allow_id(uint32_t* mask, uint32_t id) { mask[id / 32] |= uint32_t{1} << id % 32; }

}  // namespace mote
