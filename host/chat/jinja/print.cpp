// SPDX-License-Identifier: Apache-2.0
#include "host/chat/jinja/print.h"

#include <math.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "host/chat/jinja/loop.h"
#include "host/chat/jinja/operators.h"
#include "host/chat/jinja/tree.h"
#include "host/chat/jinja/unicode.h"

namespace mote::convert::jinja {
namespace {

/// Appends what stands for a quote, a backslash or a character that `letters` has, each before the letter of
/// its escape. False for another.
bool append_escape(std::string& out, char32_t c, char quote, std::string_view letters) {
  if (c == static_cast<char32_t>(quote) || c == '\\') {
    out += '\\';
    out += static_cast<char>(c);
    return true;
  }
  for (size_t i = 0; i < letters.size(); i += 2) {
    if (c != static_cast<char32_t>(letters[i])) continue;
    out += '\\';
    out += letters[i + 1];
    return true;
  }
  return false;
}

std::string quoted(const std::string& text) {
  const char quote = text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char32_t c : characters(text)) {
    const auto code = static_cast<uint32_t>(c);
    if (append_escape(out, c, quote, "\nn\rr\tt")) continue;
    if (is_printable(c)) {
      append_character(out, c);
    } else if (c < 0x100) {
      out += fmt::format("\\x{:02x}", code);
    } else {
      out += c < 0x10000 ? fmt::format("\\u{:04x}", code) : fmt::format("\\U{:08x}", code);
    }
  }
  return out + quote;
}

std::string join_reprs(const std::vector<Value>& items) {
  std::string out;
  for (const Value& item : items) {
    if (!out.empty()) out += ", ";
    out += to_repr(item);
    require_bytes(out.size());
  }
  return out;
}

std::string sequence_repr(const Sequence& sequence) {
  switch (sequence.kind) {
    case SequenceKind::list:
      return fmt::format("[{}]", join_reprs(sequence.items));
    case SequenceKind::tuple:
      return fmt::format("({}{})", join_reprs(sequence.items), sequence.items.size() == 1 ? "," : "");
    case SequenceKind::range:
      return sequence.shown;
    case SequenceKind::view:
      return fmt::format("{}([{}])", sequence.shown, join_reprs(sequence.items));
    case SequenceKind::iterator:
      break;
  }
  unsupported("printing a generator, such as what the filters map and select give,");
}

std::string dict_repr(const Dict& dict) {
  std::string out;
  for (const auto& [key, value] : dict.items) {
    if (!out.empty()) out += ", ";
    out += to_repr(key) + ": " + to_repr(value);
    require_bytes(out.size());
  }
  return fmt::format("{{{}}}", out);
}

class JsonWriter {
 public:
  explicit JsonWriter(const JsonStyle& style) : style_(style) {}
  void write(const Value& value);
  std::string take() { return std::move(out_); }

 private:
  void text(const std::string& text);
  void number(double value) {
    out_ += isnan(value) ? "NaN" : isinf(value) ? (value < 0 ? "-Infinity" : "Infinity") : float_text(value);
  }
  void sequence(const Sequence& sequence);
  void dict(const Dict& dict);
  void key(const Value& key);
  void line() {
    require_bytes(out_.size() + (style_.indent ? style_.indent->size() * level_ : 0));
    if (!style_.indent) return;
    out_ += '\n';
    for (size_t i = 0; i < level_; ++i) out_ += *style_.indent;
  }

  const JsonStyle& style_;
  std::string out_;
  size_t level_ = 0;
};

void JsonWriter::text(const std::string& text) {
  out_ += '"';
  for (const char32_t c : characters(text)) {
    const auto code = static_cast<uint32_t>(c);
    if (append_escape(out_, c, '"', "\nn\rr\tt\ff\bb")) continue;
    if (c < 0x20 || (style_.ensure_ascii && c >= 0x7F && c < 0x10000)) {
      out_ += fmt::format("\\u{:04x}", code);
    } else if (style_.ensure_ascii && c >= 0x10000) {
      const uint32_t rest = code - 0x10000;
      out_ += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
    } else {
      append_character(out_, c);
    }
  }
  out_ += '"';
}

void JsonWriter::sequence(const Sequence& sequence) {
  out_ += '[';
  ++level_;
  for (size_t i = 0; i < sequence.items.size(); ++i) {
    if (i > 0) out_ += style_.item_separator;
    line();
    write(sequence.items[i]);
  }
  --level_;
  if (!sequence.items.empty()) line();
  out_ += ']';
}

void JsonWriter::key(const Value& key) {
  if (const Text* name = key.text()) return text(name->bytes);
  if (!key.is<None>() && !is_number(key)) {
    refuse("keys must be str, int, float, bool or None, not {}", type_name(key));
  }
  out_ += '"';
  write(key);
  out_ += '"';
}

void JsonWriter::dict(const Dict& dict) {
  std::vector<std::pair<Value, Value>> items = dict.items;
  if (style_.sort_keys) {
    std::stable_sort(items.begin(), items.end(),
                     [](const auto& a, const auto& b) { return less(a.first, b.first); });
  }
  out_ += '{';
  ++level_;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out_ += style_.item_separator;
    line();
    key(items[i].first);
    out_ += style_.key_separator;
    write(items[i].second);
  }
  --level_;
  if (!items.empty()) line();
  out_ += '}';
}

