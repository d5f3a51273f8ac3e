// SPDX-License-Identifier: Apache-2.0
//
// Filters that work on a text.
#include <algorithm>
#include <map>

#include "host/chat/jinja/arguments.h"
#include "host/chat/jinja/filters.h"
#include "host/chat/jinja/format.h"
#include "host/chat/jinja/members.h"
#include "host/chat/jinja/operators.h"
#include "host/chat/jinja/print.h"
#include "host/chat/jinja/unicode.h"

namespace mote::convert::jinja {
namespace {

template <std::string (*change)(std::string_view)>
Value change_case(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("the filter", arguments, {});
  return make_text(change(to_text(value)), value.is_markup());
}

/// After white space and opening brackets a word begins.
std::string title_words(std::string_view text) {
  const auto separates = [](char32_t c) {
    return c == '-' || c == '(' || c == '{' || c == '[' || c == '<' || is_space(c);
  };
  std::string out;
  const std::u32string all = characters(text);
  for (size_t at = 0; at < all.size();) {
    size_t end = at + 1;
    while (end < all.size() && separates(all[end]) == separates(all[at])) ++end;
    const std::string word = from_characters(std::u32string_view(all).substr(at, end - at));
    const size_t first = character_bytes(word, 0);
    out += upper(word.substr(0, first)) + lower(word.substr(first));
    at = end;
  }
  return out;
}

Value trim(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("trim", arguments, {"chars"});
  const std::string text = to_text(value);
  return make_text(std::string(strip(text, bound.optional_text(0), true, true)), value.is_markup());
}

Value replace(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("replace", arguments, {"old", "new", "count"}, 2);
  return make_text(replace_all(to_text(value), to_text(bound.at(0)), to_text(bound.at(1)),
                               bound.is_none(2) ? -1 : bound.whole(2, -1)));
}

Value string(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("string", arguments, {});
  return value.is<TextRef>() ? value : make_text(to_text(value));
}

Value safe(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("safe", arguments, {});
  return make_text(to_text(value), true);
}

Value escape_filter(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("escape", arguments, {});
  return escaped(value);
}

Value forceescape(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("forceescape", arguments, {});
  return make_text(escape(to_text(value)), true);
}

Value center(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("center", arguments, {"width"});
  return make_text(pad(to_text(value), bound.whole(0, 80), " ", true, true), value.is_markup());
}

Value format(Renderer&, const Value& value, const Arguments& arguments) {
  if (!arguments.values.empty() && !arguments.names.empty()) {
    refuse("format: positional and keyword arguments at the same time");
  }
  std::vector<std::pair<Value, Value>> named;
  for (const auto& [name, given] : arguments.names) named.emplace_back(make_text(name), given);
  return format_percent(
      Text{to_text(value), value.is_markup()},
      named.empty() ? make_sequence(arguments.values, SequenceKind::tuple) : make_dict(std::move(named)));
}

Value indent(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("indent", arguments, {"width", "first", "blank"});
  if (value.is<Undefined>()) refuse_undefined(value);
  if (!value.is<TextRef>()) refuse("indent: expected a str, got {}", type_name(value));
  if (value.is_markup()) unsupported("indent of Markup");
  const bool by_text = bound.has(0) && bound.at(0).is<TextRef>();
  const int64_t width = by_text ? 0 : std::max<int64_t>(bound.whole(0, 4), 0);
  const std::string step = by_text ? bound.text(0) : pad("", width, " ", true, false);
  const bool blank = bound.flag(2, false);
  std::string out = bound.flag(1, false) ? step : "";
  bool first = true;
  for (const std::string& line : split_lines(value.text()->bytes + "\n", false)) {
    if (!first) out += "\n";
    if (!first && (blank || !line.empty())) out += step;
    out += line;
    first = false;
    require_bytes(out.size());
  }
  return make_text(std::move(out));
}

Value truncate(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("truncate", arguments, {"length", "killwords", "end", "leeway"});
  if (!value.is<TextRef>() || value.is_markup()) unsupported("truncate of {}", type_name(value));
  const std::u32string text = characters(value.text()->bytes);
  const std::u32string end = characters(bound.has(2) ? bound.text(2) : "...");
  const int64_t length = bound.whole(0, 255), leeway = bound.is_none(3) ? 5 : bound.whole(3, 5);
  if (length < static_cast<int64_t>(end.size()) || leeway < 0)
    refuse("truncate: length or leeway is too small");
  if (static_cast<int64_t>(text.size()) <= length || static_cast<int64_t>(text.size()) - length <= leeway) {
    return value;
  }
  std::u32string kept = text.substr(0, static_cast<size_t>(length) - end.size());
  if (!bound.flag(1, false)) {
    if (const size_t space = kept.rfind(U' '); space != std::u32string::npos) kept.resize(space);
  }
  return make_text(from_characters(kept + end));
}

Value wordcount(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("wordcount", arguments, {});
  int64_t count = 0;
  bool inside = false;
  for (const char32_t c : characters(to_text(value))) {
    const bool word = is_word(c);
    if (word && !inside) ++count;
    inside = word;
  }
  return make_int(count);
}

JsonStyle json_style(const Bound& bound) {
  JsonStyle style;
  style.ensure_ascii = bound.flag(0, false);
  style.sort_keys = bound.flag(3, false);
  if (!bound.is_none(1)) {
    const int64_t width = bound.at(1).is<TextRef>() ? 0 : std::max<int64_t>(bound.whole(1, 0), 0);
    style.indent = bound.at(1).is<TextRef>() ? bound.text(1) : pad("", width, " ", true, false);
    style.item_separator.resize(1);  // no space at the ends of lines
  }
  if (!bound.is_none(2)) {
    const std::vector<Value> separators = items_of(bound.at(2));
    if (separators.size() != 2 || !separators[0].is<TextRef>() || !separators[1].is<TextRef>()) {
      refuse("tojson: separators are two texts");
    }
    style.item_separator = separators[0].text()->bytes;
    style.key_separator = separators[1].text()->bytes;
  }
  return style;
}

Value tojson(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"});
  return make_text(to_json(value, json_style(bound)));
}

}  // namespace

Filter find_text_filter(const std::string& name) {
  static const std::map<std::string, Filter> filters = {
      {"upper", change_case<upper>},
      {"lower", change_case<lower>},
      {"capitalize", change_case<capitalize>},
      {"title", change_case<title_words>},
      {"trim", trim},
      {"replace", replace},
      {"string", string},
      {"safe", safe},
      {"escape", escape_filter},
      {"e", escape_filter},
      {"forceescape", forceescape},
      {"center", center},
      {"format", format},
      {"indent", indent},
      {"truncate", truncate},
      {"wordcount", wordcount},
      {"tojson", tojson},
  };
  const auto found = filters.find(name);
  return found == filters.end() ? nullptr : found->second;
}

}  // namespace mote::convert::jinja
