// SPDX-License-Identifier: Apache-2.0
#include "tests/structured/answers.h"

#include <bit>
#include <chrono>
#include <cstring>

#include "host/base/error.h"

namespace test {
namespace {

std::vector<uint64_t> aligned(const std::vector<uint8_t>& bytes) {
  std::vector<uint64_t> words((bytes.size() + 7) / 8);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

void require(mote_status status, const mote_error& error) {
  if (status != MOTE_OK) mote::convert::fail("{}", error.text);
}

/// A matcher and what it works in.
class Walk {
 public:
  Walk(const mote_grammar& grammar, uint32_t vocab)
      : mask_((vocab + 31) / 32),
        memory_((mote_matcher_bytes(&grammar) + 7) / 8),
        scratch_((mote_matcher_scratch_bytes(&grammar) + 7) / 8) {
    mote_error error{};
    require(mote_matcher_init(memory_.data(), memory_.size() * 8, &grammar, &matcher_, &error), error);
  }

  mote_matcher* get() { return matcher_; }
  const std::vector<uint32_t>& mask() const { return mask_; }
  mote_status allow(uint32_t left, mote_error* error) {
    return mote_matcher_allow(matcher_, left, mask_.data(), scratch_.data(), scratch_.size() * 8, error);
  }
  void accept(int32_t id) {
    mote_error error{};
    require(mote_matcher_accept(matcher_, id, &error), error);
  }
  uint32_t need() {
    uint32_t tokens = 0;
    mote_error error{};
    require(mote_matcher_need(matcher_, scratch_.data(), scratch_.size() * 8, &tokens, &error), error);
    return tokens;
  }
  /// Returns allowed id number `k`.
  int32_t nth(uint64_t k) const {
    for (size_t word = 0; word < mask_.size(); ++word) {
      const auto here = static_cast<uint64_t>(std::popcount(mask_[word]));
      if (k >= here) {
        k -= here;
        continue;
      }
      uint32_t bits = mask_[word];
      for (; k > 0; --k) bits &= bits - 1;
      return static_cast<int32_t>(word * 32 + static_cast<size_t>(std::countr_zero(bits)));
    }
    mote::convert::fail("no id is allowed");
  }
  uint64_t allowed() const {
    uint64_t count = 0;
    for (const uint32_t word : mask_) count += static_cast<uint64_t>(std::popcount(word));
    return count;
  }

 private:
  std::vector<uint32_t> mask_;
  std::vector<uint64_t> memory_, scratch_;
  mote_matcher* matcher_ = nullptr;
};

}  // namespace

AnswerWords::AnswerWords(const std::string& path) {
  if (path.empty()) {
    for (int byte = 0; byte < 256; ++byte) texts_.emplace_back(1, static_cast<char>(byte));
    for (const char* text :
         {"{\"", "\":", "\",", "\"}", "\": ", "\", \"", "},",  "],",      "true",     "null",     "name\"",
          "00",  "12",  "-1",  ".5",  "e+",   "abc",    "\\u", "\\ud83d", "\xC3\xA9", "\xF0\x9F", "\x98\x80"})
      texts_.emplace_back(text);
    special_.resize(texts_.size());
  } else {
    const mote::convert::TokenizerSpec spec = read_gguf_tokenizer(path);
    for (const auto& token : spec.tokens) {
      texts_.push_back(token.text);
      special_.push_back((token.flags & mote::kTokenSpecial) != 0);
    }
    tokenizer_ = std::make_unique<TextTokenizer>(spec);
  }
  texts_.emplace_back("</end>");
  special_.push_back(true);
  stop_ = static_cast<int32_t>(texts_.size()) - 1;
  std::vector<mote::grammar::TokenText> tokens;
  for (size_t id = 0; id < texts_.size(); ++id) tokens.push_back({texts_[id], special_[id]});
  const std::vector<uint8_t> bytes = mote::grammar::vocabulary_tables(tokens);
  tables_ = aligned(bytes);
  mote_error error{};
  require(mote_vocabulary_open(tables_.data(), bytes.size(), &stop_, 1, &open_, &error), error);
  trie_ = std::make_unique<mote::grammar::VocabularyTrie>(tables_.data());
}

std::vector<int32_t> AnswerWords::encode(const std::string& text) const {
  if (tokenizer_ != nullptr) return tokenizer_->encode(text, 0);
  std::vector<int32_t> ids;
  for (const char c : text) ids.push_back(static_cast<uint8_t>(c));
  return ids;
}

AnswerGrammar::AnswerGrammar(const AnswerWords& words, const mote::grammar::GrammarRequest& request,
                             bool masks)
    : words_(words) {
  const mote::grammar::VocabularyTrie& trie = words.trie();
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<uint8_t> bytes = mote::grammar::compile_request(request, masks ? &trie : nullptr, "");
  compile_ms_ = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  tables_ = aligned(bytes);
  mote_error error{};
  require(mote_grammar_open(tables_.data(), bytes.size(), &words.open(), &open_, &error), error);
}

bool AnswerGrammar::accepts(const std::string& text) const {
  Walk walk(open_, words_.count());
  return mote_matcher_accept_bytes(walk.get(), text.data(), text.size(), nullptr) == MOTE_OK &&
         mote_matcher_finished(walk.get()) != 0;
}

void AnswerGrammar::time_masks(const std::vector<int32_t>& ids, uint32_t left,
                               std::vector<double>* micros) const {
  Walk walk(open_, words_.count());
  for (size_t i = 0; i <= ids.size(); ++i) {
    mote_error error{};
    const auto begin = std::chrono::steady_clock::now();
    const mote_status status =
        walk.allow(left == UINT32_MAX ? left : left - static_cast<uint32_t>(i), &error);
    micros->push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
    require(status, error);
    const int32_t id = i == ids.size() ? words_.stop() : ids[i];
    if ((walk.mask()[static_cast<size_t>(id) / 32] >> id % 32 & 1) == 0)
      mote::convert::fail("step {}: id {} is not allowed", i, id);
    walk.accept(id);
  }
}

RandomAnswer AnswerGrammar::random_answer(uint32_t most_tokens, std::mt19937_64& random) const {
  RandomAnswer answer;
  Walk walk(open_, words_.count());
  const uint32_t need = walk.need();
  mote_error error{};
  const mote_status first = walk.allow(most_tokens, &error);
  // The ending of the fewest bytes need not be the one of the fewest tokens.
  if (first == MOTE_TOO_SMALL && need <= most_tokens)
    mote::convert::fail("{} tokens are needed, there are {}, and no mask: {}", need, most_tokens, error.text);
  if (first == MOTE_TOO_SMALL) {
    answer.too_short = true;
    answer.tokens = need;
    return answer;
  }
  require(first, error);
  for (uint32_t left = most_tokens;;) {
    const int32_t id = walk.nth(random() % walk.allowed());
    walk.accept(id);
    if (id == words_.stop()) break;
    answer.text += words_.text(static_cast<size_t>(id));
    ++answer.tokens;
    if (--left == 0 || mote_matcher_finished(walk.get()) == 2) break;
    require(walk.allow(left, &error), error);
  }
  answer.finished = mote_matcher_finished(walk.get()) != 0;
  return answer;
}

}  // namespace test
