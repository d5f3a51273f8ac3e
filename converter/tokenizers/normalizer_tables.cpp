// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "converter/tokenizers/tables.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

/// Texts one behind the other and where each starts.
void add_texts(const std::vector<std::u32string>& texts, NormalizerTable& table, TableBytes& bytes) {
  std::vector<uint32_t> offsets = {0}, all;
  for (const std::u32string& text : texts) {
    all.insert(all.end(), text.begin(), text.end());
    offsets.push_back(static_cast<uint32_t>(all.size()));
  }
  table.text_offsets = bytes.add(offsets);
  table.text = bytes.add(all);
}

void add_map(const CharacterMap& map, NormalizerTable& table, TableBytes& bytes) {
  std::map<std::array<uint16_t, kClassBlockSize>, uint16_t> known;
  std::vector<uint16_t> blocks, all;
  for (uint32_t begin = 0; begin < kCodePoints; begin += kClassBlockSize) {
    std::array<uint16_t, kClassBlockSize> block;
    std::copy_n(map.table().begin() + begin, kClassBlockSize, block.begin());
    const auto [found, added] = known.try_emplace(block, static_cast<uint16_t>(known.size()));
    if (added) all.insert(all.end(), block.begin(), block.end());
    blocks.push_back(found->second);
  }
  table.blocks = bytes.add(blocks);
  table.table = bytes.add(all);
  add_texts(map.texts(), table, bytes);
}

}  // namespace

NormalizerTable add_normalizer(const NormalizerSpec& step, const CharClasses& classes, TableBytes& bytes) {
  NormalizerTable table{step.kind, {}, {}, {}, {}, {}, {}, step.left, step.right};
  if (step.map) add_map(*step.map, table, bytes);
  if (step.matcher != nullptr) {
    const Dfa dfa = build_dfa(step.matcher, classes);
    table.matcher = {dfa.states, bytes.add(dfa.transitions), true, true};
  }
  if (step.kind == NormalizerKind::replace) add_texts({step.content}, table, bytes);
  if (step.kind != NormalizerKind::clusters && step.kind != NormalizerKind::longest) return table;
  std::map<std::u32string, int32_t> numbers;
  std::vector<std::u32string> texts;
  std::map<std::string, int32_t> keys;
  for (const auto& [key, text] : step.keys) {
    const auto [found, added] = numbers.emplace(text, static_cast<int32_t>(texts.size()));
    if (added) texts.push_back(text);
    keys[key] = found->second;
  }
  if (texts.empty() && step.kind == NormalizerKind::clusters) fail("a precompiled character map is empty");
  if (texts.empty()) texts.emplace_back();  // of no key
  add_texts(texts, table, bytes);
  table.trie = bytes.add(build_trie(keys));
  return table;
}

}  // namespace mote::convert