void JsonWriter::write(const Value& value) {
  require_bytes(out_.size());
  if (value.is<None>()) {
    out_ += "null";
  } else if (const auto* flag = value.as<bool>()) {
    out_ += *flag ? "true" : "false";
  } else if (const auto* whole = value.as<int64_t>()) {
    out_ += std::to_string(*whole);
  } else if (const auto* real = value.as<double>()) {
    number(*real);
  } else if (const Text* string = value.text()) {
    text(string->bytes);
  } else if (const Dict* object = value.dict()) {
    dict(*object);
  } else if (const Sequence* list = value.sequence();
             list != nullptr && (list->kind == SequenceKind::list || list->kind == SequenceKind::tuple)) {
    sequence(*list);
  } else {
    refuse("Object of type {} is not JSON serializable", type_name(value));
  }
}

}  // namespace

std::string float_text(double value) {
  if (isnan(value)) return "nan";
  if (isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 64> buffer;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  std::string text(buffer.data(), end.ptr);
  const bool negative = text[0] == '-';
  if (negative) text.erase(0, 1);
  const size_t e = text.find('e');
  const int exponent = std::stoi(text.substr(e + 1));
  std::string digits = text.substr(0, 1) + (e > 2 ? text.substr(2, e - 2) : "");
  const int count = static_cast<int>(digits.size());
  std::string out;
  if (exponent < -4 || exponent >= 16) {
    out = digits;
    if (count > 1) out.insert(1, 1, '.');
    out += fmt::format("e{}{:02d}", exponent < 0 ? '-' : '+', exponent < 0 ? -exponent : exponent);
  } else if (exponent < 0) {
    out = "0.";
    for (int i = -1; i > exponent; --i) out += '0';
    out += digits;
  } else if (count <= exponent + 1) {
    out = digits;
    for (int i = count; i < exponent + 1; ++i) out += '0';
    out += ".0";
  } else {
    out = digits;
    out.insert(static_cast<size_t>(exponent + 1), 1, '.');
  }
  return negative ? fmt::format("-{}", out) : out;
}

std::string to_repr(const Value& value) {
  if (value.is<Undefined>()) return "Undefined";
  if (const Text* text = value.text()) {
    return text->markup ? fmt::format("Markup({})", quoted(text->bytes)) : quoted(text->bytes);
  }
  return to_text(value);
}

std::string to_text(const Value& value) {
  if (value.is<Undefined>()) return "";
  if (value.is<None>()) return "None";
  if (const auto* flag = value.as<bool>()) return *flag ? "True" : "False";
  if (const auto* number = value.as<int64_t>()) return std::to_string(*number);
  if (const auto* number = value.as<double>()) return float_text(*number);
  if (const Text* text = value.text()) return text->bytes;
  if (const Sequence* sequence = value.sequence()) return sequence_repr(*sequence);
  if (const Dict* dict = value.dict()) return dict_repr(*dict);
  if (value.is<Space*>()) unsupported("printing a namespace");
  if (const auto* macro = value.as<Macro>()) {
    return macro->node->text.empty() ? "<Macro anonymous>"
                                     : fmt::format("<Macro {}>", quoted(macro->node->text));
  }
  if (const auto* loop = value.as<LoopRef>()) {
    const auto state = live(*loop);
    return fmt::format("<LoopContext {}/{}>", state->index0 + 1, state->length());
  }
  unsupported("printing the function {}", (*value.as<FunctionRef>())->name);
}

std::string to_json(const Value& value, const JsonStyle& style) {
  JsonWriter writer(style);
  writer.write(value);
  return writer.take();
}

}  // namespace mote::convert::jinja
