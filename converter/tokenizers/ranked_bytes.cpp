// SPDX-License-Identifier: Apache-2.0
//
// Vocabularies of bytes by rank: Mistral's tekken.json, and tiktoken's files, a line of base64 and a rank for
// each token. A token is made of any two that make it up, the lower rank first; a word that is a token is
// taken whole.
#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "converter/tokenizers/json_values.h"
#include "converter/tokenizers/piece_files.h"
#include "converter/tokenizers/token_texts.h"
#include "converter/tokenizers/tokenizer_json.h"
#include "host/base/base64.h"
#include "host/base/json_text.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kTekkenFile = "tekken.json";
constexpr uint32_t kMostRanks = 1u << 20;
/// The bytes of a sign that fills a gap between two ids: its text, its entry and the tables that are made of
/// them.
constexpr uint64_t kBytesOfFiller = 512;

/// How transformers cuts text for tiktoken's files, which do not say it.
constexpr const char* kTiktokenWords =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/// Tokens by rank, and what stands before the first of them.
struct RankedBytes {
  std::vector<std::string> tokens;
  uint32_t first_id = 0;
  std::vector<std::pair<std::string, uint32_t>> signs;  // special tokens with their ids
  std::string words;                                    // expression
};

std::string signs_of(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += byte_sign(static_cast<uint8_t>(byte));
  return text;
}

/// Every way in which two tokens make a third, by its rank and then by theirs.
json merges_of(const std::vector<std::string>& tokens) {
  std::unordered_map<std::string_view, uint32_t> ranks;
  for (uint32_t rank = 0; rank < tokens.size(); ++rank) ranks[tokens[rank]] = rank;
  json list = json::array();
  std::vector<std::pair<uint32_t, uint32_t>> local;
  for (const std::string& token : tokens) {
    const std::string_view text = token;
    local.clear();
    for (size_t at = 1; at < text.size(); ++at) {
      charge_work(text.size());
      const auto left = ranks.find(text.substr(0, at)), right = ranks.find(text.substr(at));
      if (left != ranks.end() && right != ranks.end()) local.emplace_back(left->second, right->second);
    }
    std::sort(local.begin(), local.end());
    for (const auto& [left, right] : local) list.push_back({signs_of(tokens[left]), signs_of(tokens[right])});
  }
  return list;
}

// ---- Files ----

RankedBytes read_tekken(const fs::path& path) {
  const json root = read_json_object(path, kTokenizerJsonDepth);
  const JsonValues values(path.string());
  const json& config = values.object(root, "config");
  RankedBytes ranked;
  ranked.words = values.text(config, "pattern");
  std::map<uint32_t, std::string> signs;
  if (values.find(root, "special_tokens") == nullptr)
    values.refuse("special_tokens is missing: files of before 2025 name theirs nowhere");
  for (const json& entry : values.list(root, "special_tokens")) {
    if (!entry.is_object()) values.refuse_value("special_tokens", &entry, "an object");
    signs[values.number(entry, "rank", UINT32_MAX)] = values.text(entry, "token_str");
  }
  if (!signs.empty() && signs.rbegin()->first + 1 != signs.size())
    values.refuse("the ranks of special_tokens are not 0 to {}", signs.size() - 1);
  ranked.first_id = values.number(config, "default_num_special_tokens", static_cast<uint32_t>(signs.size()));
  if (ranked.first_id < signs.size() || ranked.first_id > kMostRanks)
    values.refuse("default_num_special_tokens {} of {} special tokens", ranked.first_id, signs.size());
  for (uint32_t id = 0; id < ranked.first_id; ++id) {
    charge_bytes(kBytesOfFiller);
    ranked.signs.emplace_back(id < signs.size() ? signs[id] : fmt::format("<SPECIAL_{}>", id), id);
  }
  const uint32_t all = values.number(config, "default_vocab_size", UINT32_MAX);
  for (const json& entry : values.list(root, "vocab")) {
    if (ranked.tokens.size() + ranked.first_id >= all) break;  // the rest fills the file up
    if (!entry.is_object()) values.refuse_value("vocab", &entry, "an object");
    const auto bytes = from_base64(values.text(entry, "token_bytes"));
    if (!bytes || bytes->empty()) values.refuse_value("token_bytes", &entry, "base64");
    ranked.tokens.push_back(*bytes);
  }
  return ranked;
}

/// A line's token and rank.
std::optional<std::pair<std::string, uint32_t>> ranked_line(std::string_view line) {
  const size_t space = line.find(' ');
  if (space == std::string_view::npos || space == 0) return std::nullopt;
  auto bytes = from_base64(line.substr(0, space));
  uint32_t rank = 0;
  const std::string_view number = line.substr(space + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), rank);
  if (!bytes || bytes->empty() || error != std::errc() || end != number.data() + number.size())
    return std::nullopt;
  return std::pair(std::move(*bytes), rank);
}

std::string_view next_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

