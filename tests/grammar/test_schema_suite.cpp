// SPDX-License-Identifier: Apache-2.0
//
// The official JSON-Schema-Test-Suite: of each schema that compiles the valid instances are accepted and no
// others.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>

#include "tests/grammar/schema_case.h"
#include "tests/support/realdata.h"

namespace {

using mote::grammar::Json;

/// Whole numbers are written without a point; a schema's "1.0" is 1.
Json canonical(const Json& value) {
  if (value.is_number_float()) {
    const auto number = value.get<double>();
    if (std::abs(number) < 9e17 && number == static_cast<double>(static_cast<int64_t>(number)))
      return static_cast<int64_t>(number);
    return value;
  }
  if (!value.is_structured()) return value;
  Json copy = value;
  for (Json& inside : copy) inside = canonical(inside);
  return copy;
}

/// Returns the value as texts, with the keys of its objects in every order, of which at most `most` are made.
std::vector<std::string> texts_of(const Json& value, size_t most) {
  std::vector<std::string> texts = {""};
  const auto add = [&](const std::string& text) {
    for (std::string& one : texts) one += text;
  };
  const auto cross = [&](const std::vector<std::string>& others) {
    std::vector<std::string> all;
    for (const std::string& one : texts) {
      for (const std::string& other : others) {
        if (all.size() < most) all.push_back(one + other);
      }
    }
    texts = all;
  };
  if (value.is_array()) {
    add("[");
    for (size_t i = 0; i < value.size(); ++i) {
      if (i != 0) add(",");
      cross(texts_of(value[i], most));
    }
    add("]");
    return texts;
  }
  if (!value.is_object()) return {value.dump(-1, ' ', false, Json::error_handler_t::replace)};
  std::vector<std::string> keys;
  for (const auto& [key, inside] : value.items()) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  std::vector<std::string> all;
  do {
    texts = {"{"};
    for (size_t i = 0; i < keys.size(); ++i) {
      add((i == 0 ? "" : ",") + Json(keys[i]).dump() + ":");
      cross(texts_of(value[keys[i]], most));
    }
    add("}");
    for (const std::string& text : texts) {
      if (all.size() < most) all.push_back(text);
    }
  } while (all.size() < most && std::next_permutation(keys.begin(), keys.end()));
  return all;
}

/// What is decided otherwise, and is said in docs/structured-output.md.
bool is_known(const std::string& file, const std::string& group, const std::string& test) {
  (void)group;
  return file == "float-overflow.json" || test.find("0.0") != std::string::npos;
}

}  // namespace

TEST("Of the official suite's schemas that compile, valid instances are accepted and invalid ones are not",
     "[grammar]") {
  const std::filesystem::path folder = test::realdata("json_schema_test_suite/draft2020-12");
  SKIP_WITHOUT(folder);
  const auto words = test::byte_level_words();
  uint32_t compiled = 0, instances = 0;
  std::map<std::string, uint32_t> refused;
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    // By default a format is an annotation; here it is kept.
    if (file.path().extension() == ".json" && file.path().filename() != "format.json")
      files.push_back(file.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    std::ifstream in(file);
    for (const Json& group : Json::parse(in)) {
      const std::string schema = group["schema"].dump();
      const std::string sentence = test::refusal(schema);
      INFO(file.filename().string() << ": " << group["description"] << ": " << schema);
      if (sentence.starts_with("no answer fits")) {
        for (const Json& test : group["tests"]) CHECK_FALSE(test["valid"].get<bool>());
        continue;
      }
      if (!sentence.empty()) {
        const size_t end = sentence.find('"', 1);
        ++refused[sentence[0] == '"' && end != std::string::npos ? sentence.substr(1, end - 1) : sentence];
        continue;
      }
      ++compiled;
      const test::Tables tables(test::schema_source(schema), *words, false);
      for (const Json& test : group["tests"]) {
        const std::string name = test["description"].get<std::string>();
        if (is_known(file.filename().string(), group["description"].get<std::string>(), name)) continue;
        ++instances;
        bool accepted = false;
        for (const std::string& text : texts_of(canonical(test["data"]), 800))
          accepted = accepted || test::accepts(tables, text);
        INFO(name << ": " << test["data"]);
        CHECK(accepted == test["valid"].get<bool>());
      }
    }
  }
  std::string counts;
  for (const auto& [keyword, count] : refused) counts += keyword + ": " + std::to_string(count) + "\n";
  UNSCOPED_INFO(compiled << " schemas compile, " << instances << " instances; refused by\n" << counts);
  CHECK(compiled >= 165);
  if (std::getenv("MOTE_SHOW_SUITE") != nullptr)
    WARN(compiled << " schemas compile, " << instances << " instances; refused by\n" << counts);
}
