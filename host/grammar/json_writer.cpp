// SPDX-License-Identifier: Apache-2.0
#include "host/grammar/json_writer.h"

#include <utility>

namespace mote::grammar {
namespace {

constexpr uint32_t kIndentation = 64;  // blanks of a line, at most
constexpr char kHexDigits[] = "0123456789abcdef";

NodePtr hex_digit(std::vector<Range> digits) { return characters(CodePoints(std::move(digits))); }

/// Returns four hexadecimal digits of a code point that is no half of a pair, or a pair, behind their
/// backslash and u.
NodePtr unicode_escape() {
  const NodePtr any = hex_digit({{'0', '9'}, {'a', 'f'}, {'A', 'F'}});
  const NodePtr d = hex_digit({{'d', 'd'}, {'D', 'D'}});
  const NodePtr low = hex_digit({{'0', '7'}});
  const NodePtr not_d = hex_digit({{'0', '9'}, {'a', 'c'}, {'A', 'C'}, {'e', 'f'}, {'E', 'F'}});
  const NodePtr high_half = hex_digit({{'8', '9'}, {'a', 'b'}, {'A', 'B'}}),
                low_half = hex_digit({{'c', 'f'}, {'C', 'F'}});
  return choice({sequence({not_d, any, any, any}), sequence({d, low, any, any}),
                 sequence({d, high_half, any, any, bytes("\\u"), d, low_half, any, any})});
}

const CodePoints& written_as_is() {
  static const CodePoints set = CodePoints({{' ', kLastCodePoint}}) - CodePoints({{'"', '"'}, {'\\', '\\'}});
  return set;
}

std::string escaped(uint32_t point) {
  switch (point) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return std::string("\\u00") + kHexDigits[point / 16] + kHexDigits[point % 16];
  }
}

}  // namespace

NodePtr json_characters(const CodePoints& set) {
  std::vector<NodePtr> parts;
  CodePoints plain = set & written_as_is();
  if (!plain.empty()) parts.push_back(characters(std::move(plain)));
  const CodePoints others = set - written_as_is();
  for (const Range& range : others.ranges()) {
    for (uint32_t point = range.first; point <= range.last; ++point) parts.push_back(bytes(escaped(point)));
  }
  return choice(std::move(parts));
}

JsonWriter::JsonWriter(const JsonOptions& options, Allowance& allowance)
    : options_(options), allowance_(allowance) {
  const NodePtr blank = optional(bytes(" "));
  const NodePtr line = optional(sequence({bytes("\n"), repeat(bytes(" "), 0, kIndentation)}));
  const bool none = options.whitespace == Whitespace::none, lines = options.whitespace == Whitespace::lines;
  inside_ = lines ? line : nothing();
  colon_ = none ? bytes(":") : sequence({bytes(":"), blank});
  comma_ = none    ? bytes(",")
           : lines ? sequence({bytes(","), choice({blank, line})})
                   : sequence({bytes(","), blank});
  any_character_ = choice({characters(written_as_is()),
                           sequence({bytes("\\"), choice({characters(CodePoints({{'"', '"'},
                                                                                 {'/', '/'},
                                                                                 {'\\', '\\'},
                                                                                 {'b', 'b'},
                                                                                 {'f', 'f'},
                                                                                 {'n', 'n'},
                                                                                 {'r', 'r'},
                                                                                 {'t', 't'}})),
                                                          sequence({bytes("u"), unicode_escape()})})})});
}

NodePtr JsonWriter::bracketed(const char* brackets, NodePtr inside) const {
  return sequence({bytes(std::string(1, brackets[0])), inside_, std::move(inside), inside_,
                   bytes(std::string(1, brackets[1]))});
}

NodePtr JsonWriter::string(uint32_t least, uint32_t most) {
  NodePtr& made = strings_[{least, most}];
  if (made == nullptr) made = sequence({bytes("\""), repeat(any_character_, least, most), bytes("\"")});
  return made;
}

NodePtr JsonWriter::string(const TextDfa& dfa) {
  return sequence({bytes("\""), node_of(dfa, json_characters), bytes("\"")});
}

NodePtr JsonWriter::literal(const Json& value) {
  allowance_.work(64);
  if (value.is_string()) {
    std::string text = "\"";
    for (const uint32_t point : code_points_of(value.get_ref<const std::string&>(), "a text of the schema"))
      written_as_is().has(point) ? append_utf8(point, text) : void(text += escaped(point));
    return bytes(text + '"');
  }
  if (value.is_array()) {
    std::vector<NodePtr> parts;
    for (const Json& item : value) {
      if (!parts.empty()) parts.push_back(comma_);
      parts.push_back(literal(item));
    }
    return parts.empty() ? bytes("[]") : bracketed("[]", sequence(std::move(parts)));
  }
  if (value.is_object()) {
    std::vector<NodePtr> parts;
    for (const auto& [key, item] : value.items()) {
      if (!parts.empty()) parts.push_back(comma_);
      parts.push_back(literal(key));
      parts.push_back(colon_);
      parts.push_back(literal(item));
    }
    return parts.empty() ? bytes("{}") : bracketed("{}", sequence(std::move(parts)));
  }
  if (!value.is_number_float()) return bytes(value.dump());
  const Decimal number = Decimal::of(value);
  const bool whole = number.is_integer() && number.whole().size() <= 18;
  return bytes(whole ? (number.negative ? "-" : "") + number.whole() : value.dump());
}

}  // namespace mote::grammar
