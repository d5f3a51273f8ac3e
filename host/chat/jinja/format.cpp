// SPDX-License-Identifier: Apache-2.0
#include "host/chat/jinja/format.h"

#include <math.h>

#include <algorithm>
#include <array>

#include "host/chat/jinja/literals.h"
#include "host/chat/jinja/members.h"
#include "host/chat/jinja/operators.h"
#include "host/chat/jinja/print.h"
#include "host/chat/jinja/unicode.h"

namespace mote::convert::jinja {
namespace {

/// "%-08.3f": what stands between % and the letter.
struct Spec {
  bool left = false, plus = false, space = false, zero = false, alternative = false;
  int64_t width = 0;
  int64_t precision = -1;
};

class PercentFormat {
 public:
  PercentFormat(const Text& text, const Value& values)
      : text_(text.bytes), values_(values), markup_(text.markup) {
    const Sequence* sequence = values.sequence();
    tuple_ = sequence != nullptr && sequence->kind == SequenceKind::tuple ? sequence : nullptr;
  }

  std::string run() {
    std::string out;
    while (at_ < text_.size()) {
      if (text_[at_] != '%') {
        out += text_[at_++];
      } else {
        ++at_;
        out += place();
      }
      require_bytes(out.size());
    }
    const bool used =
        tuple_ != nullptr ? taken_ == tuple_->items.size() : taken_ == 1 || values_.is<DictRef>();
    const Sequence* list = values_.sequence();
    if (!used && !(list != nullptr && tuple_ == nullptr && taken_ == 0)) {
      refuse("not all arguments converted during string formatting");
    }
    return out;
  }

 private:
  char peek() const {
    if (at_ >= text_.size()) refuse("incomplete format");
    return text_[at_];
  }
  const Value& next() {
    const size_t count = tuple_ != nullptr ? tuple_->items.size() : 1;
    if (taken_ >= count) refuse("not enough arguments for format string");
    return tuple_ != nullptr ? tuple_->items[taken_++] : (++taken_, values_);
  }
  int64_t number() {
    if (peek() == '*') {
      ++at_;
      return to_int(next(), "a width");
    }
    int64_t value = 0;
    while (peek() >= '0' && peek() <= '9') {
      value = value * 10 + (text_[at_++] - '0');
      require_bytes(static_cast<uint64_t>(value));
    }
    return value;
  }
  std::string place();
  const Value* named();
  std::string show(char letter, const Spec& spec, const Value& value);

