// SPDX-License-Identifier: Apache-2.0
#include "converter/tokenizers/tables.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>

#include "converter/tokenizers/token_texts.h"
#include "converter/tokenizers/unicode_data.h"
#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/work_budget.h"
#include "host/grammar/vocabulary.h"
#include "runtime/exec/arena.h"
#include "runtime/text/window.h"

namespace mote::convert {
namespace {

// Sizes for an added token that is normalized: the most bytes for each of its own, and room for a part.
constexpr size_t kMostExpansion = 16;
constexpr size_t kPartRoom = 1024;

/// Returns the bytes of the tokenizer's own file, so far as they became tables.
uint64_t bytes_of(const TokenizerSpec& spec) {
  uint64_t bytes = 0;
  for (const TokenSpec& token : spec.tokens) bytes += sizeof(token.flags) + token.text.size();
  for (const AddedTokenSpec& token : spec.added) bytes += token.text.size();
  for (const NormalizerSpec& step : spec.normalizers) {
    for (const auto& [key, text] : step.keys) bytes += key.size() + text.size();
  }
  return bytes + spec.merges.size() * sizeof(MergeSpec);
}

file::Blob moved(file::Blob blob, uint64_t offset) {
  return {blob.offset() + offset, blob.bytes(), blob.xxh64()};
}

}  // namespace

/// So that children lie side by side behind their parents.
std::vector<TrieNode> build_trie(const std::map<std::string, int32_t>& texts) {
  std::vector<TrieNode> nodes;
  if (texts.empty()) return nodes;
  for (const auto& [text, value] : texts) charge_work(text.size());
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
    charge_bytes(sizeof(TrieNode) + sizeof(Part));
    while (part.begin != part.end) {
      const char byte = part.begin->first[part.depth];
      auto next = part.begin;
      while (next != part.end && next->first[part.depth] == byte) {
        charge_work(1);
        ++next;
      }
      nodes.push_back({0, -1, 0, static_cast<uint8_t>(byte), 0});
      ++nodes[at].children;
      open.push_back({part.begin, next, part.depth + 1});
      part.begin = next;
    }
  }
  return nodes;
}

TokenizerTables::TokenizerTables(const TokenizerSpec& spec, bool class_ranges)
    : spec_(spec), small_classes_(class_ranges) {
  const WorkBudget budget("the tokenizer", bytes_of(spec));
  check_normalization();
  add_tokens();
  add_symbols();
  if (spec_.model == ModelSpec::bpe) {
    add_merges();
  } else {
    add_pieces();
  }
  add_splits();
  add_added();
}

bool TokenizerTables::adds_all_from(uint32_t first) const {
  std::vector<bool> added(spec_.tokens.size());
  for (const AddedTokenSpec& token : spec_.added) added[token.id] = true;
  return first >= added.size() ||
         std::all_of(added.begin() + first, added.end(), [](bool is_added) { return is_added; });
}

