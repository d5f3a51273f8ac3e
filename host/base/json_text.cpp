// SPDX-License-Identifier: Apache-2.0
#include "host/base/json_text.h"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>

#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/json_builder.h"
#include "host/base/mapped_file.h"

namespace mote::convert {

using nlohmann::json;

namespace {

/// Python writes NaN, Infinity and -Infinity where JSON has no number. They become texts, which a
/// reader takes for a number only where it says so. Empty if there are none.
std::string with_quoted_numbers(std::string_view text) {
  std::string result;
  bool inside = false, found = false;
  for (size_t at = 0; at < text.size();) {
    size_t length = 1;
    if (inside && text[at] == '\\') {
      length = std::min<size_t>(2, text.size() - at);
    } else if (text[at] == '"') {
      inside = !inside;
    } else if (!inside) {
      for (const std::string_view number : {"NaN", "Infinity", "-Infinity"}) {
        if (!text.substr(at).starts_with(number)) continue;
        result.append("\"").append(number).append("\"");
        at += number.size();
        found = true;
        length = 0;
        break;
      }
    }
    result += text.substr(at, length);
    at += length;
  }
  return found ? result : "";
}

json parse_json(std::span<const std::byte> text, const std::string& where, int max_depth) {
  const std::string_view given(reinterpret_cast<const char*>(text.data()), text.size());
  try {
    return build_json<json>(given, where, max_depth, true);
  } catch (const json::parse_error& error) {
    const std::string changed = with_quoted_numbers(given);
    if (!changed.empty()) return parse_json(std::as_bytes(std::span(changed)), where, max_depth);
    fail("{}: not valid JSON at byte {}: is the file damaged?", where, error.byte);
  } catch (const json::exception& error) {
    fail("{}: not valid JSON: {}", where, shown(error.what()));
  }
}

}  // namespace

json parse_json_object(std::span<const std::byte> text, const std::string& where, int max_depth) {
  json result = parse_json(text, where, max_depth);
  if (!result.is_object()) fail("{}: expected a JSON object, found {}", where, result.type_name());
  return result;
}

json parse_json_array(std::span<const std::byte> text, const std::string& where, int max_depth) {
  json result = parse_json(text, where, max_depth);
  if (!result.is_array()) fail("{}: expected a JSON array, found {}", where, result.type_name());
  return result;
}

nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& where, int max_depth) {
  using Json = nlohmann::ordered_json;
  try {
    return build_json<Json>(text, where, max_depth, false);
  } catch (const Json::parse_error& error) {
    fail("{}: not valid JSON at byte {}", where, error.byte);
  } catch (const Json::exception& error) {
    fail("{}: not valid JSON: {}", where, error.what());
  }
}

json read_json_object(const std::filesystem::path& path, int max_depth) {
  const MappedFile file(path);
  return parse_json_object(file.bytes(), path.string(), max_depth);
}

json read_optional_json_object(const std::filesystem::path& path, int max_depth) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored) ? read_json_object(path, max_depth) : json::object();
}

}  // namespace mote::convert