std::string_view text_of_file(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

RankedBytes read_lines(const fs::path& path) {
  const MappedFile file(path);
  const JsonValues values(path.string());
  std::map<uint32_t, std::string> tokens;
  std::string_view text = text_of_file(file);
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = next_line(text);
    charge_work(line.size() + 1);
    if (line.empty()) continue;
    auto entry = ranked_line(line);
    if (!entry) values.refuse("line {} is no base64 with a rank", number);
    tokens[entry->second] = std::move(entry->first);
  }
  if (tokens.empty() || tokens.rbegin()->first + 1 != tokens.size() || tokens.size() > kMostRanks)
    values.refuse("the ranks of {} tokens are not 0 to {}", tokens.size(), tokens.size() - 1);
  RankedBytes ranked;
  ranked.words = kTiktokenWords;
  for (auto& [rank, token] : tokens) ranked.tokens.push_back(std::move(token));
  return ranked;
}

/// Special tokens behind tiktoken's, which has no place for them: by added_tokens_decoder, gaps filled up,
/// and else in the order of extra_special_tokens.
void add_declared_signs(const json& config, const JsonValues& settings, RankedBytes& ranked) {
  uint32_t next = static_cast<uint32_t>(ranked.tokens.size());
  std::map<uint32_t, std::string> declared;
  if (settings.find(config, "added_tokens_decoder") != nullptr) {
    for (const auto& [id, token] : settings.object(config, "added_tokens_decoder").items()) {
      uint32_t number = 0;
      const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number);
      if (error != std::errc() || end != id.data() + id.size() || !token.is_object() || number > kMostRanks)
        settings.refuse_value("added_tokens_decoder." + id, &token, "a token");
      declared[number] = settings.text(token, "content");
    }
  }
  if (!declared.empty()) {
    for (; next <= declared.rbegin()->first; ++next) {
      charge_bytes(kBytesOfFiller);
      const auto found = declared.find(next);
      ranked.signs.emplace_back(
          found == declared.end() ? fmt::format("<|reserved_token_{}|>", next) : found->second, next);
    }
  }
  std::set<std::string> known;
  for (const auto& [text, id] : ranked.signs) known.insert(text);
  for (const char* key : {"extra_special_tokens", "additional_special_tokens"}) {
    const json* extra = settings.find(config, key);
    if (extra == nullptr || !extra->is_array()) continue;
    for (const json& token : *extra) {
      if (!token.is_string()) continue;
      const std::string text = token.get<std::string>();
      if (known.insert(text).second) ranked.signs.emplace_back(text, next++);
    }
  }
}

json ranked_json(const RankedBytes& ranked, const SideFiles& side, const JsonValues& values) {
  json vocabulary = json::object(), added = json::array();
  for (uint32_t rank = 0; rank < ranked.tokens.size(); ++rank)
    vocabulary[signs_of(ranked.tokens[rank])] = rank + ranked.first_id;
  if (vocabulary.size() != ranked.tokens.size()) values.refuse("it has a token twice");
  std::map<std::string, uint32_t> ids;
  for (const auto& [text, id] : ranked.signs) {
    added.push_back({{"id", id}, {"content", text}, {"special", true}, {"normalized", false}});
    ids[text] = id;
  }
  const JsonValues settings(side.config_path());
  const auto sign = [&](const char* key) {
    return settings.flag(side.config(), std::string("add_") + key, false) ? side.named_token(key, "") : "";
  };
  const json split = {
      {"type", "Split"}, {"pattern", {{"Regex", ranked.words}}}, {"behavior", "Isolated"}, {"invert", false}};
  const json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  const auto id_of = [&](const std::string& token) -> uint32_t {
    const auto found = ids.find(token);
    if (found == ids.end()) values.refuse("it has no '{}'", shown(token));
    return found->second;
  };
  return {{"added_tokens", added},
          {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", json::array({split, bytes})}}},
          {"model",
           {{"type", "BPE"},
            {"vocab", vocabulary},
            {"merges", merges_of(ranked.tokens)},
            {"ignore_merges", true}}},
          {"post_processor", begin_and_end_json(sign("bos_token"), sign("eos_token"), id_of)},
          {"decoder", {{"type", "ByteLevel"}}}};
}

}  // namespace

bool has_ranked_lines(const fs::path& path) {
  const MappedFile file(path);
  std::string_view text = text_of_file(file);
  return ranked_line(next_line(text)).has_value();
}

fs::path find_ranked_lines(const fs::path& directory) {
  std::error_code error;
  if (const fs::path named = directory / "tiktoken.model"; fs::exists(named, error)) return named;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".tiktoken") found.push_back(entry.path());
  }
  if (found.size() == 1) return found.front();
  const fs::path merged = directory / "tokenizer.model";
  if (fs::exists(merged, error) && has_ranked_lines(merged)) return merged;
  return {};
}

std::optional<TokenizerSpec> read_ranked_bytes(const Source& source, const SideFiles& side,
                                               DecoderNeed need) {
  std::error_code ignored;
  fs::path path = source.text_files() / kTekkenFile;
  RankedBytes ranked;
  if (fs::exists(path, ignored)) {
    ranked = read_tekken(path);
  } else {
    path = find_ranked_lines(source.text_files());
    if (path.empty()) return std::nullopt;
    ranked = read_lines(path);
    add_declared_signs(side.config(), JsonValues(side.config_path()), ranked);
  }
  const JsonValues values(path.string());
  if (ranked.tokens.empty()) values.refuse("the vocabulary is empty");
  json root = ranked_json(ranked, side, values);
  side.apply(root, path.string());
  return read_tokenizer_json(root, path.string(), need);
}

}  // namespace mote::convert
