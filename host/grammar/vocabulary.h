// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a vocabulary's tokens as a trie (schema/grammar_formats.h). The converter writes it into
// files; for files without one it is made when a grammar is first asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "mote/mote.h"
#include "schema/grammar_formats.h"

namespace mote::grammar {

struct TokenText {
  std::string_view text;  // empty: the id has none
  bool special = false;
};

/// Returns the tables of a vocabulary whose id i is `tokens[i]`.
std::vector<uint8_t> vocabulary_tables(const std::vector<TokenText>& tokens);
/// Returns those of a model with a tokenizer.
std::vector<uint8_t> vocabulary_tables(const mote_model* model);

class HomeWalks;

/// A view of such tables, which have been verified. Copies share what compiling found out about them.
struct VocabularyTrie {
  const VocabularyHeader* header;
  const TrieStep* steps;
  const TrieStep* special_steps;
  const TwinTokens* twins;
  const uint32_t* textless;
  const uint32_t* places;
  std::shared_ptr<HomeWalks> walks;
  const uint32_t* roots;  // [257], the first step of depth 1 of each byte or a later one

  explicit VocabularyTrie(const void* tables);
};

/// Builds steps in preorder of texts that come in their order.
class TrieBuilder {
 public:
  void add(std::string_view text, uint32_t value);
  /// Returns the steps; sizes are set. `last_of`, unless null, gets for each added text the number of its
  /// step.
  std::vector<TrieStep> take(std::vector<uint32_t>* places);

 private:
  std::vector<TrieStep> steps_;
  std::vector<uint32_t> path_, places_;  // steps of the last text
  std::vector<uint8_t> bytes_;
};

}  // namespace mote::grammar
