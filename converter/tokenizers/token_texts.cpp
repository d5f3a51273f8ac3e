// SPDX-License-Identifier: Apache-2.0
#include "converter/tokenizers/token_texts.h"

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

}  // namespace mote::convert
