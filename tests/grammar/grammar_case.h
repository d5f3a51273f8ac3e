// SPDX-License-Identifier: Apache-2.0
//
// Vocabularies and matchers for tests, and masks found by trying every id.
#pragma once

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "host/grammar/compile.h"
#include "host/grammar/vocabulary.h"
#include "mote/grammar.h"
#include "tests/support/unity_style.h"

namespace test {

/// Returns a number below n.
inline uint32_t below(std::mt19937& random, size_t n) { return static_cast<uint32_t>(random() % n); }

/// Bytes that are 8-byte aligned.
class AlignedTables {
 public:
  AlignedTables() = default;
  explicit AlignedTables(const std::vector<uint8_t>& bytes)
      : words_((bytes.size() + 7) / 8), size_(bytes.size()) {
    if (!bytes.empty()) std::memcpy(words_.data(), bytes.data(), bytes.size());
  }
  uint8_t* data() { return reinterpret_cast<uint8_t*>(words_.data()); }
  const void* data() const { return words_.data(); }
  size_t size() const { return size_; }

 private:
  std::vector<uint64_t> words_;
  size_t size_ = 0;
};

/// A vocabulary of texts, the last id of which is its stop id.
class Words {
 public:
  explicit Words(std::vector<std::string> texts, std::vector<bool> special = {}) : texts_(std::move(texts)) {
    special.resize(texts_.size());
    std::vector<mote::grammar::TokenText> tokens;
    for (size_t i = 0; i < texts_.size(); ++i) tokens.push_back({texts_[i], special[i]});
    tables_ = AlignedTables(mote::grammar::vocabulary_tables(tokens));
    stop_ = static_cast<int32_t>(texts_.size()) - 1;
    mote_error error{};
    const mote_status status =
        mote_vocabulary_open(tables_.data(), tables_.size(), &stop_, 1, &open_, &error);
    INFO(error.text);
    REQUIRE(status == MOTE_OK);
  }
  Words(const Words&) = delete;

  const mote_vocabulary& open() const { return open_; }
  mote::grammar::VocabularyTrie trie() const { return mote::grammar::VocabularyTrie(tables_.data()); }
  const std::string& text(int32_t id) const { return texts_[static_cast<size_t>(id)]; }
  uint32_t count() const { return static_cast<uint32_t>(texts_.size()); }
  int32_t stop() const { return stop_; }
  const AlignedTables& tables() const { return tables_; }

 private:
  std::vector<std::string> texts_;
  AlignedTables tables_;
  int32_t stop_ = 0;
  mote_vocabulary open_{};
};

/// Every byte, and longer tokens as byte-level vocabularies have them: with quotes, digits, blanks and parts
/// of characters; then special tokens, one without text, twins and the stop id.
inline std::unique_ptr<Words> byte_level_words() {
  std::vector<std::string> texts;
  for (int byte = 0; byte < 256; ++byte) texts.emplace_back(1, static_cast<char>(byte));
  for (const char* text : {"{\"",      "\":",       "\",",      "\"}",
                           "\": ",     "\", \"",    "\":\"",    "\",\"",
                           "{}",       "[]",        "[[",       "]]",
                           "},",       "],",        "}]",       "true",
                           "false",    "null",      " true",    "tr",
                           "ue",       "al",        "se",       "12",
                           "123",      "00",        "000",      "-1",
                           ".5",       "1.",        "e+",       "10",
                           "99",       "na",        "name",     "name\"",
                           "\"name",   "\"name\":", "abc",      "ab",
                           "bc",       "aaa",       "aaaaaaaa", "aaaaaaaaaaaaaaaa",
                           " a",       "a b",       "hello",    "hello\"",
                           "hello\",", "\\\"",      "\\n",      "\\u",
                           "\\u0",     "\\ud83d",   "\\\\",     "\n",
                           "  ",       "    ",      "\xC3\xA9", "\xC3\xA9t",
                           "\xE2\x82", "\x82\xAC",  "\xF0\x9F", "\xF0\x9F\x98\x80",
                           "on",       "off",       "open",     "<t",
                           "<tool>",   "ool>",      "</t",      "hi <to",
                           "ol>{",     "> ",        "2024",     "-01-",
                           "T00:",     ":00",       "0Z"})
    texts.emplace_back(text);
  std::mt19937 random(7);
  const std::string letters = "abcdefnorut\"{}[]:,0129.-e \\";
  for (int i = 0; i < 600; ++i) {
    std::string text;
    for (uint32_t n = 2 + below(random, 4); n > 0; --n)
      text.push_back(letters[below(random, letters.size())]);
    texts.push_back(text);
  }
  texts.emplace_back("a");  // a twin
  texts.emplace_back("");
  std::vector<bool> special(texts.size());
  for (const char* text : {"<s>", "<tool>", "ab", "</s>"}) {
    texts.emplace_back(text);
    special.push_back(true);
  }
  return std::make_unique<Words>(std::move(texts), std::move(special));
}

/// A grammar for a vocabulary, with masks of it or without.
class Tables {
 public:
  Tables(const mote::grammar::Source& source, const Words& words, bool masks,
         const mote::grammar::CompileLimits& limits = {})
      : words_(words) {
    const mote::grammar::VocabularyTrie trie = words.trie();
    tables_ = AlignedTables(mote::grammar::compile(source, masks ? &trie : nullptr, limits));
    mote_error error{};
    const mote_status status =
        mote_grammar_open(tables_.data(), tables_.size(), &words.open(), &open_, &error);
    INFO(error.text);
    REQUIRE(status == MOTE_OK);
  }
  Tables(const Tables&) = delete;

