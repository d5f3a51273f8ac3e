// SPDX-License-Identifier: Apache-2.0
#include "host/chat/jinja/filters.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "host/chat/jinja/members.h"
#include "host/chat/jinja/unicode.h"

namespace mote::convert::jinja {
namespace {

/// Jinja's filters that are refused when they are used.
constexpr std::array<std::string_view, 8> kLacking = {"filesizeformat", "pprint",   "random",  "striptags",
                                                      "urlize",         "wordwrap", "xmlattr", "urlencode"};

Filter find_filter(const std::string& name) {
  for (const auto find :
       {find_text_filter, find_sequence_filter, find_selecting_filter, find_number_filter}) {
    if (const Filter filter = find(name)) return filter;
  }
  return nullptr;
}

}  // namespace

void require_filter(const std::string& name, uint32_t line) {
  if (find_filter(name) != nullptr) return;
  if (std::find(kLacking.begin(), kLacking.end(), name) != kLacking.end()) {
    unsupported("line {}: the filter '{}'", line, name);
  }
  refuse("line {}: no filter named '{}'", line, name);
}

Value call_filter(Renderer& renderer, const std::string& name, const Value& value,
                  const Arguments& arguments) {
  const Filter filter = find_filter(name);
  if (filter != nullptr) return filter(renderer, value, arguments);
  if (std::find(kLacking.begin(), kLacking.end(), name) != kLacking.end()) {
    unsupported("the filter '{}'", name);
  }
  refuse("no filter named '{}'", name);
}

Value follow_path(const Value& value, const Value& path, const Value* otherwise) {
  if (path.is<None>()) return value;
  std::vector<Value> parts{path};
  if (const Text* text = path.text()) {
    parts.clear();
    for (size_t begin = 0; begin <= text->bytes.size();) {
      const size_t end = std::min(text->bytes.find('.', begin), text->bytes.size());
      const std::string part = text->bytes.substr(begin, end - begin);
      const bool number =
          !part.empty() && part.size() < 18 && part.find_first_not_of("0123456789") == std::string::npos;
      parts.push_back(number ? make_int(std::stoll(part)) : make_text(part));
      begin = end + 1;
    }
  }
  Value item = value;
  for (const Value& part : parts) {
    item = get_item(item, part);
    if (otherwise != nullptr && !otherwise->is<None>() && item.is<Undefined>()) item = *otherwise;
  }
  return item;
}

Value without_case(const Value& value) {
  const Text* text = value.text();
  return text == nullptr ? value : make_text(lower(text->bytes), text->markup);
}

}  // namespace mote::convert::jinja
