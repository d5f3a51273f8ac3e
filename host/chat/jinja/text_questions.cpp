// SPDX-License-Identifier: Apache-2.0
//
// Methods of str that ask something or find a place.
#include <algorithm>
#include <optional>

#include "host/chat/jinja/arguments.h"
#include "host/chat/jinja/members.h"
#include "host/chat/jinja/text_search.h"
#include "host/chat/jinja/unicode.h"

namespace mote::convert::jinja {
namespace {

/// Places are counted in characters.
struct Part {
  std::string text;
  int64_t begin = 0;
  bool empty = false;  // begins beyond the end: nothing is found in it
};

Part part_of(const std::string& text, const Bound& bound, size_t first) {
  if (bound.is_none(first) && bound.is_none(first + 1)) return {text};
  const std::u32string all = characters(text);
  const auto size = static_cast<int64_t>(all.size());
  const auto place = [&](size_t index, int64_t otherwise) {
    if (bound.is_none(index)) return otherwise;
    const int64_t at = bound.whole(index, otherwise);
    return at < 0 ? (at < -size ? 0 : at + size) : at;
  };
  const int64_t begin = place(first, 0), end = std::min(place(first + 1, size), size);
  if (begin > size || begin > end) return {"", begin, true};
  return {from_characters(
              std::u32string_view(all).substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin))),
          begin};
}

bool has_affix(const Text& text, const std::string& name, const Arguments& arguments) {
  const Bound bound("str." + name, arguments, {"affix", "start", "end"}, 1);
  const Part part = part_of(text.bytes, bound, 1);
  const auto matches = [&](const Value& affix) {
    if (affix.text() == nullptr) refuse("str.{}: expected a str, got {}", name, type_name(affix));
    if (part.empty) return false;
    return name == "startswith" ? part.text.starts_with(affix.text()->bytes)
                                : part.text.ends_with(affix.text()->bytes);
  };
  const Sequence* several = bound.at(0).sequence();
  if (several == nullptr || several->kind != SequenceKind::tuple) return matches(bound.at(0));
  return std::any_of(several->items.begin(), several->items.end(), matches);
}

int64_t count_of(const Part& part, const std::string& what) {
  if (part.empty) return 0;
  if (what.empty()) return static_cast<int64_t>(count_characters(part.text)) + 1;
  int64_t count = 0;
  const TextSearch search(what);
  for (std::string_view rest = part.text;; ++count) {
    const size_t at = search.first(rest);
    if (at == std::string::npos) return count;
    rest.remove_prefix(at + what.size());
  }
}

Value place_of(const Text& text, const std::string& name, const Arguments& arguments) {
  const Bound bound("str." + name, arguments, {"sub", "start", "end"}, 1);
  const std::string& what = bound.text(0);
  const Part part = part_of(text.bytes, bound, 1);
  if (name == "count") return make_int(count_of(part, what));
  const bool right = name == "rfind" || name == "rindex";
  const size_t at = part.empty ? std::string::npos
                    : right    ? TextSearch(what).last(part.text)
                               : TextSearch(what).first(part.text);
  if (at != std::string::npos) {
    return make_int(part.begin +
                    static_cast<int64_t>(count_characters(std::string_view(part.text).substr(0, at))));
  }
  if (name == "index" || name == "rindex") refuse("substring not found");
  return make_int(-1);
}

template <class Is>
bool all_are(const std::u32string& text, Is is) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is);
}

/// Letters of one case only, and at least one.
bool one_case(const std::u32string& text, bool (*wanted)(char32_t), bool (*other)(char32_t)) {
  return std::any_of(text.begin(), text.end(), wanted) &&
         std::none_of(text.begin(), text.end(), [&](char32_t c) { return other(c) || is_title(c); });
}

bool is_title_text(const std::u32string& text) {
  bool after_cased = false, any = false;
  for (const char32_t c : text) {
    const bool large = is_upper(c) || is_title(c), cased = large || is_lower(c);
    if (cased && large == after_cased) return false;
    after_cased = cased;
    any = any || cased;
  }
  return any;
}

std::optional<bool> class_of(const Text& text, const std::string& name) {
  const std::u32string all = characters(text.bytes);
  if (name == "isspace") return all_are(all, is_space);
  if (name == "isalpha") return all_are(all, is_alpha);
  if (name == "isdecimal") return all_are(all, is_decimal);
  if (name == "isdigit" || name == "isnumeric") return all_are(all, is_numeric);
  if (name == "isalnum") return all_are(all, [](char32_t c) { return is_alpha(c) || is_numeric(c); });
  if (name == "isprintable") return std::all_of(all.begin(), all.end(), is_printable);
  if (name == "isascii") return std::all_of(all.begin(), all.end(), [](char32_t c) { return c < 0x80; });
  if (name == "isupper") return one_case(all, is_upper, is_lower);
  if (name == "islower") return one_case(all, is_lower, is_upper);
  if (name == "istitle") return is_title_text(all);
  return std::nullopt;
}

}  // namespace

bool call_text_question(const Text& text, const std::string& name, const Arguments& arguments,
                        Value* result) {
  if (name == "startswith" || name == "endswith") {
    *result = make_bool(has_affix(text, name, arguments));
    return true;
  }
  if (name == "find" || name == "rfind" || name == "index" || name == "rindex" || name == "count") {
    *result = place_of(text, name, arguments);
    return true;
  }
  if (!name.starts_with("is")) return false;
  const std::optional<bool> answer = class_of(text, name);
  if (!answer) return false;
  const Bound none("str." + name, arguments, {});
  *result = make_bool(*answer);
  return true;
}

}  // namespace mote::convert::jinja