void TokenizerTables::check_normalization() const {
  if (spec_.segment_prefix.size() > kMaxPrefixBytes || spec_.piece_prefix.size() > kMaxPrefixBytes ||
      spec_.continuing_prefix.size() > kMaxPrefixBytes || spec_.replacements.size() > kMaxReplacements ||
      spec_.normalizers.size() > kMaxNormalizers) {
    fail("the tokenizer's normalizer is too large");
  }
  for (const auto& [from, to] : spec_.replacements) {
    if (from.size() > kMaxReplacementBytes || to.size() > kMaxReplacementBytes) {
      fail("the tokenizer's normalizer replaces more than {} bytes", kMaxReplacementBytes);
    }
    if (!spec_.normalizers.empty() && !single_character(from)) {
      fail("the tokenizer replaces '{}' after other normalizers", shown(from));
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
  token_offsets_ = bytes_.add(offsets);
  token_text_ = bytes_.add(text);
  token_flags_ = bytes_.add(flags);
}

void TokenizerTables::add_vocabulary(uint32_t vocab) {
  std::vector<grammar::TokenText> tokens(vocab);
  for (uint32_t id = 0; id < vocab && id < spec_.tokens.size(); ++id)
    tokens[id] = {spec_.tokens[id].text, (spec_.tokens[id].flags & kTokenSpecial) != 0};
  vocabulary_ = bytes_.add(grammar::vocabulary_tables(tokens));
}

void TokenizerTables::add_symbols() {
  std::vector<CharacterId> characters;
  for (const auto& [code_point, id] : spec_.characters) characters.push_back({code_point, id});
  characters_ = bytes_.add(characters);
  std::map<std::string, uint32_t> words;  // the first id of each text
  for (const uint32_t id : spec_.whole_words) {
    const auto [found, added] = words.emplace(spec_.tokens[id].text, id);
    if (!added) found->second = std::min(found->second, id);
  }
  std::vector<uint32_t> ordered;
  for (const auto& [text, id] : words) ordered.push_back(id);
  whole_words_ = bytes_.add(ordered);
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
  merge_offsets_ = bytes_.add(offsets);
  merges_ = bytes_.add(merges);
}

void TokenizerTables::add_pieces() {
  std::map<std::string, int32_t> pieces;
  for (const auto& [text, id] : spec_.pieces) pieces.emplace(text, static_cast<int32_t>(id));
  std::vector<double> foreign_scores;
  if (spec_.sentence_piece) {
    for (const auto& [text, score] : spec_.sentence_piece->foreign) {
      pieces.emplace(text, static_cast<int32_t>(tokens() + foreign_scores.size()));
      foreign_scores.push_back(double{score});
    }
    std::map<std::string, int32_t> unknown;
    for (const auto& [text, id] : spec_.sentence_piece->unknown_pieces)
      unknown.emplace(text, static_cast<int32_t>(id));
    foreign_scores_ = bytes_.add(foreign_scores);
    unknown_pieces_ = bytes_.add(build_trie(unknown));
  }
  pieces_ = bytes_.add(build_trie(pieces));
  if (spec_.model != ModelSpec::unigram) return;
  std::vector<double> scores = spec_.scores;
  scores.resize(spec_.tokens.size());
  scores_ = bytes_.add(scores);
}

/// The runtime's own normalization of whole texts, on the tables made so far.
std::vector<std::string> TokenizerTables::normalized(const std::vector<std::string>& texts) const {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(write(builder, 0));
  const auto* root = flatbuffers::GetRoot<file::Tokenizer>(builder.GetBufferPointer());
  std::vector<uint64_t> segment(bytes().size() / sizeof(uint64_t));
  std::memcpy(segment.data(), bytes().data(), bytes().size());
  Tokenizer view;
  mote_error error{};
  const Segment in = {reinterpret_cast<const uint8_t*>(segment.data()), bytes().size()};
  if (open_tokenizer(*root, in, tokens(), false, false, &view, &error) != MOTE_OK) fail("{}", error.text);
  std::vector<std::string> result;
  for (const std::string& text : texts) {
    const auto room = static_cast<uint32_t>(text.size() * kMostExpansion + kPartRoom);
    Arena counting;
    take_text_scratch(&counting, room);
    charge_bytes(counting.used());
    std::vector<uint64_t> block(counting.used() / sizeof(uint64_t));
    Arena arena(block.data(), counting.used());
    Window window(view, take_text_scratch(&arena, room), reinterpret_cast<const uint8_t*>(text.data()));
    window.start(0, static_cast<uint32_t>(text.size()));
    window.fill();
    if (!window.complete()) fail("the added token '{}' is too long when normalized", shown(text));
    result.emplace_back(window.text() + window.begin(), window.text() + window.end());
  }
  return result;
}

void TokenizerTables::add_added() {
  std::vector<std::string> texts;
  for (const AddedTokenSpec& token : spec_.added) {
    if (token.normalized) texts.push_back(token.text);
  }
  const std::vector<std::string> normal_texts = texts.empty() ? texts : normalized(texts);
  auto next_normal = normal_texts.begin();
  std::vector<AddedToken> added;
  std::map<std::string, int32_t> raw, normal;
  for (const AddedTokenSpec& token : spec_.added) {
    const std::string text = token.normalized ? *next_normal++ : token.text;
    if (text.empty()) continue;  // found nowhere
    (token.normalized ? normal : raw).emplace(text, static_cast<int32_t>(added.size()));
    if (token.normalized) longest_normal_ = std::max(longest_normal_, static_cast<uint32_t>(text.size()));
    added.push_back({static_cast<int32_t>(token.id), token.flags});
  }
  added_ = bytes_.add(added);
  raw_trie_ = bytes_.add(build_trie(raw));
  normal_trie_ = bytes_.add(build_trie(normal));
}

void TokenizerTables::add_splits() {
  if (spec_.splits.size() > kMaxSplitters)
    fail("the tokenizer has more than {} pre-tokenizers", kMaxSplitters);
  std::vector<RegexPtr> expressions;
  for (const SplitSpec& split : spec_.splits) expressions.push_back(split.regex);
  for (const NormalizerSpec& step : spec_.normalizers) {
    if (step.matcher != nullptr) expressions.push_back(step.matcher);
  }
  const CharClasses classes(expressions, find_cuts(spec_.normalizers));
  classes_ = classes.count();
  class_flags_ = bytes_.add(classes.flags());
  if (small_classes_) {
    class_ranges_ = bytes_.add(classes.ranges);
  } else {
    class_blocks_ = bytes_.add(classes.blocks);
    class_table_ = bytes_.add(classes.table);
  }
  for (const SplitSpec& split : spec_.splits) {
    const Dfa dfa = build_dfa(split.regex, classes);
    splitters_.push_back({dfa.states, bytes_.add(dfa.transitions), split.keep_matches, split.keep_rest});
  }
  bool canonical = false, composed = false;
  for (const NormalizerSpec& step : spec_.normalizers) {
    normalizers_.push_back(add_normalizer(step, classes, bytes_));
    composed = composed || step.kind == NormalizerKind::compose;
    canonical = canonical || composed || step.kind == NormalizerKind::decompose;
  }
  if (canonical) combining_ = bytes_.add(combining_ranges());
  if (composed) compositions_ = bytes_.add(compositions());
}

namespace {

flatbuffers::Offset<file::Splitter> write_splitter(flatbuffers::FlatBufferBuilder& builder,
                                                   const SplitterTable& splitter, uint64_t offset) {
  const file::Blob transitions = moved(splitter.transitions, offset);
  return file::CreateSplitter(builder, splitter.states, &transitions, splitter.keep_matches,
                              splitter.keep_rest);
}

flatbuffers::Offset<file::Normalizer> write_normalizer(flatbuffers::FlatBufferBuilder& builder,
                                                       const NormalizerTable& step, uint64_t offset) {
  flatbuffers::Offset<file::Splitter> matcher;
  if (step.matcher) matcher = write_splitter(builder, *step.matcher, offset);
  const file::Blob blobs[] = {moved(step.blocks, offset), moved(step.table, offset),
                              moved(step.text_offsets, offset), moved(step.text, offset),
                              moved(step.trie, offset)};
  return file::CreateNormalizer(builder, static_cast<file::NormalizerKind>(step.kind), &blobs[0], &blobs[1],
                                &blobs[2], &blobs[3], &blobs[4], matcher, step.left, step.right);
}

}  // namespace

flatbuffers::Offset<file::Tokenizer> TokenizerTables::write(flatbuffers::FlatBufferBuilder& builder,
                                                            uint64_t offset) const {
  std::vector<flatbuffers::Offset<file::Splitter>> splitters;
  for (const SplitterTable& splitter : splitters_)
    splitters.push_back(write_splitter(builder, splitter, offset));
  std::vector<flatbuffers::Offset<file::Replacement>> replacements;
  for (const auto& [from, to] : spec_.replacements) {
    replacements.push_back(
        file::CreateReplacement(builder, builder.CreateString(from), builder.CreateString(to)));
  }
  std::vector<flatbuffers::Offset<file::Normalizer>> normalizers;
  for (const NormalizerTable& step : normalizers_)
    normalizers.push_back(write_normalizer(builder, step, offset));
  const file::Blob blobs[] = {
      moved(token_offsets_, offset),  moved(token_text_, offset),     moved(token_flags_, offset),
      moved(characters_, offset),     moved(merge_offsets_, offset),  moved(merges_, offset),
      moved(whole_words_, offset),    moved(class_flags_, offset),    moved(class_blocks_, offset),
      moved(class_table_, offset),    moved(added_, offset),          moved(raw_trie_, offset),
      moved(normal_trie_, offset),    moved(combining_, offset),      moved(compositions_, offset),
      moved(pieces_, offset),         moved(scores_, offset),         moved(class_ranges_, offset),
      moved(unknown_pieces_, offset), moved(foreign_scores_, offset), moved(vocabulary_, offset)};
  flatbuffers::Offset<file::SentencePiece> sentence_piece;
  if (spec_.sentence_piece)
    sentence_piece = file::CreateSentencePiece(builder, &blobs[18], &blobs[19], spec_.sentence_piece->start);
  return file::CreateTokenizerDirect(
      builder, static_cast<file::TokenModel>(spec_.model), unicode_version(), tokens(), &blobs[0], &blobs[1],
      &blobs[2], &spec_.byte_ids, &blobs[3], spec_.unknown_id, spec_.fuse_unknown, &blobs[4], &blobs[5],
      &blobs[6], classes_, &blobs[7], &blobs[8], &blobs[9], &splitters, &blobs[10], &blobs[11], &blobs[12],
      longest_normal_, spec_.segment_prefix.c_str(), &replacements, spec_.piece_prefix.c_str(),
      static_cast<file::PrefixRule>(spec_.piece_prefix_rule), &spec_.single.before, &spec_.single.after,
      spec_.trim_offsets, spec_.trim_keeps_prefix, spec_.strip_spaces, spec_.strip_first_token, &normalizers,
      &blobs[13], &blobs[14], spec_.prefix_depth, &spec_.last_byte_ids, &blobs[15],
      spec_.continuing_prefix.c_str(), spec_.word_characters, &blobs[16], spec_.unknown_score,
      &spec_.pair.before, &spec_.pair.between, &spec_.pair.after, &spec_.single.types, &spec_.pair.types,
      &spec_.plain_pair_types, spec_.no_pairs, small_classes_ ? &blobs[17] : nullptr, sentence_piece,
      spec_.cut_left, vocabulary_.bytes() == 0 ? nullptr : &blobs[20]);
}

}  // namespace mote::convert
