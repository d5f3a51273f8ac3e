// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include "host/base/error.h"
#include "host/base/work_budget.h"
#include "host/grammar/expression.h"

namespace mote::grammar {
namespace {

constexpr uint32_t kMaxNesting = 200;

ExpressionPtr made(Expression expression) {
  return std::make_shared<const Expression>(std::move(expression));
}

ExpressionPtr of_set(CodePoints set) {
  Expression expression;
  expression.kind = Expression::Kind::characters;
  expression.set = std::move(set);
  return made(std::move(expression));
}

const CodePoints& digits() {
  static const CodePoints set({{'0', '9'}});
  return set;
}
const CodePoints& word() {
  static const CodePoints set({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
  return set;
}
const CodePoints& space() {
  static const CodePoints set({{'\t', '\r'},
                               {' ', ' '},
                               {0xA0, 0xA0},
                               {0x1680, 0x1680},
                               {0x2000, 0x200A},
                               {0x2028, 0x2029},
                               {0x202F, 0x202F},
                               {0x205F, 0x205F},
                               {0x3000, 0x3000},
                               {0xFEFF, 0xFEFF}});
  return set;
}
const CodePoints& line_ends() {
  static const CodePoints set({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}});
  return set;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), points_(code_points_of(text, "the expression")) {}

  ExpressionPtr parse() {
    ExpressionPtr expression = parse_choice();
    if (at_ != points_.size()) refuse("a closing parenthesis without an opening one");
    return expression;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    convert::fail("expression \"{}\": at character {}: {}", text_.substr(0, 100), at_ + 1, what);
  }
  bool at_end() const { return at_ == points_.size(); }
  uint32_t peek(size_t ahead = 0) const {
    return at_ + ahead < points_.size() ? points_[at_ + ahead] : UINT32_MAX;
  }
  bool take(uint32_t point) {
    if (peek() != point) return false;
    ++at_;
    return true;
  }

  ExpressionPtr parse_choice() {
    const convert::Nesting nesting(depth_, kMaxNesting, "the expression");
    Expression all;
    all.kind = Expression::Kind::choice;
    do all.parts.push_back(parse_sequence());
    while (take('|'));
    return all.parts.size() == 1 ? all.parts.front() : made(std::move(all));
  }

  ExpressionPtr parse_sequence() {
    Expression all;
    while (!at_end() && peek() != '|' && peek() != ')') all.parts.push_back(parse_repeat());
    return all.parts.size() == 1 ? all.parts.front() : made(std::move(all));
  }

  ExpressionPtr parse_repeat() {
    const bool is_edge = peek() == '^' || peek() == '$';
    ExpressionPtr part = parse_atom();
    uint32_t least = 1, most = 1;
    if (take('*')) {
      least = 0;
      most = kEndless;
    } else if (take('+')) {
      most = kEndless;
    } else if (take('?')) {
      least = 0;
    } else if (peek() == '{') {
      parse_bounds(least, most);
    } else {
      return part;
    }
    take('?');  // which of equal texts is found first makes no difference
    if (is_edge || peek() == '*' || peek() == '+' || peek() == '?' || peek() == '{')
      refuse("nothing to repeat");
    Expression repeat;
    repeat.kind = Expression::Kind::repeat;
    repeat.parts = {std::move(part)};
    repeat.least = least;
    repeat.most = most;
    return made(std::move(repeat));
  }

  void parse_bounds(uint32_t& least, uint32_t& most) {
    take('{');
    const std::optional<uint32_t> first = number();
    if (!first) refuse("a brace that begins no number of repeats; \\{ is the character");
    least = most = *first;
    if (take(',')) most = peek() == '}' ? kEndless : number().value_or(0);
    if (!take('}')) refuse("a number of repeats that does not end with a brace");
    if (least > most) refuse("repeats whose least is above their most");
  }
  std::optional<uint32_t> number() {
    uint64_t value = 0;
    const size_t begin = at_;
    for (; peek() >= '0' && peek() <= '9'; ++at_)
      value = std::min<uint64_t>(value * 10 + (peek() - '0'), 1u << 30);
    if (begin == at_) return std::nullopt;
    return static_cast<uint32_t>(value);
  }

  ExpressionPtr parse_atom() {
    const uint32_t point = peek();
    if (point == '(') return parse_group();
    if (point == '[') return of_set(parse_class());
    if (point == '.') {
      ++at_;
      return of_set(line_ends().complement());
    }
    if (point == '^' || point == '$') {
      ++at_;
      Expression edge;
      edge.kind = point == '^' ? Expression::Kind::begin : Expression::Kind::end;
      return made(std::move(edge));
    }
    if (point == '*' || point == '+' || point == '?' || point == '{') refuse("nothing to repeat");
    if (point == '}' || point == ']') refuse("a bracket that closes nothing");
    if (point == '\\') return of_set(parse_escape(false));
    ++at_;
    return of_set(CodePoints::of(point));
  }

  ExpressionPtr parse_group() {
    take('(');
    if (take('?')) {
      if (peek() == '=' || peek() == '!') refuse("look-ahead, which is not read");
      if (take('<')) {
        if (peek() == '=' || peek() == '!') refuse("look-behind, which is not read");
        while (!at_end() && peek() != '>') ++at_;
        if (!take('>')) refuse("a name that does not end");
      } else if (!take(':')) {
        refuse("a kind of group that is not read");
      }
    }
    ExpressionPtr inside = parse_choice();
    if (!take(')')) refuse("a parenthesis that is not closed");
    return inside;
  }

  uint32_t hex(uint32_t digits) {
    uint32_t value = 0;
    for (uint32_t i = 0; i < digits; ++i, ++at_) {
      const uint32_t point = peek();
      const uint32_t lower = point | 0x20;
      if (point >= '0' && point <= '9') {
        value = value * 16 + (point - '0');
      } else if (lower >= 'a' && lower <= 'f') {
        value = value * 16 + (lower - 'a' + 10);
      } else {
        refuse("too few hexadecimal digits");
      }
    }
    return value;
  }
  uint32_t unicode_escape() {
    if (take('{')) {
      uint32_t digits = 0;
      while (peek(digits) != '}' && digits < 7) ++digits;
      const uint32_t value = hex(digits);
      if (!take('}') || digits == 0 || value > kLastCodePoint) refuse("a code point that there is not");
      return value;
    }
    const uint32_t high = hex(4);
    if (high < 0xD800 || high > 0xDBFF) return high;
    if (peek() != '\\' || peek(1) != 'u') refuse("half of a surrogate pair");
    at_ += 2;
    const uint32_t low = hex(4);
    if (low < 0xDC00 || low > 0xDFFF) refuse("half of a surrogate pair");
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  }

  CodePoints parse_escape(bool in_class) {
    take('\\');
    const uint32_t point = peek();
    if (at_end()) refuse("a backslash at the end");
    ++at_;
    switch (point) {
      case 'd':
        return digits();
      case 'D':
        return digits().complement();
      case 'w':
        return word();
      case 'W':
        return word().complement();
      case 's':
        return space();
      case 'S':
        return space().complement();
      case 'n':
        return CodePoints::of('\n');
      case 'r':
        return CodePoints::of('\r');
      case 't':
        return CodePoints::of('\t');
      case 'v':
        return CodePoints::of('\v');
      case 'f':
        return CodePoints::of('\f');
      case '0':
        if (peek() >= '0' && peek() <= '9') refuse("an octal escape, which is not read");
        return CodePoints::of(0);
      case 'x':
        return CodePoints::of(hex(2));
      case 'u':
        return CodePoints::of(unicode_escape());
      case 'c': {
        const uint32_t letter = peek() | 0x20;
        if (letter < 'a' || letter > 'z') refuse("no control letter");
        ++at_;
        return CodePoints::of(letter - 'a' + 1);
      }
      case 'p':
      case 'P':
        refuse("a property of Unicode, which is not read");
      case 'b':
        if (in_class) return CodePoints::of('\b');
        refuse("a word boundary, which is not read");
      case 'B':
        refuse("a word boundary, which is not read");
      case 'k':
        refuse("a back reference, which is not read");
      default:
        break;
    }
    if (point >= '1' && point <= '9') refuse("a back reference, which is not read");
    if ((point | 0x20) >= 'a' && (point | 0x20) <= 'z') refuse("an escape that there is not");
    return CodePoints::of(point);
  }

  CodePoints parse_class() {
    take('[');
    const bool inverted = take('^');
    std::vector<Range> ranges;
    while (!take(']')) {
      if (at_end()) refuse("a class that is not closed");
      const CodePoints first = class_atom();
      const bool one = first.ranges().size() == 1 && first.ranges()[0].first == first.ranges()[0].last;
      if (one && peek() == '-' && peek(1) != ']' && peek(1) != UINT32_MAX) {
        ++at_;
        const CodePoints last = class_atom();
        if (last.ranges().size() != 1 || last.ranges()[0].first != last.ranges()[0].last)
          refuse("a range that ends with a class");
        const Range range = {first.ranges()[0].first, last.ranges()[0].first};
        if (range.first > range.last) refuse("a range whose ends are the wrong way round");
        ranges.push_back(range);
        continue;
      }
      ranges.insert(ranges.end(), first.ranges().begin(), first.ranges().end());
    }
    const CodePoints set(std::move(ranges));
    return inverted ? set.complement() : set;
  }
  CodePoints class_atom() {
    if (peek() == '\\') return parse_escape(true);
    const uint32_t point = peek();
    if (at_end()) refuse("a class that is not closed");
    ++at_;
    return CodePoints::of(point);
  }

  std::string_view text_;
  std::vector<uint32_t> points_;
  size_t at_ = 0;
  uint32_t depth_ = 0;
};

}  // namespace

ExpressionPtr parse_expression(std::string_view text) { return Parser(text).parse(); }

}  // namespace mote::grammar
