// SPDX-License-Identifier: Apache-2.0
#include "converter/readers/json_text.h"

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "converter/error.h"
#include "converter/readers/bytes.h"
#include "converter/source.h"

namespace mote::convert {

using nlohmann::json;

namespace {

json parse_json(std::span<const std::byte> text, const std::string& where, int max_depth) {
  std::vector<std::set<std::string>> keys;  // seen so far in each open object
  const auto check = [&](int depth, json::parse_event_t event, json& parsed) {
    switch (event) {
      case json::parse_event_t::object_start:
        keys.emplace_back();
        [[fallthrough]];
      case json::parse_event_t::array_start:
        if (depth >= max_depth) fail("{}: JSON nested deeper than {}", where, max_depth);
        break;
      case json::parse_event_t::object_end:
        keys.pop_back();
        break;
      case json::parse_event_t::key:
        if (!keys.back().insert(parsed.get<std::string>()).second) {
          fail("{}: key '{}' occurs twice", where, shown(parsed.get<std::string>()));
        }
        break;
      default:
        break;
    }
    return true;
  };
  const char* begin = reinterpret_cast<const char*>(text.data());
  json result;
  try {
    result = json::parse(begin, begin + text.size(), check);
  } catch (const json::parse_error& error) {
    fail("{}: not valid JSON at byte {}: is the file damaged?", where, error.byte);
  } catch (const json::exception& error) {
    fail("{}: not valid JSON: {}", where, shown(error.what()));
  }
  return result;
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

json read_json_object(const std::filesystem::path& path, int max_depth) {
  const MappedFile file(path);
  return parse_json_object(file.bytes(), path.string(), max_depth);
}

}  // namespace mote::convert
