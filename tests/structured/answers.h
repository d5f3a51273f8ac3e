// SPDX-License-Identifier: Apache-2.0
//
// A vocabulary and a grammar as scripts ask about them: what the tables take, which masks steps have, what
// random answers are.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "converter/tokenizers/tokenizer_spec.h"
#include "host/grammar/request.h"
#include "host/grammar/vocabulary.h"
#include "mote/grammar.h"
#include "tests/support/text_tokenizer.h"

namespace test {

/// The vocabulary of a tokenizer in a GGUF, or of single bytes and a few longer texts.
class AnswerWords {
 public:
  /// `path` is empty for the vocabulary of bytes.
  explicit AnswerWords(const std::string& path);
  AnswerWords(const AnswerWords&) = delete;

  const std::string& text(size_t id) const { return texts_[id]; }
  bool special(size_t id) const { return special_[id]; }
  uint32_t count() const { return static_cast<uint32_t>(texts_.size()); }
  int32_t stop() const { return stop_; }
  const mote_vocabulary& open() const { return open_; }
  const mote::grammar::VocabularyTrie& trie() const { return *trie_; }
  /// Returns the ids as the tokenizer splits the text, or those of its bytes.
  std::vector<int32_t> encode(const std::string& text) const;

 private:
  std::vector<std::string> texts_;
  std::vector<bool> special_;
  int32_t stop_ = 0;
  std::vector<uint64_t> tables_;
  mote_vocabulary open_ = {};
  std::unique_ptr<mote::grammar::VocabularyTrie> trie_;
  std::unique_ptr<TextTokenizer> tokenizer_;
};

/// What an answer at random came to.
struct RandomAnswer {
  std::string text;
  uint32_t tokens = 0;  // those that were picked, or, where it is `too_short`, those that it needs
  bool too_short = false, finished = false;
};

class AnswerGrammar {
 public:
  /// Throws convert::Error with the sentence of a refusal.
  AnswerGrammar(const AnswerWords& words, const mote::grammar::GrammarRequest& request, bool masks);
  AnswerGrammar(const AnswerGrammar&) = delete;

  size_t bytes() const { return tables_.size() * sizeof(uint64_t); }
  double compile_ms() const { return compile_ms_; }
  bool accepts(const std::string& text) const;
  /// Appends the microseconds of the mask of each step of an answer and of its end; throws where a step is
  /// not allowed.
  void time_masks(const std::vector<int32_t>& ids, uint32_t left, std::vector<double>* micros) const;
  /// Picks uniformly among allowed tokens until nothing may follow, a stop id or so many tokens.
  RandomAnswer random_answer(uint32_t most_tokens, std::mt19937_64& random) const;

 private:
  const AnswerWords& words_;
  double compile_ms_ = 0;
  std::vector<uint64_t> tables_;
  mote_grammar open_ = {};
};

}  // namespace test
