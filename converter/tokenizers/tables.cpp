// SPDX-License-Identifier: Apache-2.0
#include "converter/tokenizers/tables.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>

#include "converter/error.h"
#include "converter/tokenizers/dfa.h"
#include "converter/tokenizers/parts.h"
#include "runtime/xxh64.h"
#include "schema/block_formats.h"

namespace mote::convert {
namespace {

constexpr size_t kMaxReplacements = 4;
constexpr size_t kMaxSplitters = 8;

/// Level by level, so that children lie side by side behind their parents.
std::vector<TrieNode> build_trie(const std::map<std::string, int32_t>& texts) {
  std::vector<TrieNode> nodes;
  if (texts.empty()) return nodes;
  struct Part {
    std::map<std::string, int32_t>::const_iterator begin, end;  // texts that start alike
    size_t depth;
  };
  std::deque<Part> open = {{texts.begin(), texts.end(), 0}};
  nodes.push_back({0, -1, 0, 0, 0});
  for (size_t at = 0; at < nodes.size(); ++at) {
    Part part = open.front();
    open.pop_front();
    if (part.begin->first.size() == part.depth) nodes[at].added = part.begin++->second;
    nodes[at].first_child = static_cast<uint32_t>(nodes.size());
    while (part.begin != part.end) {
      const char byte = part.begin->first[part.depth];
      auto next = part.begin;
      while (next != part.end && next->first[part.depth] == byte) ++next;
      nodes.push_back({0, -1, 0, static_cast<uint8_t>(byte), 0});
      ++nodes[at].children;
      open.push_back({part.begin, next, part.depth + 1});
      part.begin = next;
    }
  }
  return nodes;
}

file::Blob moved(file::Blob blob, uint64_t offset) {
  return {blob.offset() + offset, blob.bytes(), blob.xxh64()};
}

}  // namespace

template <class T>
file::Blob TokenizerTables::add(const std::vector<T>& table) {
  const uint64_t offset = bytes_.size();
  const uint64_t size = table.size() * sizeof(T);
  bytes_.resize(align_up(offset + size, kAlignment));
  if (size != 0) std::memcpy(bytes_.data() + offset, table.data(), size);
  return {offset, size, xxh64(table.data(), size)};
}

TokenizerTables::TokenizerTables(const TokenizerSpec& spec) : spec_(spec) {
  add_tokens();
  add_symbols();
  add_merges();
  add_added();
  add_splits();
  if (spec_.segment_prefix.size() > kMaxPrefixBytes || spec_.piece_prefix.size() > kMaxPrefixBytes ||
      spec_.replacements.size() > kMaxReplacements) {
    fail("the tokenizer's normalizer is too large");
  }
  for (const auto& [from, to] : spec_.replacements) {
    if (from.size() > kMaxReplacementBytes || to.size() > kMaxReplacementBytes) {
      fail("the tokenizer's normalizer replaces more than {} bytes", kMaxReplacementBytes);
    }
  }
}

void TokenizerTables::add_tokens() {
  std::vector<uint32_t> offsets = {0};
  std::vector<char> text;
  std::vector<uint8_t> flags;
  for (const TokenSpec& token : spec_.tokens) {
    text.insert(text.end(), token.text.begin(), token.text.end());
    if (text.size() > UINT32_MAX) fail("the vocabulary has more than 4 GiB of text");
    offsets.push_back(static_cast<uint32_t>(text.size()));
    flags.push_back(token.flags);
  }
  token_offsets_ = add(offsets);
  token_text_ = add(text);
  token_flags_ = add(flags);
}

void TokenizerTables::add_symbols() {
  std::vector<CharacterId> characters;
  for (const auto& [code_point, id] : spec_.characters) characters.push_back({code_point, id});
  characters_ = add(characters);
  std::map<std::string, uint32_t> words;  // the first id of each text
  for (const uint32_t id : spec_.whole_words) {
    const auto [found, added] = words.emplace(spec_.tokens[id].text, id);
    if (!added) found->second = std::min(found->second, id);
  }
  std::vector<uint32_t> ordered;
  for (const auto& [text, id] : words) ordered.push_back(id);
  whole_words_ = add(ordered);
}

void TokenizerTables::add_merges() {
  std::map<std::pair<uint32_t, uint32_t>, Merge> by_pair;  // of a pair given twice the last counts
  for (const MergeSpec& merge : spec_.merges) {
    by_pair[{merge.left, merge.right}] = {merge.right, merge.merged, merge.rank};
  }
  std::vector<uint32_t> offsets(spec_.tokens.size() + 1);
  std::vector<Merge> merges;
  for (const auto& [pair, merge] : by_pair) {
    merges.push_back(merge);
    ++offsets[pair.first + 1];
  }
  for (size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
  merge_offsets_ = add(offsets);
  merges_ = add(merges);
}

std::string TokenizerTables::normalized(const std::string& text) const {
  std::string result = text;
  for (const auto& [from, to] : spec_.replacements) result = replace_all(std::move(result), from, to);
  return spec_.segment_prefix + result;
}

void TokenizerTables::add_added() {
  std::vector<AddedToken> added;
  std::map<std::string, int32_t> raw, normal;
  for (const AddedTokenSpec& token : spec_.added) {
    const std::string text = token.normalized ? normalized(token.text) : token.text;
    (token.normalized ? normal : raw).emplace(text, static_cast<int32_t>(added.size()));
    if (token.normalized) longest_normal_ = std::max(longest_normal_, static_cast<uint32_t>(text.size()));
    added.push_back({static_cast<int32_t>(token.id), token.flags});
  }
  added_ = add(added);
  raw_trie_ = add(build_trie(raw));
  normal_trie_ = add(build_trie(normal));
}

void TokenizerTables::add_splits() {
  if (spec_.splits.size() > kMaxSplitters)
    fail("the tokenizer has more than {} pre-tokenizers", kMaxSplitters);
  std::vector<RegexPtr> expressions;
  for (const SplitSpec& split : spec_.splits) expressions.push_back(split.regex);
  const CharClasses classes(expressions);
  classes_ = classes.count();
  class_flags_ = add(classes.flags());
  class_blocks_ = add(classes.blocks);
  class_table_ = add(classes.table);
  for (const SplitSpec& split : spec_.splits) {
    const Dfa dfa = build_dfa(split.regex, classes);
    splitters_.push_back({dfa.states, add(dfa.transitions), split.keep_matches, split.keep_rest});
  }
}

flatbuffers::Offset<file::Tokenizer> TokenizerTables::write(flatbuffers::FlatBufferBuilder& builder,
                                                            uint64_t offset) const {
  std::vector<flatbuffers::Offset<file::Splitter>> splitters;
  for (const SplitterTable& splitter : splitters_) {
    const file::Blob transitions = moved(splitter.transitions, offset);
    splitters.push_back(file::CreateSplitter(builder, splitter.states, &transitions, splitter.keep_matches,
                                             splitter.keep_rest));
  }
  std::vector<flatbuffers::Offset<file::Replacement>> replacements;
  for (const auto& [from, to] : spec_.replacements) {
    replacements.push_back(
        file::CreateReplacement(builder, builder.CreateString(from), builder.CreateString(to)));
  }
  const file::Blob blobs[] = {
      moved(token_offsets_, offset), moved(token_text_, offset),    moved(token_flags_, offset),
      moved(characters_, offset),    moved(merge_offsets_, offset), moved(merges_, offset),
      moved(whole_words_, offset),   moved(class_flags_, offset),   moved(class_blocks_, offset),
      moved(class_table_, offset),   moved(added_, offset),         moved(raw_trie_, offset),
      moved(normal_trie_, offset)};
  return file::CreateTokenizerDirect(
      builder, file::TokenModel::bpe, unicode_version(), tokens(), &blobs[0], &blobs[1], &blobs[2],
      &spec_.byte_ids, &blobs[3], spec_.unknown_id, spec_.fuse_unknown, &blobs[4], &blobs[5], &blobs[6],
      classes_, &blobs[7], &blobs[8], &blobs[9], &splitters, &blobs[10], &blobs[11], &blobs[12],
      longest_normal_, spec_.segment_prefix.c_str(), &replacements, spec_.piece_prefix.c_str(),
      static_cast<file::PrefixRule>(spec_.piece_prefix_rule), &spec_.before_ids, &spec_.after_ids,
      spec_.trim_offsets, spec_.trim_keeps_prefix, spec_.strip_spaces, spec_.strip_first_token);
}

}  // namespace mote::convert
