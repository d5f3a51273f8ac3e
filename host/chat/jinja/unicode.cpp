// SPDX-License-Identifier: Apache-2.0
#include "host/chat/jinja/unicode.h"

#include <utf8proc.h>

#include <algorithm>

#include "host/base/work_budget.h"
#include "host/chat/jinja/errors.h"

namespace mote::convert::jinja {
namespace {

utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

/// Characters with an unconditional line in SpecialCasing.txt.
bool has_long_case(char32_t c) {
  return c == 0x149 || c == 0x1F0 || c == 0x130 || c == 0x390 || c == 0x3B0 || c == 0x587 ||
         (c >= 0x1E96 && c <= 0x1E9A) || (c >= 0x1F50 && c <= 0x1F56) || (c >= 0x1F80 && c <= 0x1FFC) ||
         (c >= 0xFB00 && c <= 0xFB17);
}

[[noreturn]] void refuse_case(char32_t c) {
  unsupported("the upper or lower case of U+{:04X}", static_cast<uint32_t>(c));
}

void append_upper(std::string& out, char32_t c, bool as_title = false) {
  if (c < 0x80) {
    out += static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    return;
  }
  if (c == 0xDF) {
    out += as_title ? "Ss" : "SS";
    return;
  }
  if (has_long_case(c)) refuse_case(c);
  const auto from = static_cast<utf8proc_int32_t>(c);
  append_character(out, static_cast<char32_t>(as_title ? utf8proc_totitle(from) : utf8proc_toupper(from)));
}

bool is_cased(char32_t c) { return is_upper(c) || is_lower(c) || is_title(c); }

/// The small sigma at the end of a word has a form of its own.
void append_lower(std::string& out, const std::u32string& text, size_t at) {
  const char32_t c = text[at];
  if (c < 0x80) {
    out += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    return;
  }
  if (c == 0x130) refuse_case(c);
  if (c == 0x3A3) {
    const auto plain = [&](size_t i) { return is_cased(text[i]) || is_space(text[i]); };
    const bool known = (at == 0 || plain(at - 1)) && (at + 1 == text.size() || plain(at + 1));
    if (!known) refuse_case(c);
    const bool ends = at > 0 && is_cased(text[at - 1]) && (at + 1 == text.size() || !is_cased(text[at + 1]));
    append_character(out, ends ? 0x3C2 : 0x3C3);
    return;
  }
  append_character(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
}

}  // namespace

bool is_utf8(std::string_view text) {
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  while (left > 0) {
    utf8proc_int32_t character = 0;
    const utf8proc_ssize_t bytes = utf8proc_iterate(at, left, &character);
    if (bytes <= 0) return false;
    at += bytes;
    left -= bytes;
  }
  return true;
}

size_t character_bytes(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const size_t bytes = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  return std::min(bytes, text.size() - at);
}

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

char32_t decode(std::string_view text, size_t at) {
  utf8proc_int32_t character = 0;
  utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                   static_cast<utf8proc_ssize_t>(text.size() - at), &character);
  return static_cast<char32_t>(character);
}

void append_character(std::string& text, char32_t character) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(character), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(count));
}

std::u32string characters(std::string_view text) {
  charge_work(text.size() / 32);
  std::u32string out;
  for (size_t at = 0; at < text.size(); at += character_bytes(text, at)) out += decode(text, at);
  return out;
}

std::string from_characters(std::u32string_view text) {
  std::string out;
  for (const char32_t c : text) append_character(out, c);
  return out;
}

bool is_space(char32_t c) {
  return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x1F) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

bool is_printable(char32_t c) {
  if (c == ' ') return true;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

bool is_alpha(char32_t c) {
  const utf8proc_category_t kind = category(c);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}
bool is_decimal(char32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; }
bool is_numeric(char32_t c) {
  const utf8proc_category_t kind = category(c);
  if (kind == UTF8PROC_CATEGORY_NL || kind == UTF8PROC_CATEGORY_NO || (c >= 0x3400 && c <= 0x9FFF)) {
    unsupported("asking whether U+{:04X} is a digit", static_cast<uint32_t>(c));
  }
  return kind == UTF8PROC_CATEGORY_ND;
}
bool is_upper(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LU; }
bool is_lower(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LL || c == 0xAA || c == 0xBA; }
bool is_title(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LT; }
bool is_word(char32_t c) { return c == '_' || is_alpha(c) || is_numeric(c); }

std::string upper(std::string_view text) {
  std::string out;
  for (const char32_t c : characters(text)) append_upper(out, c);
  return out;
}

std::string lower(std::string_view text) {
  std::string out;
  const std::u32string all = characters(text);
  for (size_t at = 0; at < all.size(); ++at) append_lower(out, all, at);
  return out;
}

std::string capitalize(std::string_view text) {
  std::string out;
  const std::u32string all = characters(text);
  for (size_t at = 0; at < all.size(); ++at) {
    if (at == 0) {
      append_upper(out, all[at], true);
    } else {
      append_lower(out, all, at);
    }
  }
  return out;
}

std::string title(std::string_view text) {
  std::string out;
  const std::u32string all = characters(text);
  for (size_t at = 0; at < all.size(); ++at) {
    if (at > 0 && is_cased(all[at - 1])) {
      append_lower(out, all, at);
    } else {
      append_upper(out, all[at], true);
    }
  }
  return out;
}

std::string swapcase(std::string_view text) {
  std::string out;
  const std::u32string all = characters(text);
  for (size_t at = 0; at < all.size(); ++at) {
    if (is_upper(all[at])) {
      append_lower(out, all, at);
    } else {
      append_upper(out, all[at]);
    }
  }
  return out;
}

std::string_view strip(std::string_view text, const std::string* set, bool left, bool right) {
  const std::u32string wanted = set == nullptr ? std::u32string() : characters(*set);
  const auto goes = [&](char32_t c) {
    return set == nullptr ? is_space(c) : wanted.find(c) != std::u32string::npos;
  };
  while (left && !text.empty() && goes(decode(text, 0))) text.remove_prefix(character_bytes(text, 0));
  while (right && !text.empty()) {
    size_t at = text.size() - 1;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
    if (!goes(decode(text, at))) break;
    text.remove_suffix(text.size() - at);
  }
  return text;
}

}  // namespace mote::convert::jinja
