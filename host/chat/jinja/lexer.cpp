// SPDX-License-Identifier: Apache-2.0
#include "host/chat/jinja/lexer.h"

#include <algorithm>
#include <array>

#include "host/chat/jinja/literals.h"
#include "host/chat/jinja/unicode.h"

namespace mote::convert::jinja {
namespace {

/// Line breaks of every kind become \n; one at the end is dropped.
std::string normalized(std::string_view source) {
  std::string out;
  for (size_t at = 0; at < source.size(); ++at) {
    if (source[at] == '\r') {
      out += '\n';
      if (at + 1 < source.size() && source[at + 1] == '\n') ++at;
    } else {
      out += source[at];
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalized(source)) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) outside();
    push(TokenKind::end);
    return std::move(tokens_);
  }

 private:
  void outside();
  void raw(size_t begin);
  void comment(size_t begin);
  void inside(bool block);
  bool ends_here(bool block);
  void token();
  void bracket(const std::string& op);
  void op();
  std::string_view rest() const { return std::string_view(source_).substr(at_); }
  bool looking_at(std::string_view text) const { return rest().starts_with(text); }
  /// White space from a place on.
  size_t skip_space(size_t at) const {
    while (at < source_.size() && is_space(decode(source_, at))) at += character_bytes(source_, at);
    return at;
  }
  bool word_at(size_t at, std::string_view word) const {
    return std::string_view(source_).substr(std::min(at, source_.size())).starts_with(word);
  }
  void data(size_t begin, size_t end, char sign, bool variable);
  void push(TokenKind kind, std::string text = {}, Value value = {}) {
    tokens_.push_back({kind, std::move(text), std::move(value), line()});
  }
  /// Moves to a place.
  void go(size_t to) {
    line_starting_ = to > 0 && source_[to - 1] == '\n';
    at_ = to;
  }
  uint32_t line();
  char sign_at(size_t at) const {
    return at < source_.size() && (source_[at] == '-' || source_[at] == '+') ? source_[at] : '\0';
  }
  /// After `%}`, `-%}` or `+%}` with what they drop; npos where there is no such end.
  size_t after_end(size_t at, std::string_view mark, bool trims) const;