  const mote_grammar& open() const { return open_; }
  const Words& words() const { return words_; }
  const AlignedTables& bytes() const { return tables_; }

 private:
  const Words& words_;
  AlignedTables tables_;
  mote_grammar open_{};
};

class Matcher {
 public:
  explicit Matcher(const Tables& tables)
      : tables_(&tables),
        memory_((mote_matcher_bytes(&tables.open()) + 7) / 8),
        scratch_((mote_matcher_scratch_bytes(&tables.open()) + 7) / 8) {
    mote_matcher* made = nullptr;
    REQUIRE(mote_matcher_init(memory_.data(), memory_.size() * 8, &tables.open(), &made, nullptr) == MOTE_OK);
  }

  mote_matcher* get() { return reinterpret_cast<mote_matcher*>(memory_.data()); }
  const mote_matcher* get() const { return reinterpret_cast<const mote_matcher*>(memory_.data()); }
  bool accept(int32_t id) { return mote_matcher_accept(get(), id, nullptr) == MOTE_OK; }
  bool accept_text(const std::string& text) {
    return mote_matcher_accept_bytes(get(), text.data(), text.size(), nullptr) == MOTE_OK;
  }
  int finished() const { return mote_matcher_finished(get()); }
  uint32_t need() const {
    uint32_t tokens = 0;
    REQUIRE(mote_matcher_need(get(), scratch_.data(), scratch_.size() * 8, &tokens, nullptr) == MOTE_OK);
    return tokens;
  }
  /// Returns the allowed ids; none: the call failed.
  std::vector<int32_t> allowed(uint32_t left = UINT32_MAX) const {
    std::vector<uint32_t> mask((tables_->words().count() + 31) / 32);
    mote_error error{};
    if (mote_matcher_allow(get(), left, mask.data(), scratch_.data(), scratch_.size() * 8, &error) != MOTE_OK)
      return {};
    std::vector<int32_t> ids;
    for (uint32_t id = 0; id < tables_->words().count(); ++id) {
      if ((mask[id / 32] >> id % 32 & 1) != 0) ids.push_back(static_cast<int32_t>(id));
    }
    return ids;
  }
  /// Returns them as a copy of the matcher accepts each, and as the ending behind it then needs.
  std::vector<int32_t> accepted(uint32_t left = UINT32_MAX) const {
    std::vector<int32_t> ids;
    for (uint32_t id = 0; id < tables_->words().count(); ++id) {
      Matcher copy = *this;
      const bool stop = static_cast<int32_t>(id) == tables_->words().stop();
      if (!copy.accept(static_cast<int32_t>(id))) continue;
      if (!stop && left != UINT32_MAX && (left == 0 || copy.need() > left - 1)) continue;
      ids.push_back(static_cast<int32_t>(id));
    }
    return ids;
  }

 private:
  const Tables* tables_;
  std::vector<uint64_t> memory_;
  mutable std::vector<uint64_t> scratch_;
};

/// Returns whether the grammar accepts the whole text.
inline bool accepts(const Tables& tables, const std::string& text) {
  Matcher matcher(tables);
  return matcher.accept_text(text) && matcher.finished() != 0;
}

/// Walks at random over allowed tokens up to a stop id or so many tokens; returns the text.
inline std::string random_answer(const Tables& tables, uint32_t tokens, std::mt19937& random) {
  Matcher matcher(tables);
  std::string text;
  for (uint32_t left = tokens; left > 0; --left) {
    const std::vector<int32_t> ids = matcher.allowed(left);
    INFO("after: " << text << ", " << left << " tokens left");
    REQUIRE(!ids.empty());
    const int32_t id = ids[below(random, ids.size())];
    REQUIRE(matcher.accept(id));
    if (id == tables.words().stop()) break;
    text += tables.words().text(id);
  }
  INFO("the answer: " << text);
  REQUIRE(matcher.finished() != 0);
  return text;
}

}  // namespace test
