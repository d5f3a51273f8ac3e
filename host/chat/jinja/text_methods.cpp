// SPDX-License-Identifier: Apache-2.0
//
// Methods of str that give another text or its parts.
#include <algorithm>

#include "host/base/work_budget.h"
#include "host/chat/jinja/arguments.h"
#include "host/chat/jinja/format.h"
#include "host/chat/jinja/members.h"
#include "host/chat/jinja/text_search.h"
#include "host/chat/jinja/unicode.h"

namespace mote::convert::jinja {
namespace {

/// Parts of a text, which are no more than a list may have.
class Parts {
 public:
  void add(std::string_view part) {
    charge_work(1);
    if (all_.size() == kMostWeight) unsupported("a list of more than {} values", kMostWeight);
    all_.emplace_back(part);
  }
  uint64_t size() const { return all_.size(); }
  std::vector<std::string> take() { return std::move(all_); }
  std::vector<std::string> take_reversed() {
    std::reverse(all_.begin(), all_.end());
    return std::move(all_);
  }

 private:
  std::vector<std::string> all_;
};

Value list_of(std::vector<std::string> parts, bool markup, SequenceKind kind = SequenceKind::list) {
  std::vector<Value> items;
  for (std::string& part : parts) items.push_back(make_text(std::move(part), markup));
  return make_sequence(std::move(items), kind);
}

/// Returns the limit that Python takes `most` for: below 0 there is none.
uint64_t limit_of(int64_t most) { return most < 0 ? UINT64_MAX : static_cast<uint64_t>(most); }

std::vector<std::string> split_at(std::string_view text, const std::string& by, uint64_t most) {
  const TextSearch search(by);
  Parts parts;
  while (parts.size() < most) {
    const size_t at = search.first(text);
    if (at == std::string_view::npos) break;
    parts.add(text.substr(0, at));
    text.remove_prefix(at + by.size());
  }
  parts.add(text);
  return parts.take();
}

std::vector<std::string> split_at_right(std::string_view text, const std::string& by, uint64_t most) {
  const TextSearch search(by);
  Parts parts;
  while (parts.size() < most) {
    const size_t at = search.last(text);
    if (at == std::string_view::npos) break;
    parts.add(text.substr(at + by.size()));
    text = text.substr(0, at);
  }
  parts.add(text);
  return parts.take_reversed();
}

/// Splits a text at runs of white space. The rest after `most` words is stripped only at the side that was
/// split at.
std::vector<std::string> split_words(std::string_view text, uint64_t most) {
  Parts parts;
  for (text = strip(text, nullptr, true, false); !text.empty(); text = strip(text, nullptr, true, false)) {
    size_t end = parts.size() == most ? text.size() : 0;
    while (end < text.size() && !is_space(decode(text, end))) end += character_bytes(text, end);
    parts.add(text.substr(0, end));
    text.remove_prefix(end);
  }
  return parts.take();
}

std::vector<std::string> split_words_right(std::string_view text, uint64_t most) {
  if (most == UINT64_MAX) return split_words(text, most);
  Parts parts;
  for (text = strip(text, nullptr, false, true); !text.empty(); text = strip(text, nullptr, false, true)) {
    size_t begin = parts.size() == most ? 0 : text.size();
    while (begin > 0) {
      size_t before = begin - 1;  // of the character that ends here
      while (before > 0 && (static_cast<unsigned char>(text[before]) & 0xC0) == 0x80) --before;
      if (is_space(decode(text, before))) break;
      begin = before;
    }
    parts.add(text.substr(begin));
    text = text.substr(0, begin);
  }
  return parts.take_reversed();
}

Value split(const Text& text, const std::string& name, const Arguments& arguments) {
  const Bound bound("str." + name, arguments, {"sep", "maxsplit"});
  const std::string* by = bound.optional_text(0);
  const uint64_t most = limit_of(bound.whole(1, -1));
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
  const TextSearch search(by);
  const size_t at = right ? search.last(text.bytes) : search.first(text.bytes);
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
  const std::string digits = pad(sign ? text.bytes.substr(1) : text.bytes,
                                 std::max<int64_t>(bound.whole(0, 0), 0) - (sign ? 1 : 0), "0", true, false);
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
  uint64_t left = limit_of(most);
  if (old.empty()) {
    for (; left != 0; --left) {
      out += now;
      if (at >= text.size()) return out;
      const size_t bytes = character_bytes(text, at);
      out.append(text, at, bytes);
      at += bytes;
      charge_work(1);
      require_bytes(out.size());
    }
    return out + text.substr(at);
  }
  const TextSearch search(old);
  for (; left != 0; --left) {
    const size_t found = search.first(std::string_view(text).substr(at));
    if (found == std::string::npos) break;
    out.append(text, at, found);
    out += now;
    at += found + old.size();
    charge_work(1);
    require_bytes(out.size());
  }
  return out + text.substr(at);
}

std::vector<std::string> split_lines(const std::string& text, bool keep_ends) {
  Parts lines;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = decode(text, at);
    size_t end = at + character_bytes(text, at);
    const bool breaks =
        (c >= 0xA && c <= 0xD) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
    if (breaks) {
      if (c == '\r' && end < text.size() && text[end] == '\n') ++end;
      lines.add(std::string_view(text).substr(begin, (keep_ends ? end : at) - begin));
      begin = end;
    }
    at = end;
  }
  if (begin < text.size()) lines.add(std::string_view(text).substr(begin));
  return lines.take();
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
