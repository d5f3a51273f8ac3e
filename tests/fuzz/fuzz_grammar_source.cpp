// SPDX-License-Identifier: Apache-2.0
//
// A byte that picks a reader, then a schema, an expression or a grammar: it compiles within its limits, or is
// refused with a sentence; what compiles is opened, and its shortest answer is one of its answers.
#include "host/base/error.h"
#include "host/grammar/expression.h"
#include "host/grammar/gbnf.h"
#include "host/grammar/json_schema.h"
#include "host/grammar/vocabulary.h"
#include "mote/grammar.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/any_file.h"

using namespace mote::grammar;

namespace {

const std::vector<uint64_t>& vocabulary() {
  static const std::vector<uint64_t> words = [] {
    std::vector<std::string> texts;
    for (int byte = 0; byte < 256; ++byte) texts.emplace_back(1, static_cast<char>(byte));
    std::vector<TokenText> tokens;
    for (const std::string& text : texts) tokens.push_back({text, false});
    const std::vector<uint8_t> tables = vocabulary_tables(tokens);
    std::vector<uint64_t> aligned((tables.size() + 7) / 8);
    memcpy(aligned.data(), tables.data(), tables.size());
    return aligned;
  }();
  return words;
}

Source read(uint8_t kind, std::string_view text, Allowance& allowance) {
  if (kind % 3 == 0) return json_schema_source(text, {}, allowance);
  return kind % 3 == 1 ? expression_source(text, allowance) : gbnf_source(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  CompileLimits limits;
  limits.states = 4000;
  limits.seconds = 5;
  std::vector<uint8_t> tables;
  try {
    Allowance allowance(limits);
    tables = compile(read(data[0], {reinterpret_cast<const char*>(data + 1), size - 1}, allowance), nullptr,
                     limits);
  } catch (const mote::convert::Error&) {
    return 0;
  }
  std::vector<uint64_t> aligned((tables.size() + 7) / 8);
  memcpy(aligned.data(), tables.data(), tables.size());
  mote_vocabulary words{};
  mote_grammar grammar{};
  test::must(mote_vocabulary_open(vocabulary().data(), vocabulary().size() * 8, nullptr, 0, &words,
                                  nullptr) == MOTE_OK);
  test::must(mote_grammar_open(aligned.data(), tables.size(), &words, &grammar, nullptr) == MOTE_OK);
  std::vector<uint64_t> memory(mote_matcher_bytes(&grammar) / 8 + 1),
      scratch(mote_matcher_scratch_bytes(&grammar) / 8 + 1);
  std::vector<uint32_t> mask(8);
  mote_matcher* matcher = nullptr;
  test::must(mote_matcher_init(memory.data(), memory.size() * 8, &grammar, &matcher, nullptr) == MOTE_OK);
  uint32_t need = 0;
  test::must(mote_matcher_need(matcher, scratch.data(), scratch.size() * 8, &need, nullptr) == MOTE_OK);
  for (uint32_t left = need; left > 0 && left < 600; --left) {
    test::must(mote_matcher_allow(matcher, left, mask.data(), scratch.data(), scratch.size() * 8, nullptr) ==
               MOTE_OK);
    int32_t id = 0;
    while ((mask[static_cast<size_t>(id) / 32] >> id % 32 & 1) == 0) ++id;
    test::must(mote_matcher_accept(matcher, id, nullptr) == MOTE_OK);
  }
  test::must(need >= 600 || mote_matcher_finished(matcher) != 0);
  return 0;
}