  const std::string source_;
  size_t at_ = 0;
  size_t counted_ = 0;
  uint32_t line_ = 1;
  bool line_starting_ = true;
  std::vector<char> brackets_;
  std::vector<Token> tokens_;
};

uint32_t Lexer::line() {
  const auto begin = source_.begin() + static_cast<std::ptrdiff_t>(std::min(counted_, at_));
  line_ += static_cast<uint32_t>(std::count(begin, source_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
  counted_ = at_;
  return line_;
}

size_t Lexer::after_end(size_t at, std::string_view mark, bool trims) const {
  const char sign = sign_at(at);
  const size_t begin = sign == '\0' ? at : at + 1;
  if (!word_at(begin, mark)) return std::string::npos;
  const size_t end = begin + mark.size();
  if (sign == '-') return skip_space(end);
  if (sign == '+' && !trims) return std::string::npos;
  return trims && sign == '\0' && word_at(end, "\n") ? end + 1 : end;
}

/// The text before a tag, without the white space that the tag drops.
void Lexer::data(size_t begin, size_t end, char sign, bool variable) {
  std::string_view text = std::string_view(source_).substr(begin, end - begin);
  if (sign == '-') {
    text = strip(text, nullptr, false, true);
  } else if (sign != '+' && !variable) {
    const size_t line = text.rfind('\n') + 1;  // 0 where there is none
    if ((line > 0 || line_starting_) && line < text.size() &&
        strip(text.substr(line), nullptr, true, false).empty()) {
      text = text.substr(0, line);
    }
  }
  if (!text.empty()) push(TokenKind::data, std::string(text));
}

void Lexer::outside() {
  size_t tag = at_;
  for (;; ++tag) {
    tag = source_.find('{', tag);
    if (tag == std::string::npos || tag + 1 >= source_.size()) {
      push(TokenKind::data, source_.substr(at_));
      return go(source_.size());
    }
    if (source_[tag + 1] == '{' || source_[tag + 1] == '%' || source_[tag + 1] == '#') break;
  }
  const char kind = source_[tag + 1];
  const char sign = sign_at(tag + 2);
  const size_t inner = tag + (sign == '\0' ? 2 : 3);
  data(at_, tag, sign, kind == '{');
  if (kind == '#') return comment(inner);
  if (kind == '%') {
    const size_t word = skip_space(inner);
    if (word_at(word, "raw")) {
      const size_t end = skip_space(word + 3);
      if (word_at(end, "-%}")) return raw(skip_space(end + 3));
      if (word_at(end, "%}")) return raw(end + 2);
    }
  }
  go(inner);
  push(kind == '%' ? TokenKind::block_begin : TokenKind::variable_begin);
  inside(kind == '%');
}

void Lexer::raw(size_t begin) {
  go(begin);
  for (size_t tag = source_.find("{%", begin); tag != std::string::npos; tag = source_.find("{%", tag + 1)) {
    const char sign = sign_at(tag + 2);
    const size_t word = skip_space(tag + (sign == '\0' ? 2 : 3));
    if (!word_at(word, "endraw")) continue;
    const size_t end = after_end(skip_space(word + 6), "%}", true);
    if (end == std::string::npos) continue;
    data(begin, tag, sign, false);
    return go(end);
  }
  if (begin < source_.size()) refuse("line {}: missing end of raw directive", line());
  go(begin);
}

void Lexer::comment(size_t begin) {
  for (size_t tag = begin; tag < source_.size(); ++tag) {
    const size_t end = after_end(tag, "#}", true);
    if (end != std::string::npos) return go(end);
  }
  if (begin < source_.size()) refuse("line {}: missing end of comment tag", line());
  go(begin);
}

bool Lexer::ends_here(bool block) {
  if (!brackets_.empty()) return false;
  const size_t end = after_end(at_, block ? "%}" : "}}", block);
  if (end == std::string::npos) return false;
  push(block ? TokenKind::block_end : TokenKind::variable_end);
  go(end);
  return true;
}

void Lexer::inside(bool block) {
  while (!ends_here(block)) {
    if (at_ >= source_.size()) return;  // the parser says what is missing
    const size_t text = skip_space(at_);
    if (text == at_) {
      token();
    } else {
      go(text);
    }
  }
}

void Lexer::token() {
  const bool after_dot = at_ > 0 && source_[at_ - 1] == '.';
  if (const size_t bytes = number_bytes(rest(), after_dot)) {
    const std::string digits(rest().substr(0, bytes));
    push(TokenKind::number, digits, number_value(digits));
    return go(at_ + bytes);
  }
  if (is_word(decode(source_, at_))) {
    size_t end = at_;
    while (end < source_.size() && is_word(decode(source_, end))) end += character_bytes(source_, end);
    const std::string name = source_.substr(at_, end - at_);
    if (is_decimal(decode(name, 0))) refuse("line {}: invalid character in identifier", line());
    push(TokenKind::name, name);
    return go(end);
  }
  if (looking_at("'") || looking_at("\"")) {
    size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != source_[at_]) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) refuse("line {}: a string that does not end", line());
    push(TokenKind::text, unescape(std::string_view(source_).substr(at_ + 1, end - at_ - 1)));
    return go(end + 1);
  }
  op();
}

void Lexer::bracket(const std::string& op) {
  const char c = op[0];
  if (c == '(' || c == '[' || c == '{') brackets_.push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
  if (c != ')' && c != ']' && c != '}') return;
  if (brackets_.empty() || brackets_.back() != c) refuse("line {}: unexpected '{}'", line(), c);
  brackets_.pop_back();
}

void Lexer::op() {
  constexpr std::array<std::string_view, 26> kOps = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                                     "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                     ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};
  const auto found =
      std::find_if(kOps.begin(), kOps.end(), [&](std::string_view op) { return looking_at(op); });
  if (found == kOps.end()) {
    refuse("line {}: unexpected character '{}'", line(), rest().substr(0, character_bytes(source_, at_)));
  }
  const std::string op(*found);
  bracket(op);
  push(TokenKind::op, op);
  go(at_ + op.size());
}

}  // namespace

std::vector<Token> tokenize(std::string_view source) {
  if (!is_utf8(source)) unsupported("a template that is not UTF-8");
  return Lexer(source).run();
}

}  // namespace mote::convert::jinja
