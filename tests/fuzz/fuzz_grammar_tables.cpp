// SPDX-License-Identifier: Apache-2.0
//
// Tables of a grammar, with a byte before them that says how far into them a vocabulary's begin: what is
// opened is used.
#include <cstring>
#include <vector>

#include "mote/grammar.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4) return 0;
  uint32_t split = 0;
  std::memcpy(&split, data, sizeof split);
  const size_t rest = size - 4, first = split % (rest + 1);
  std::vector<uint64_t> words((first + 7) / 8 + 1), tables((rest - first + 7) / 8 + 1);
  std::memcpy(words.data(), data + 4, first);
  std::memcpy(tables.data(), data + 4 + first, rest - first);
  mote_vocabulary vocabulary{};
  mote_grammar grammar{};
  if (mote_vocabulary_open(words.data(), first, nullptr, 0, &vocabulary, nullptr) != MOTE_OK) return 0;
  if (mote_grammar_open(tables.data(), rest - first, &vocabulary, &grammar, nullptr) != MOTE_OK) return 0;
  std::vector<uint64_t> memory(mote_matcher_bytes(&grammar) / 8 + 1),
      scratch(mote_matcher_scratch_bytes(&grammar) / 8 + 1);
  std::vector<uint32_t> mask((vocabulary.vocab + 31) / 32);
  mote_matcher* matcher = nullptr;
  if (mote_matcher_init(memory.data(), memory.size() * 8, &grammar, &matcher, nullptr) != MOTE_OK) return 0;
  for (uint32_t left = 8; left > 0; --left) {
    if (mote_matcher_allow(matcher, left, mask.data(), scratch.data(), scratch.size() * 8, nullptr) !=
        MOTE_OK)
      return 0;
    for (uint32_t id = left; id < vocabulary.vocab; ++id) {
      if ((mask[id / 32] >> id % 32 & 1) != 0 &&
          mote_matcher_accept(matcher, static_cast<int32_t>(id), nullptr) == MOTE_OK)
        break;
    }
  }
  return 0;
}