  const std::string& text_;
  const Value& values_;
  const bool markup_;
  const Sequence* tuple_;
  size_t at_ = 0, taken_ = 0;
};

/// A number's digits with sign and width.
std::string aligned(std::string digits, bool negative, const Spec& spec) {
  const std::string sign = negative ? "-" : spec.plus ? "+" : spec.space ? " " : "";
  if (spec.zero && !spec.left) {
    return sign + pad(digits, spec.width - static_cast<int64_t>(sign.size()), "0", true, false);
  }
  return pad(sign + digits, spec.width, " ", !spec.left, spec.left);
}

std::string whole_digits(char letter, const Spec& spec, const Value& value) {
  int64_t number = 0;
  if (const auto* real = value.as<double>();
      real != nullptr && letter != 'x' && letter != 'X' && letter != 'o') {
    if (!(*real > -9.2e18 && *real < 9.2e18)) refuse("%d of a number that is no 64-bit integer");
    number = static_cast<int64_t>(*real);
  } else {
    number = to_int(value, fmt::format("the value for %{}", letter));
  }
  const bool negative = number < 0;
  const uint64_t size =
      negative ? uint64_t{0} - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
  std::string digits = letter == 'x'   ? fmt::format("{:x}", size)
                       : letter == 'X' ? fmt::format("{:X}", size)
                       : letter == 'o' ? fmt::format("{:o}", size)
                                       : fmt::format("{}", size);
  if (spec.alternative) unsupported("the flag # in a format");
  digits = pad(digits, spec.precision, "0", true, false);
  return aligned(std::move(digits), negative, spec);
}

std::string real_digits(char letter, const Spec& spec, const Value& value) {
  double number = 0;
  if (const Text* text = value.text(); text != nullptr || !is_number(value)) {
    refuse("must be real number, not {}", type_name(value));
  }
  number = to_double(value, "the value");
  if (spec.alternative) unsupported("the flag # in a format");
  if (spec.precision > 400) unsupported("a precision of more than 400");
  const int precision = spec.precision < 0 ? 6 : static_cast<int>(spec.precision);
  const bool negative = signbit(number);
  const double size = fabs(number);
  std::array<char, 1024> buffer;
  const char format[] = {'%', '.', '*', letter, '\0'};
  const int count = snprintf(buffer.data(), buffer.size(), format, precision, size);
  return aligned(std::string(buffer.data(), static_cast<size_t>(count)), negative, spec);
}

std::string PercentFormat::show(char letter, const Spec& spec, const Value& value) {
  switch (letter) {
    case 's':
    case 'r': {
      std::string shown = letter == 'r' ? to_repr(value)
                          : markup_     ? escaped(value).text()->bytes
                                        : to_text(value);
      if (spec.precision >= 0) {
        shown = from_characters(
            std::u32string_view(characters(shown)).substr(0, static_cast<size_t>(spec.precision)));
      }
      return pad(shown, spec.width, " ", !spec.left, spec.left);
    }
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      return whole_digits(letter, spec, value);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      return real_digits(letter, spec, value);
    case 'c':
    case 'a':
      unsupported("the format %{}", letter);
    default:
      refuse("unsupported format character '{}'", letter);
  }
}

const Value* PercentFormat::named() {
  if (peek() != '(') return nullptr;
  const size_t end = text_.find(')', at_);
  if (end == std::string::npos) refuse("incomplete format key");
  const std::string name = text_.substr(at_ + 1, end - at_ - 1);
  if (name.find('(') != std::string::npos) unsupported("parentheses in a format's key");
  at_ = end + 1;
  const Dict* dict = values_.dict();
  if (dict == nullptr) refuse("format requires a mapping");
  const Value* found = dict->find(name);
  if (found == nullptr) refuse("the format's key '{}' is missing", name);
  return found;
}

std::string PercentFormat::place() {
  if (peek() == '%') {
    ++at_;
    return "%";
  }
  const Value* value = named();
  Spec spec;
  for (bool more = true; more;) {
    switch (peek()) {
      case '-':
        spec.left = true;
        break;
      case '+':
        spec.plus = true;
        break;
      case ' ':
        spec.space = true;
        break;
      case '0':
        spec.zero = true;
        break;
      case '#':
        spec.alternative = true;
        break;
      default:
        more = false;
    }
    if (more) ++at_;
  }
  spec.width = number();
  if (spec.width < 0) {
    spec.left = true;
    spec.width = -spec.width;
  }
  if (peek() == '.') {
    ++at_;
    spec.precision = std::max<int64_t>(number(), 0);
  }
  const char letter = peek();
  ++at_;
  if (letter == '%') return "%";
  return show(letter, spec, value != nullptr ? *value : next());
}

/// A field of str.format: where it ends and its value.
class BraceFormat {
 public:
  BraceFormat(const std::string& text, const Arguments& arguments) : text_(text), arguments_(arguments) {}

  std::string run() {
    std::string out;
    for (size_t at = 0; at < text_.size();) {
      const char c = text_[at];
      const bool doubled = at + 1 < text_.size() && text_[at + 1] == c;
      if ((c == '{' || c == '}') && doubled) {
        out += c;
        at += 2;
      } else if (c == '}') {
        refuse("single '}}' encountered in format string");
      } else if (c == '{') {
        const size_t end = text_.find('}', at);
        if (end == std::string::npos) refuse("single '{{' encountered in format string");
        out += to_text(field(text_.substr(at + 1, end - at - 1)));
        at = end + 1;
      } else {
        out += text_[at++];
      }
      require_bytes(out.size());
    }
    return out;
  }

 private:
  const Value& field(const std::string& name) {
    if (name.find_first_of(":!.[{") != std::string::npos) unsupported("the field {{{}}} of str.format", name);
    const bool numbered = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
    if (name.empty() || numbered) {
      if (numbered ? next_ > 0 : by_number_) refuse("fields with and without numbers in one format");
      by_number_ = by_number_ || numbered;
      if (name.size() > 6) refuse("the index {} is out of range", name);
      const size_t index = numbered ? static_cast<size_t>(std::stoul(name)) : next_++;
      if (index >= arguments_.values.size()) refuse("replacement index {} out of range", index);
      return arguments_.values[index];
    }
    for (const auto& [key, value] : arguments_.names) {
      if (key == name) return value;
    }
    refuse("the format's key '{}' is missing", name);
  }

  const std::string& text_;
  const Arguments& arguments_;
  size_t next_ = 0;
  bool by_number_ = false;
};

}  // namespace

Value format_percent(const Text& text, const Value& values) {
  return make_text(PercentFormat(text, values).run(), text.markup);
}

Value format_braces(const Text& text, const Arguments& arguments) {
  if (text.markup) unsupported("the method format of a Markup");
  return make_text(BraceFormat(text.bytes, arguments).run());
}

}  // namespace mote::convert::jinja
