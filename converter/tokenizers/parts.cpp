// SPDX-License-Identifier: Apache-2.0
#include "converter/tokenizers/parts.h"

#include <algorithm>

#include "host/base/error.h"
#include "host/base/work_budget.h"
#include "runtime/text/utf8.h"

namespace mote::convert {
namespace {

bool stands_for_itself(uint32_t byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

const std::array<std::string, 256>& byte_signs() {
  static const auto kSigns = [] {
    std::array<std::string, 256> signs;
    uint32_t next = 0x100;
    for (uint32_t byte = 0; byte < 256; ++byte)
      signs[byte] = utf8_of(stands_for_itself(byte) ? byte : next++);
    return signs;
  }();
  return kSigns;
}

}  // namespace

const char* const kGpt2Words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

std::string byte_sign(uint8_t byte) { return byte_signs()[byte]; }

std::string from_byte_signs(const std::string& text) {
  static const auto kBytes = [] {
    std::map<std::string, char> bytes;
    for (uint32_t byte = 0; byte < 256; ++byte) bytes[byte_signs()[byte]] = static_cast<char>(byte);
    return bytes;
  }();
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t length = std::max(utf8_length(static_cast<uint8_t>(text[at])), 1u);
    const auto found = kBytes.find(text.substr(at, length));
    if (found == kBytes.end()) return text;
    result += found->second;
    at += length;
  }
  return result;
}

std::optional<uint8_t> byte_of_token(std::string_view text) {
  if (text.size() != 6 || text.substr(0, 3) != "<0x" || text[5] != '>') return std::nullopt;
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  const size_t high = kDigits.find(text[3]), low = kDigits.find(text[4]);
  if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
  return static_cast<uint8_t>(high * 16 + low);
}

std::string utf8_of(uint32_t code_point) {
  uint8_t bytes[4];
  const uint32_t count = utf8_encode(code_point, bytes);
  return {bytes, bytes + count};
}

std::string replace_all(const std::string& text, const std::string& from, const std::string& to) {
  std::string result;
  size_t begin = 0;
  for (size_t at; (at = text.find(from, begin)) != std::string::npos; begin = at + from.size()) {
    charge_work(1 + to.size());
    result.append(text, begin, at - begin);
    result += to;
  }
  charge_work(text.size());
  return result.append(text, begin, std::string::npos);
}

std::optional<uint32_t> single_character(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto* begin = reinterpret_cast<const uint8_t*>(text.data());
  const Utf8Character character = utf8_decode(begin, begin + text.size());
  if (!character.valid || character.bytes != text.size()) return std::nullopt;
  return character.code_point;
}

void fuse_splits(std::vector<SplitSpec>& splits, size_t apart) {
  for (size_t i = apart; i + 1 < splits.size();) {
    const SplitSpec& first = splits[i];
    const SplitSpec& second = splits[i + 1];
    const bool fits = first.regex->kind == Regex::Kind::characters && first.keep_matches && first.keep_rest &&
                      second.keep_matches && second.keep_rest;
    if (!fits) {
      ++i;
      continue;
    }
    const RegexPtr others = restrict_to(second.regex, first.regex->set.complement());
    splits[i].regex = others == nullptr ? first.regex : make_choice({first.regex, others});
    splits.erase(splits.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

void split_at_sign(TokenizerSpec& spec, const std::vector<std::string>& vocabulary, const std::string& sign) {
  const auto code_point = single_character(sign);
  if (!code_point || spec.characters.count(*code_point) == 0) return;
  for (const MergeSpec& merge : spec.merges) {
    const std::string& left = vocabulary[merge.left];
    if (vocabulary[merge.right].compare(0, sign.size(), sign) != 0) continue;
    if (left.size() < sign.size() || left.compare(left.size() - sign.size(), sign.size(), sign) != 0) return;
  }
  const RegexPtr signs = make_characters(CharSet::of(*code_point));
  const RegexPtr others = make_characters(CharSet::of(*code_point).complement());
  spec.splits.push_back({make_choice(
      {make_sequence({make_repeat(signs, 0, Regex::kUnlimited), make_repeat(others, 1, Regex::kUnlimited)}),
       make_repeat(signs, 1, Regex::kUnlimited)})});
}

}  // namespace mote::convert
