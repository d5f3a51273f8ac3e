// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "converter/tokenizers/regex.h"
#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

constexpr uint32_t kMaxRepeat = 64;
constexpr uint32_t kMaxPatternDepth = 32;

/// A letter's other case and, as Unicode folds them, the long s and the Kelvin sign.
CharSet both_cases(uint32_t c) {
  CharSet set = CharSet::of(c);
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  if (!letter) return set;
  const uint32_t lower = c | 0x20;
  set.add(lower, lower).add(lower - 0x20, lower - 0x20);
  if (lower == 's') set.add(0x17F, 0x17F);
  if (lower == 'k') set.add(0x212A, 0x212A);
  return set;
}

class RegexParser {
 public:
  explicit RegexParser(std::string_view text) : text_(text), input_(code_points(text)) {}

  RegexPtr parse() {
    charge_work(input_.size());
    RegexPtr regex = choice();
    if (!done()) refuse("unbalanced )");
    return regex;
  }

 private:
  std::string what() const { return fmt::format("regular expression '{}'", shown(text_)); }
  [[noreturn]] void refuse(const std::string& problem) const {
    fail("{}: {} (at character {})", what(), problem, at_);
  }

  bool done() const { return at_ == input_.size(); }
  uint32_t peek(size_t ahead = 0) const { return at_ + ahead < input_.size() ? input_[at_ + ahead] : 0; }
  bool take(std::string_view expected) {
    for (size_t i = 0; i < expected.size(); ++i) {
      if (peek(i) != static_cast<unsigned char>(expected[i])) return false;
    }
    at_ += expected.size();
    return true;
  }
  uint32_t next(const char* what) {
    if (done()) refuse(fmt::format("{} is missing at the end", what));
    return input_[at_++];
  }

  RegexPtr choice() {
    const Nesting nested(depth_, kMaxPatternDepth, what());
    std::vector<RegexPtr> parts = {sequence()};
    while (take("|")) parts.push_back(sequence());
    return make_choice(std::move(parts));
  }

  RegexPtr sequence() {
    std::vector<RegexPtr> parts;
    while (!done() && peek() != '|' && peek() != ')') parts.push_back(repeated());
    check_possessive(parts);
    return make_sequence(std::move(parts));
  }

  RegexPtr repeated() {
    RegexPtr part = atom();
    uint32_t least = 1, most = 1;
    bool braces = false;
    if (take("?")) {
      least = 0;
    } else if (take("*")) {
      least = 0, most = Regex::kUnlimited;
    } else if (take("+")) {
      most = Regex::kUnlimited;
    } else if (peek() == '{') {
      ++at_;
      braces = true;
      least = number();
      most = !take(",") ? least : peek() == '}' ? Regex::kUnlimited : number();
      if (!take("}") || least > most || most == 0) refuse("{ is not a repetition");
    } else {
      return part;
    }
    const bool plus = take("+");  // behind braces it repeats, elsewhere it makes possessive
    if (peek() == '?' || peek() == '*' || peek() == '+' || peek() == '{') {
      refuse("lazy repetitions and repetitions of repetitions are not read");
    }
    if (part->kind == Regex::Kind::not_ahead) refuse("a look-ahead is repeated");
    RegexPtr repeat = make_repeat(std::move(part), least, most);
    if (!plus) return repeat;
    if (braces) return make_repeat(std::move(repeat), 1, Regex::kUnlimited);
    possessive_.insert(repeat.get());
    return repeat;
  }

  /// A possessive repetition gives nothing back. It is read where giving back would lead to no match, because
  /// what follows cannot start with what is repeated; then it is a plain one.
  void check_possessive(const std::vector<RegexPtr>& parts) const {
    for (size_t i = 0; i < parts.size(); ++i) {
      if (possessive_.count(parts[i].get()) == 0) continue;
      const Regex& repeated = *parts[i]->parts.front();
      const bool last = i + 1 == parts.size() && depth_ == 1;  // of the whole expression's alternative
      const bool keeps = last || (i + 1 < parts.size() && starts_apart(parts, i + 1, repeated.set));
      if (repeated.kind != Regex::Kind::characters || !keeps)
        refuse("a possessive repetition that what follows could shorten is not read");
    }
  }

  /// Says whether no character of `set` can be the first of a match of parts[from] and on.
  bool starts_apart(const std::vector<RegexPtr>& parts, size_t from, const CharSet& set) const {
    for (; from < parts.size(); ++from) {
      const Regex& part = *parts[from];
      const Regex& first = part.kind == Regex::Kind::repeat ? *part.parts.front() : part;
      if (first.kind != Regex::Kind::characters || !(first.set & set).empty()) return false;
      if (part.kind == Regex::Kind::characters || part.least > 0) return true;
    }
    return depth_ == 1;
  }

  uint32_t number() {
    uint32_t value = 0;
    if (peek() < '0' || peek() > '9') refuse("{ is not a repetition");
    while (peek() >= '0' && peek() <= '9') {
      value = value * 10 + (input_[at_++] - '0');
      if (value > kMaxRepeat) refuse("repeated too often");
    }
    return value;
  }

  RegexPtr atom() {
    const uint32_t c = next("an expression");
    switch (c) {
      case '(':
        return group();
      case '[':
        return make_characters(bracket());
      case '.':
        return make_characters(CharSet::of('\n').complement());
      case '\\':
        return make_characters(escape());
      case '*':
      case '+':
      case '?':
        refuse("nothing to repeat");
      case '^':
      case '$':
        refuse(fmt::format("the anchor {} is not read", static_cast<char>(c)));
      default:
        return make_characters(ignore_case_ ? both_cases(c) : CharSet::of(c));
    }
  }

