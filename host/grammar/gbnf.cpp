// SPDX-License-Identifier: Apache-2.0
#include "host/grammar/gbnf.h"

#include <algorithm>
#include <map>
#include <string>

#include "host/base/error.h"
#include "host/base/work_budget.h"

namespace mote::grammar {
namespace {

constexpr uint32_t kMaxNesting = 200;

class Parser {
 public:
  explicit Parser(std::string_view text) : points_(code_points_of(text, "the grammar")) {}

  Source parse() {
    skip(true);
    while (!at_end()) parse_rule();
    const auto root = numbers_.find("root");
    for (const auto& [name, number] : numbers_) {
      if (source_.rules[number].body == nullptr) convert::fail("the grammar: there is no rule \"{}\"", name);
    }
    if (root == numbers_.end()) convert::fail("the grammar: there is no rule \"root\"");
    source_.start = root->second;
    return std::move(source_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < std::min(at_, points_.size()); ++i) {
      ++column;
      if (points_[i] != '\n') continue;
      ++line;
      column = 1;
    }
    convert::fail("the grammar: line {}, column {}: {}", line, column, what);
  }
  bool at_end() const { return at_ >= points_.size(); }
  uint32_t peek(size_t ahead = 0) const {
    return at_ + ahead < points_.size() ? points_[at_ + ahead] : UINT32_MAX;
  }
  bool take(uint32_t point) {
    if (peek() != point) return false;
    ++at_;
    return true;
  }
  /// Passes blanks and comments, and ends of lines where a rule does not end with them.
  void skip(bool lines) {
    while (!at_end()) {
      if (peek() == '#') {
        while (!at_end() && peek() != '\n' && peek() != '\r') ++at_;
      } else if (peek() == ' ' || peek() == '\t' || (lines && (peek() == '\n' || peek() == '\r'))) {
        ++at_;
      } else {
        return;
      }
    }
  }
  static bool is_word(uint32_t point) {
    const uint32_t lower = point | 0x20;
    return (lower >= 'a' && lower <= 'z') || (point >= '0' && point <= '9') || point == '-' || point == '_';
  }
  std::string name() {
    std::string name;
    while (is_word(peek())) name.push_back(static_cast<char>(points_[at_++]));
    if (name.empty()) refuse("expected a name");
    return name;
  }
  uint32_t number_of(const std::string& name) {
    const auto [found, added] = numbers_.try_emplace(name, static_cast<uint32_t>(source_.rules.size()));
    if (added) source_.rules.push_back({"the rule \"" + name + "\"", nullptr});
    return found->second;
  }

  void parse_rule() {
    const uint32_t number = number_of(name());
    skip(false);
    if (!take(':') || !take(':') || !take('=')) refuse("expected ::=");
    if (source_.rules[number].body != nullptr) refuse("a rule that there is already");
    skip(true);
    const NodePtr body = alternatives(false);
    source_.rules[number].body = body;
    if (!at_end() && peek() != '\n' && peek() != '\r') refuse("expected the end of the line");
    skip(true);
  }

  NodePtr alternatives(bool inside) {
    const convert::Nesting nesting(depth_, kMaxNesting, "the grammar");
    std::vector<NodePtr> parts = {parse_sequence(inside)};
    while (take('|')) {
      skip(true);
      parts.push_back(parse_sequence(inside));
    }
    return choice(std::move(parts));
  }

  NodePtr parse_sequence(bool inside) {
    std::vector<NodePtr> parts;
    for (;;) {
      const uint32_t point = peek();
      NodePtr part;
      if (point == '"') {
        part = quoted();
      } else if (point == '[') {
        part = characters(parse_class());
      } else if (point == '(') {
        ++at_;
        skip(true);
        part = alternatives(true);
        if (!take(')')) refuse("expected )");
      } else if (point == '.') {
        ++at_;
        part = characters(CodePoints::all());
      } else if (is_word(point)) {
        part = rule(number_of(name()));
      } else {
        return sequence(std::move(parts));
      }
      skip(inside);
      parts.push_back(repeats(std::move(part), inside));
    }
  }

  NodePtr repeats(NodePtr part, bool inside) {
    for (;;) {
      if (take('*')) {
        part = repeat(std::move(part), 0, kEndless);
      } else if (take('+')) {
        part = repeat(std::move(part), 1, kEndless);
      } else if (take('?')) {
        part = optional(std::move(part));
      } else if (take('{')) {
        skip(inside);
        const uint32_t least = number();
        uint32_t most = least;
        skip(inside);
        if (take(',')) {
          skip(inside);
          most = peek() >= '0' && peek() <= '9' ? number() : kEndless;
          skip(inside);
        }
        if (!take('}')) refuse("expected }");
        if (least > most) refuse("a repeat whose least is above its most");
        part = repeat(std::move(part), least, most);
      } else {
        return part;
      }
      skip(inside);
    }
  }
  uint32_t number() {
    if (peek() < '0' || peek() > '9') refuse("expected a number");
    uint64_t value = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at_)
      value = std::min<uint64_t>(value * 10 + (peek() - '0'), 1u << 30);
    return static_cast<uint32_t>(value);
  }

  uint32_t hex(uint32_t digits) {
    uint32_t value = 0;
    for (uint32_t i = 0; i < digits; ++i, ++at_) {
      const uint32_t point = peek(), lower = point | 0x20;
      if (point >= '0' && point <= '9') {
        value = value * 16 + (point - '0');
      } else if (lower >= 'a' && lower <= 'f') {
        value = value * 16 + (lower - 'a' + 10);
      } else {
        refuse("expected " + std::to_string(digits) + " hexadecimal digits");
      }
    }
    if (value > kLastCodePoint || (value >= 0xD800 && value <= 0xDFFF))
      refuse("a code point that there is not");
    return value;
  }
  uint32_t character() {
    if (at_end()) refuse("a text that does not end");
    const uint32_t point = points_[at_++];
    if (point != '\\') return point;
    const uint32_t escape = peek();
    ++at_;
    switch (escape) {
      case 'x':
        return hex(2);
      case 'u':
        return hex(4);
      case 'U':
        return hex(8);
      case 't':
        return '\t';
      case 'r':
        return '\r';
      case 'n':
        return '\n';
      case '\\':
      case '"':
      case '[':
      case ']':
        return escape;
      default:
        --at_;
        refuse("an escape that there is not");
    }
  }
  NodePtr quoted() {
    take('"');
    std::string text;
    while (!take('"')) append_utf8(character(), text);
    return bytes(std::move(text));
  }
  CodePoints parse_class() {
    take('[');
    const bool inverted = take('^');
    std::vector<Range> ranges;
    while (!take(']')) {
      const uint32_t first = character();
      uint32_t last = first;
      if (peek() == '-' && peek(1) != ']') {
        ++at_;
        last = character();
      }
      if (first > last) refuse("a range whose ends are the wrong way round");
      ranges.push_back({first, last});
    }
    const CodePoints set(std::move(ranges));
    return inverted ? set.complement() : set;
  }

  std::vector<uint32_t> points_;
  size_t at_ = 0;
  uint32_t depth_ = 0;
  Source source_;
  std::map<std::string, uint32_t> numbers_;
};

}  // namespace

Source gbnf_source(std::string_view text) { return Parser(text).parse(); }

}  // namespace mote::grammar
