// SPDX-License-Identifier: Apache-2.0
#include "host/grammar/vocabulary.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "host/base/error.h"
#include "host/grammar/home_walks.h"
#include "host/grammar/table_writer.h"
#include "mote/text.h"
#include "runtime/file/xxh64.h"

namespace mote::grammar {

void TrieBuilder::add(std::string_view text, uint32_t value) {
  size_t shared = 0;
  while (shared < path_.size() && shared < text.size() &&
         bytes_[shared] == static_cast<uint8_t>(text[shared]))
    ++shared;
  for (; path_.size() > shared; path_.pop_back(), bytes_.pop_back()) {
    TrieStep& step = steps_[path_.back()];
    step.size = (steps_.size() - path_.back()) & 0xFFFFFF;
  }
  for (size_t i = shared; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (steps_.size() >= kNoTrieValue)
      convert::fail("a vocabulary's texts take more than {} steps", kNoTrieValue);
    path_.push_back(static_cast<uint32_t>(steps_.size()));
    bytes_.push_back(byte);
    TrieStep step = {};
    step.byte = byte;
    step.depth = path_.size() & 0xFF;
    step.value = kNoTrieValue;
    steps_.push_back(step);
  }
  steps_[path_.back()].value = value & 0xFFFFFF;
  places_.push_back(path_.back());
}

std::vector<TrieStep> TrieBuilder::take(std::vector<uint32_t>* places) {
  for (; !path_.empty(); path_.pop_back())
    steps_[path_.back()].size = (steps_.size() - path_.back()) & 0xFFFFFF;
  if (places != nullptr) *places = std::move(places_);
  return std::move(steps_);
}

std::vector<uint8_t> vocabulary_tables(const std::vector<TokenText>& tokens) {
  if (tokens.empty() || tokens.size() >= kNoTrieValue)
    convert::fail("a vocabulary of {} ids has no tables", tokens.size());
  std::vector<uint32_t> order, textless, places(tokens.size(), kNoPlace);
  for (uint32_t id = 0; id < tokens.size(); ++id) {
    const size_t length = tokens[id].text.size();
    (length == 0 || length > kMaxTokenBytes ? textless : order).push_back(id);
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const int less = tokens[a].text.compare(tokens[b].text);
    return less != 0 ? less < 0 : a < b;
  });
  TrieBuilder plain, special;
  std::vector<TwinTokens> twins;
  struct Last {
    uint32_t id = 0;
    bool any = false;
  } last[2];
  std::vector<uint32_t> firsts[2];
  size_t longest = 0;
  for (const uint32_t id : order) {
    const bool is_special = tokens[id].special;
    Last& before = last[is_special];
    longest = std::max(longest, tokens[id].text.size());
    if (before.any && tokens[before.id].text == tokens[id].text) {
      twins.push_back({before.id, id});
      continue;
    }
    before = {id, true};
    (is_special ? special : plain).add(tokens[id].text, id);
    firsts[is_special].push_back(id);
  }
  std::vector<uint32_t> at[2];
  const std::vector<TrieStep> steps = plain.take(&at[0]), special_steps = special.take(&at[1]);
  for (size_t i = 0; i < at[0].size(); ++i) places[firsts[0][i]] = at[0][i];
  for (size_t i = 0; i < at[1].size(); ++i) places[firsts[1][i]] = at[1][i] | kSpecialPlace;
  for (const TwinTokens& pair : twins) places[pair.twin] = places[pair.id];
  std::sort(twins.begin(), twins.end(), [](const TwinTokens& a, const TwinTokens& b) {
    return a.id != b.id ? a.id < b.id : a.twin < b.twin;
  });
  VocabularyHeader header = {kVocabularyMagic,
                             kVocabularyVersion,
                             0,
                             static_cast<uint32_t>(tokens.size()),
                             static_cast<uint32_t>(steps.size()),
                             static_cast<uint32_t>(special_steps.size()),
                             static_cast<uint32_t>(twins.size()),
                             static_cast<uint32_t>(textless.size()),
                             static_cast<uint32_t>(longest)};
  TableWriter writer(header);
  writer.add(steps);
  writer.add(special_steps);
  writer.add(twins);
  writer.add(textless);
  writer.add(places);
  std::vector<uint32_t> roots(257);
  for (uint32_t byte = 0, at = 0; byte <= 256; ++byte) {
    while (at < steps.size() && steps[at].byte < byte) at += steps[at].size;
    roots[byte] = at;
  }
  writer.add(roots);
  std::vector<uint8_t> tables = writer.take();
  header.hash = xxh64(tables.data() + sizeof header, tables.size() - sizeof header);
  std::memcpy(tables.data(), &header, sizeof header);
  return tables;
}

std::vector<uint8_t> vocabulary_tables(const mote_model* model) {
  mote_model_info info;
  mote_model_get_info(model, &info);
  std::vector<TokenText> tokens(info.vocab);
  for (uint32_t i = 0; i < tokens.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    size_t bytes = 0;
    const char* const text = mote_token_text(model, id, &bytes);
    tokens[i].special = mote_token_is_special(model, id) != 0;
    if (text != nullptr) tokens[i].text = {text, bytes};
  }
  return vocabulary_tables(tokens);
}

VocabularyTrie::VocabularyTrie(const void* tables)
    : header(static_cast<const VocabularyHeader*>(tables)), walks(std::make_shared<HomeWalks>()) {
  const uint8_t* at = static_cast<const uint8_t*>(tables) + sizeof(VocabularyHeader);
  const auto take = [&](uint64_t bytes) {
    const uint8_t* const section = at;
    at += (bytes + 7) / 8 * 8;
    return section;
  };
  steps = reinterpret_cast<const TrieStep*>(take(header->steps * sizeof(TrieStep)));
  special_steps = reinterpret_cast<const TrieStep*>(take(header->special_steps * sizeof(TrieStep)));
  twins = reinterpret_cast<const TwinTokens*>(take(header->twins * sizeof(TwinTokens)));
  textless = reinterpret_cast<const uint32_t*>(take(header->textless * sizeof(uint32_t)));
  places = reinterpret_cast<const uint32_t*>(take(header->vocab * sizeof(uint32_t)));
  roots = reinterpret_cast<const uint32_t*>(take(257 * sizeof(uint32_t)));
}

}  // namespace mote::grammar
