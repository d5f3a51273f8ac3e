// SPDX-License-Identifier: Apache-2.0
#include "host/chat/jinja/literals.h"

#include <algorithm>
#include <charconv>

#include "host/chat/jinja/unicode.h"

namespace mote::convert::jinja {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 99;
}

/// Digits of a base with single underscores between them; the end, or `at` where there are none.
size_t digits_end(std::string_view text, size_t at, int base) {
  size_t end = at;
  while (end < text.size()) {
    const size_t digit = text[end] == '_' && end > at ? end + 1 : end;
    if (digit >= text.size() || digit_of(text[digit]) >= base) break;
    end = digit + 1;
  }
  return end;
}

/// After 0b, 0o or 0x an underscore may come first.
size_t prefixed_end(std::string_view text, int base) {
  const size_t begin = text.size() > 2 && text[2] == '_' ? 3 : 2;
  const size_t end = digits_end(text, begin, base);
  return end == begin ? 0 : end;
}

int base_of(std::string_view text) {
  if (text.size() < 2 || text[0] != '0') return 10;
  const char mark = static_cast<char>(text[1] | 0x20);
  return mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
}

size_t float_end(std::string_view text) {
  size_t end = digits_end(text, 0, 10);
  if (end == 0) return 0;
  bool real = false;
  if (end + 1 < text.size() && text[end] == '.') {
    const size_t fraction = digits_end(text, end + 1, 10);
    real = fraction > end + 1;
    if (real) end = fraction;
  }
  if (end < text.size() && (text[end] | 0x20) == 'e') {
    const size_t sign = end + 1 < text.size() && (text[end + 1] == '+' || text[end + 1] == '-') ? 1 : 0;
    const size_t exponent = digits_end(text, end + 1 + sign, 10);
    if (exponent > end + 1 + sign) return exponent;
  }
  return real ? end : 0;
}

std::string without_underscores(std::string_view text) {
  std::string out(text);
  out.erase(std::remove(out.begin(), out.end(), '_'), out.end());
  return out;
}

char32_t hex_escape(std::string_view text, size_t at, size_t count) {
  uint32_t code = 0;
  for (size_t i = 0; i < count; ++i) {
    if (at + i >= text.size() || digit_of(text[at + i]) >= 16) refuse("a truncated escape in a string");
    code = code * 16 + static_cast<uint32_t>(digit_of(text[at + i]));
  }
  if (code > 0x10FFFF) refuse("an escape beyond U+10FFFF in a string");
  if (code >= 0xD800 && code < 0xE000) unsupported("half a surrogate pair in a string");
  return code;
}

/// The escape at a backslash; returns where the text goes on.
size_t escape_at(std::string_view text, size_t at, std::string& out) {
  constexpr std::string_view kPlain = "\\'\"abfnrtv", kMeaning = "\\'\"\a\b\f\n\r\t\v";
  const char c = text[at + 1];
  if (c == '\n') return at + 2;
  if (const size_t plain = kPlain.find(c); plain != std::string_view::npos) {
    out += kMeaning[plain];
    return at + 2;
  }
  if (c == 'x' || c == 'u' || c == 'U') {
    const size_t count = c == 'x' ? 2 : c == 'u' ? 4 : 8;
    append_character(out, hex_escape(text, at + 2, count));
    return at + 2 + count;
  }
  if (c == 'N') unsupported("the escape \\N in a string");
  if (c >= '0' && c <= '7') {
    size_t end = at + 1;
    uint32_t code = 0;
    for (; end < text.size() && end < at + 4 && text[end] >= '0' && text[end] <= '7'; ++end) {
      code = code * 8 + static_cast<uint32_t>(text[end] - '0');
    }
    append_character(out, code);
    return end;
  }
  out += '\\';
  return at + 1;
}

}  // namespace

size_t number_bytes(std::string_view text, bool after_dot) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return 0;
  if (!after_dot) {
    if (const size_t end = float_end(text)) return end;
  }
  const int base = base_of(text);
  if (base != 10) {
    if (const size_t end = prefixed_end(text, base)) return end;
  }
  return digits_end(text, 0, text[0] == '0' ? 1 : 10);
}

Value number_value(std::string_view digits) {
  const std::string plain = without_underscores(digits);
  if (float_end(plain) == plain.size()) return make_float(*parse_float(plain));
  const int base = base_of(plain);
  const std::optional<Value> value = parse_int(base == 10 ? plain : plain.substr(2), base);
  return value ? *value : none();
}

std::string unescape(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '\\' && at + 1 < text.size()) {
      at = escape_at(text, at, out);
    } else {
      out += text[at++];
    }
  }
  return out;
}

std::optional<Value> parse_int(std::string_view text, int64_t base) {
  text = strip(text, nullptr, true, true);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (base == 0) unsupported("int() with base 0");
  if (base < 2 || base > 36) refuse("int() base must be >= 2 and <= 36, or 0");
  if (base == base_of(text) && base != 10) {
    text.remove_prefix(2);
    if (text.starts_with('_')) text.remove_prefix(1);
  }
  for (const char32_t c : characters(text)) {
    if (c >= 0x80 && is_decimal(c)) unsupported("reading digits beyond ASCII as a number");
  }
  if (text.empty() || digits_end(text, 0, static_cast<int>(base)) != text.size()) return std::nullopt;
  int64_t value = 0;
  for (const char c : without_underscores(text)) {
    if (__builtin_mul_overflow(value, base, &value) || __builtin_sub_overflow(value, digit_of(c), &value)) {
      unsupported("an integer of more than 64 bits");
    }
  }
  if (!negative && value == INT64_MIN) unsupported("an integer of more than 64 bits");
  return make_int(negative ? value : -value);
}

std::optional<double> parse_float(std::string_view text) {
  text = strip(text, nullptr, true, true);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
    if (static_cast<signed char>(text[i]) < 0) return std::nullopt;
    if (text[i] == '_' && (i == 0 || !digit(i - 1) || !digit(i + 1))) return std::nullopt;
    if (text[i] != '_') plain += static_cast<char>(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i]);
  }
  double value = 0;
  if (plain.empty()) return std::nullopt;
  if (plain != "nan" && plain != "inf" && plain != "infinity" &&
      plain.find_first_not_of("0123456789.e+-") != std::string::npos) {
    return std::nullopt;
  }
  if (plain[0] == '-' || plain[0] == '+') return std::nullopt;
  const auto end = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (end.ptr != plain.data() + plain.size() || end.ec == std::errc::invalid_argument) return std::nullopt;
  if (end.ec == std::errc::result_out_of_range) value = strtod(plain.c_str(), nullptr);
  return negative ? -value : value;
}

}  // namespace mote::convert::jinja
