// SPDX-License-Identifier: Apache-2.0
#include "host/base/options.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "host/base/did_you_mean.h"
#include "host/base/error.h"
#include "host/base/json_builder.h"

namespace mote::api {
namespace {

constexpr int kMostDepth = 102;  // values of chat templates are in an object of the options

[[noreturn]] void wrong(const char* key, const std::string& wanted) {
  throw OptionError(fmt::format("option \"{}\": expected {}", key, wanted));
}

/// Returns a number that is whole and at most `most`.
uint64_t whole_number(const char* key, const nlohmann::ordered_json& value, uint64_t least, uint64_t most) {
  const auto fail = [&] { wrong(key, fmt::format("a whole number from {} to {}", least, most)); };
  if (!value.is_number_unsigned()) fail();
  const auto number = value.get<uint64_t>();
  if (number < least || number > most) fail();
  return number;
}

}  // namespace

Options::Options(const char* json) : object_(nlohmann::ordered_json::object()) {
  if (json == nullptr || json[0] == '\0') return;
  try {
    object_ =
        convert::build_json<nlohmann::ordered_json>(std::string_view(json), "options", kMostDepth, true);
  } catch (const convert::Error& error) {
    throw OptionError(error.what());
  } catch (const nlohmann::ordered_json::parse_error& error) {
    throw OptionError(fmt::format("options: not valid JSON at byte {}", error.byte));
  } catch (const nlohmann::ordered_json::exception& error) {
    throw OptionError(fmt::format("options: not valid JSON: {}", error.what()));
  }
  if (!object_.is_object()) throw OptionError("options: not a JSON object");
}

const nlohmann::ordered_json* Options::find(const char* key) {
  known_.insert(key);
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

bool Options::given(const char* key) { return find(key) != nullptr; }

void Options::read(const char* key, bool& into) {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_boolean()) wrong(key, "true or false");
  into = value->get<bool>();
}

void Options::read(const char* key, std::string& into) {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_string()) wrong(key, "a text");
  into = value->get<std::string>();
}

void Options::read(const char* key, uint32_t& into, uint32_t least, uint32_t most) {
  if (const nlohmann::ordered_json* value = find(key))
    into = static_cast<uint32_t>(whole_number(key, *value, least, most));
}

void Options::read(const char* key, uint64_t& into) {
  if (const nlohmann::ordered_json* value = find(key)) into = whole_number(key, *value, 0, UINT64_MAX);
}

void Options::read(const char* key, float& into, float least, float most) {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return;
  const float number = value->is_number() ? value->get<float>() : NAN;
  if (!(number >= least && number <= most))
    wrong(key, fmt::format("a number from {:g} to {:g}", least, most));
  into = number;
}

void Options::read(const char* key, double& into, double least, double most) {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return;
  const double number = value->is_number() ? value->get<double>() : NAN;
  if (!(number >= least && number <= most))
    wrong(key, fmt::format("a number from {:g} to {:g}", least, most));
  into = number;
}

void Options::read(const char* key, std::vector<std::string>& into) {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return;
  into.clear();
  if (value->is_string()) return into.push_back(value->get<std::string>());
  if (!value->is_array()) wrong(key, "a text or a list of texts");
  for (const nlohmann::ordered_json& one : *value) {
    if (!one.is_string()) wrong(key, "a text or a list of texts");
    into.push_back(one.get<std::string>());
  }
}

void Options::read(const char* key, std::vector<double>& into, double least, double most) {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return;
  const auto fail = [&] { wrong(key, fmt::format("a list of numbers from {:g} to {:g}", least, most)); };
  if (!value->is_array() || value->empty()) fail();
  into.clear();
  for (const nlohmann::ordered_json& one : *value) {
    const double number = one.is_number() ? one.get<double>() : NAN;
    if (!(number >= least && number <= most)) fail();
    into.push_back(number);
  }
}

void Options::read(const char* key, std::vector<int32_t>& into, int32_t least) {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return;
  const auto fail = [&] { wrong(key, fmt::format("a list of whole numbers from {} on", least)); };
  if (!value->is_array()) fail();
  into.clear();
  for (const nlohmann::ordered_json& one : *value) {
    const bool fits =
        one.is_number_integer() && (!one.is_number_unsigned() || one.get<uint64_t>() <= INT32_MAX);
    const int64_t number = fits ? one.get<int64_t>() : INT64_MIN;
    if (number < least || number > INT32_MAX) fail();
    into.push_back(static_cast<int32_t>(number));
  }
}

void Options::read_or_null(const char* key, std::optional<double>& into) {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_number() && !value->is_null()) wrong(key, "a number, or null for none");
  into = value->is_null() ? std::nullopt : std::optional(value->get<double>());
}

void Options::read_word(const char* key, std::string& into, std::initializer_list<const char*> words) {
  read(key, into);
  if (!given(key)) return;
  for (const char* word : words) {
    if (into == word) return;
  }
  wrong(key, fmt::format("one of {}", fmt::join(words, ", ")));
}

void Options::read(const char* key, nlohmann::ordered_json& into) {
  if (const nlohmann::ordered_json* value = find(key)) into = *value;
}

void Options::finish() const {
  for (const auto& [key, value] : object_.items()) {
    if (known_.contains(key)) continue;
    throw OptionError(
        fmt::format("no option \"{}\"{}", key, convert::did_you_mean(key, {known_.begin(), known_.end()})));
  }
}

}  // namespace mote::api
