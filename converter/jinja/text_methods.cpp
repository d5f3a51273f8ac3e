// SPDX-License-Identifier: Apache-2.0
//
// Methods of str that give another text or its parts.
#include <algorithm>

#include "converter/jinja/arguments.h"
#include "converter/jinja/format.h"
#include "converter/jinja/members.h"
#include "converter/jinja/unicode.h"

namespace mote::convert::jinja {
namespace {

Value list_of(std::vector<std::string> parts, bool markup, SequenceKind kind = SequenceKind::list) {
  std::vector<Value> items;
  for (std::string& part : parts) items.push_back(make_text(std::move(part), markup));
  return make_sequence(std::move(items), kind);
}

std::vector<std::string> split_at(std::string_view text, const std::string& by, int64_t most) {
  std::vector<std::string> parts;
  while (most < 0 || static_cast<int64_t>(parts.size()) < most) {
    const size_t at = text.find(by);
    if (at == std::string_view::npos) break;
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + by.size());
  }
  parts.emplace_back(text);
  return parts;
}

std::vector<std::string> split_at_right(std::string_view text, const std::string& by, int64_t most) {
  std::vector<std::string> parts;
  while (most < 0 || static_cast<int64_t>(parts.size()) < most) {
    const size_t at = text.rfind(by);
    if (at == std::string_view::npos) break;
    parts.emplace_back(text.substr(at + by.size()));
    text = text.substr(0, at);
  }
  parts.emplace_back(text);
  std::reverse(parts.begin(), parts.end());
  return parts;
}

/// At runs of white space. Of what is left after `most` words only the side that was split at is stripped.
std::vector<std::string> split_words(std::string_view text, int64_t most) {
  std::vector<std::string> parts;
  for (text = strip(text, nullptr, true, false); !text.empty(); text = strip(text, nullptr, true, false)) {
    if (most >= 0 && static_cast<int64_t>(parts.size()) == most) {
      parts.emplace_back(text);
      break;
    }
    size_t end = 0;
    while (end < text.size() && !is_space(decode(text, end))) end += character_bytes(text, end);
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return parts;
}

std::vector<std::string> split_words_right(std::string_view text, int64_t most) {
  if (most < 0) return split_words(text, most);
  std::vector<std::string> parts;
  for (text = strip(text, nullptr, false, true); !text.empty(); text = strip(text, nullptr, false, true)) {
    if (static_cast<int64_t>(parts.size()) == most) {
      parts.emplace_back(text);
      break;
    }
    const std::u32string all = characters(text);
    size_t begin = all.size();
    while (begin > 0 && !is_space(all[begin - 1])) --begin;
    parts.push_back(from_characters(std::u32string_view(all).substr(begin)));
    text = text.substr(0, text.size() - parts.back().size());
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

Value split(const Text& text, const std::string& name, const Arguments& arguments) {
  const Bound bound("str." + name, arguments, {"sep", "maxsplit"});
  const std::string* by = bound.optional_text(0);
  const int64_t most = bound.whole(1, -1);
  const bool right = name == "rsplit";
  if (by == nullptr) {
    return list_of(right ? split_words_right(text.bytes, most) : split_words(text.bytes, most), text.markup);
  }
  if (by->empty()) refuse("empty separator");
  return list_of(right ? split_at_right(text.bytes, *by, most) : split_at(text.bytes, *by, most),
                 text.markup);
}

Value partition(const Text& text, const std::string& name, const Arguments& arguments) {
  const Bound bound("str." + name, arguments, {"sep"}, 1);
  const std::string& by = bound.text(0);
  if (by.empty()) refuse("empty separator");
  const bool right = name == "rpartition";
  const size_t at = right ? text.bytes.rfind(by) : text.bytes.find(by);
  std::vector<std::string> parts{text.bytes, "", ""};
  if (at == std::string::npos && right) parts = {"", "", text.bytes};
  if (at != std::string::npos) parts = {text.bytes.substr(0, at), by, text.bytes.substr(at + by.size())};
  return list_of(std::move(parts), text.markup, SequenceKind::tuple);
}

Value join(const Text& text, const Arguments& arguments) {
  const Bound bound("str.join", arguments, {"iterable"}, 1);
  std::string out;
  bool first = true;
  for (const Value& item : items_of(bound.at(0))) {
    if (!first) out += text.bytes;
    first = false;
    if (item.text() == nullptr) refuse("str.join: expected str instances, {} found", type_name(item));
    if (text.markup) unsupported("join of Markup");
    out += item.text()->bytes;
    require_bytes(out.size());
  }
  return make_text(std::move(out));
}

Value zfill(const Text& text, const Arguments& arguments) {
  const Bound bound("str.zfill", arguments, {"width"}, 1);
  const bool sign = text.bytes.starts_with('-') || text.bytes.starts_with('+');
  const std::string digits =
      pad(sign ? text.bytes.substr(1) : text.bytes, bound.whole(0, 0) - (sign ? 1 : 0), "0", true, false);
  return make_text(sign ? text.bytes[0] + digits : digits, text.markup);
}

std::string trimmed(const Text& text, const std::string& name, const Arguments& arguments) {
  const Bound bound("str." + name, arguments, {"chars"});
  return std::string(strip(text.bytes, bound.optional_text(0), name != "rstrip", name != "lstrip"));
}

std::string cased(const Text& text, const std::string& name, const Arguments& arguments) {
  const Bound bound("str." + name, arguments, {});
  if (name == "upper") return upper(text.bytes);
  if (name == "lower") return lower(text.bytes);
  if (name == "title") return title(text.bytes);
  if (name == "capitalize") return capitalize(text.bytes);
  return swapcase(text.bytes);
}

std::string without_affix(const Text& text, const std::string& name, const Arguments& arguments) {
  const Bound bound("str." + name, arguments, {"affix"}, 1);
  const std::string& affix = bound.text(0);
  if (name == "removeprefix" && text.bytes.starts_with(affix)) return text.bytes.substr(affix.size());
  if (name == "removesuffix" && text.bytes.ends_with(affix)) {
    return text.bytes.substr(0, text.bytes.size() - affix.size());
  }
  return text.bytes;
}

std::string justified(const Text& text, const std::string& name, const Arguments& arguments) {
  const Bound bound("str." + name, arguments, {"width", "fillchar"}, 1);
  const std::string fill = bound.has(1) ? bound.text(1) : " ";
  if (count_characters(fill) != 1) refuse("the fill character must be exactly one character long");
  return pad(text.bytes, bound.whole(0, 0), fill, name != "ljust", name != "rjust");
}

std::string replaced(const Text& text, const Arguments& arguments) {
  const Bound bound("str.replace", arguments, {"old", "new", "count"}, 2);
  return replace_all(text.bytes, bound.text(0), bound.text(1), bound.whole(2, -1));
}

bool is_any(const std::string& name, std::initializer_list<const char*> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string replace_all(const std::string& text, const std::string& old, const std::string& now,
                        int64_t most) {
  std::string out;
  size_t at = 0;
  const auto more = [&] { return most != 0; };
  if (old.empty()) {
    for (; more(); --most) {
      out += now;
      if (at >= text.size()) return out;
      const size_t bytes = character_bytes(text, at);
      out.append(text, at, bytes);
      at += bytes;
      require_bytes(out.size());
    }
    return out + text.substr(at);
  }
  for (; more(); --most) {
    const size_t found = text.find(old, at);
    if (found == std::string::npos) break;
    out.append(text, at, found - at);
    out += now;
    at = found + old.size();
    require_bytes(out.size());
  }
  return out + text.substr(at);
}

std::vector<std::string> split_lines(const std::string& text, bool keep_ends) {
  std::vector<std::string> lines;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = decode(text, at);
    size_t end = at + character_bytes(text, at);
    const bool breaks =
        (c >= 0xA && c <= 0xD) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
    if (breaks) {
      if (c == '\r' && end < text.size() && text[end] == '\n') ++end;
      lines.push_back(text.substr(begin, (keep_ends ? end : at) - begin));
      begin = end;
    }
    at = end;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

std::string pad(const std::string& text, int64_t width, const std::string& fill, bool left, bool right) {
  const auto size = static_cast<int64_t>(count_characters(text));
  if (width <= size) return text;
  require_bytes(static_cast<uint64_t>(width));
  const int64_t missing = width - size;
  int64_t before = left ? missing : 0;
  // As Python: of an odd number the larger half stands before a text of an odd width.
  if (left && right) before = missing / 2 + (missing & width & 1);
  std::string out;
  for (int64_t i = 0; i < before; ++i) out += fill;
  out += text;
  for (int64_t i = before; i < missing; ++i) out += fill;
  return out;
}

Value call_text_method(const Text& text, const std::string& name, const Arguments& arguments) {
  Value answer;
  if (call_text_question(text, name, arguments, &answer)) return answer;
  if (name == "split" || name == "rsplit") return split(text, name, arguments);
  if (name == "partition" || name == "rpartition") return partition(text, name, arguments);
  if (name == "join") return join(text, arguments);
  if (name == "zfill") return zfill(text, arguments);
  if (name == "format") return format_braces(text, arguments);
  if (name == "splitlines") {
    const Bound bound("str.splitlines", arguments, {"keepends"});
    return list_of(split_lines(text.bytes, bound.flag(0, false)), text.markup);
  }
  if (is_any(name, {"strip", "lstrip", "rstrip"}))
    return make_text(trimmed(text, name, arguments), text.markup);
  if (is_any(name, {"upper", "lower", "title", "capitalize", "swapcase"})) {
    return make_text(cased(text, name, arguments), text.markup);
  }
  if (is_any(name, {"removeprefix", "removesuffix"})) {
    return make_text(without_affix(text, name, arguments), text.markup);
  }
  if (is_any(name, {"center", "ljust", "rjust"}))
    return make_text(justified(text, name, arguments), text.markup);
  if (name == "replace" && !text.markup) return make_text(replaced(text, arguments));
  unsupported("the method {} of a {}", name, text.markup ? "Markup" : "str");
}

}  // namespace mote::convert::jinja