  RegexPtr group() {
    if (take("?!")) return make_not_ahead(looked_for());
    if (take("?=")) refuse("the look-ahead (?=...) is not read");
    if (take("?<")) refuse("look-behind (?<...) is not read");
    if (take("?>")) refuse("the atomic group (?>...) is not read");
    const bool outer = ignore_case_;
    if (take("?i:")) {
      ignore_case_ = true;
    } else if (!take("?:") && peek() == '?') {
      refuse("a group of this kind is not read");
    }
    RegexPtr inside = choice();
    if (!take(")")) refuse("( is not closed");
    ignore_case_ = outer;
    return inside;
  }

  /// The class that a look-ahead looks for.
  CharSet looked_for() {
    const RegexPtr inside = choice();
    if (!take(")")) refuse("( is not closed");
    if (inside->kind != Regex::Kind::characters)
      refuse("a look-ahead for more than one character is not read");
    return inside->set;
  }

  /// Reads the rest of an escape, behind the backslash.
  CharSet escape() {
    const uint32_t c = next("what \\ escapes");
    if (!is_class_escape(c)) return CharSet::of(escaped_character(c));
    const bool negated = c >= 'A' && c <= 'Z';
    const uint32_t lower = c | 0x20;
    if (lower == 'p') return property(negated);
    const CharSet set = lower == 's' ? space_set() : lower == 'w' ? word_set() : digit_set();
    return negated ? set.complement() : set;
  }

  uint32_t escaped_character(uint32_t c) {
    if (c == 'u') return hex(4);
    if (c == 'x') return take("{") ? hex_to_brace() : hex(2);
    for (const auto& [letter, character] :
         {std::pair{'n', '\n'}, {'r', '\r'}, {'t', '\t'}, {'f', '\f'}, {'v', '\v'}}) {
      if (c == static_cast<uint32_t>(letter)) return static_cast<uint32_t>(character);
    }
    if (c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      refuse("an escape of this kind is not read");
    }
    return c;
  }

  std::optional<uint32_t> hex_digit() {
    const uint32_t c = peek();
    const uint32_t lower = c | 0x20;
    if (c >= '0' && c <= '9') return ++at_, c - '0';
    if (lower >= 'a' && lower <= 'f') return ++at_, lower - 'a' + 10;
    return std::nullopt;
  }

  uint32_t hex(int digits) {
    uint32_t value = 0;
    for (int i = 0; i < digits; ++i) {
      const auto digit = hex_digit();
      if (!digit) refuse("hexadecimal digits are missing");
      value = value * 16 + *digit;
    }
    return value;
  }

  uint32_t hex_to_brace() {
    uint32_t value = 0;
    while (!take("}")) {
      const auto digit = hex_digit();
      if (!digit || (value = value * 16 + *digit) >= kCodePoints) refuse("not a code point");
    }
    return value;
  }

  CharSet property(bool negated) {
    if (!take("{")) refuse("\\p without {");
    if (take("^")) negated = !negated;
    std::string name;
    while (!take("}")) name += static_cast<char>(next("}"));
    const CharSet set = category_set(name);
    return negated ? set.complement() : set;
  }

  CharSet bracket() {
    const Nesting nested(depth_, kMaxPatternDepth, what());
    const bool negated = take("^");
    std::vector<CharSet::Range> all;
    const auto add = [&](const CharSet& set) {
      all.insert(all.end(), set.ranges().begin(), set.ranges().end());
    };
    for (bool first = true; first || peek() != ']'; first = false) {
      const uint32_t c = next("]");
      if (c == '[') {
        if (peek() == ':') refuse("[:...:] is not read");
        add(bracket());
      } else if (c == '&' && peek() == '&') {
        refuse("the intersection && is not read");
      } else if (c == '\\' && is_class_escape(peek())) {
        add(escape());
      } else {
        add_range(all, c == '\\' ? escaped_character(next("what \\ escapes")) : c);
      }
    }
    ++at_;
    const CharSet set = CharSet::of_ranges(std::move(all));
    return negated ? set.complement() : set;
  }

  static bool is_class_escape(uint32_t c) {
    return c != 0 && c < 0x80 &&
           std::string_view("sSwWdDpP").find(static_cast<char>(c)) != std::string_view::npos;
  }

  void add_range(std::vector<CharSet::Range>& all, uint32_t first) {
    uint32_t last = first;
    if (peek() == '-' && peek(1) != ']') {
      ++at_;
      const uint32_t c = next("the end of a range");
      last = c == '\\' ? escaped_character(next("what \\ escapes")) : c;
      if (last < first) refuse("a range runs backwards");
    }
    all.push_back({first, last});
    if (!ignore_case_) return;
    for (uint32_t c = std::max<uint32_t>(first, 'A'); c <= std::min<uint32_t>(last, 'z'); ++c) {
      const CharSet both = both_cases(c);
      all.insert(all.end(), both.ranges().begin(), both.ranges().end());
    }
  }

  std::string_view text_;
  std::vector<uint32_t> input_;
  size_t at_ = 0;
  uint32_t depth_ = 0;
  bool ignore_case_ = false;
  std::set<const Regex*> possessive_;
};

}  // namespace

RegexPtr parse_regex(std::string_view utf8) { return RegexParser(utf8).parse(); }

}  // namespace mote::convert
