// SPDX-License-Identifier: Apache-2.0
//
// Chat templates. The renderings and refusals in data/jinja are those of jinja2 3.1 in the environment of
// transformers 5, one line for each construct.
#include <fstream>
#include <nlohmann/json.hpp>

#include "host/chat/conversation.h"
#include "host/chat/jinja/template.h"
#include "tests/support/files.h"
#include "tests/support/realdata.h"
#include "tests/support/skip.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;

namespace {

const std::filesystem::path kData = std::filesystem::path(MOTE_SOURCE_DIR) / "tests/converter/data/jinja";

std::string rendered(const std::string& source, const Conversation& conversation) {
  return render_chat(jinja::Template(source), conversation);
}

Conversation variables() {
  return read_conversation(mote::testing::read_text(kData / "variables.json"), "variables.json");
}

/// What is refused, and how; empty: nothing.
template <class Failure>
std::string failure_of(const std::string& source) {
  try {
    rendered(source, variables());
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

void assert_line(const nlohmann::json& line, const std::string& source, const Conversation& conversation) {
  CAPTURE(source);
  if (line.contains("text")) {
    TEST_ASSERT_EQUAL_STRING(line.at("text").get<std::string>(), rendered(source, conversation));
    return;
  }
  CHECK_THROWS_AS(rendered(source, conversation), jinja::Refusal);
}

}  // namespace

TEST("every construct of the language gives the text of jinja2, or is refused where jinja2 refuses",
     "[template]") {
  std::ifstream lines(kData / "constructs.jsonl");
  size_t count = 0;
  for (std::string text; std::getline(lines, text); ++count) {
    const nlohmann::json line = nlohmann::json::parse(text);
    assert_line(line, line.at("template"), variables());
  }
  TEST_ASSERT_GREATER_THAN(370u, count);
}

TEST("what is not rendered is refused by its name", "[template]") {
  const std::pair<const char*, const char*> cases[] = {
      {"{% block a %}{% endblock %}", "the tag 'block'"},
      {"{% include 'a' %}", "the tag 'include'"},
      {"{% autoescape true %}{% endautoescape %}", "the tag 'autoescape'"},
      {"{% for a in l recursive %}{% endfor %}", "a recursive loop"},
      {"{{ d|xmlattr }}", "the filter 'xmlattr'"},
      {"{{ l|pprint }}", "the filter 'pprint'"},
      {"{{ 'a'.encode() }}", "the method encode of a str"},
      {"{{ '{:>5}'.format(1) }}", "the field {:>5} of str.format"},
      {"{{ cycler(1) }}", "the function cycler"},
      {"{{ l|map('string') }}", "printing a generator"},
      {"{{ strftime_now('%U') }}", "the format %U of strftime_now"},
      {"{{ 9223372036854775807 + 1 }}", "an integer of more than 64 bits"},
      {"{{ 'a'.__class__ }}", "the attribute __class__"}};
  for (const auto& [source, name] : cases) {
    CAPTURE(source);
    const std::string message = failure_of<jinja::Unsupported>(source);
    CAPTURE(message);
    TEST_ASSERT_TRUE(message.find(name) != std::string::npos);
  }
}

TEST("a filter that is not rendered is no error where it is not reached", "[template]") {
  TEST_ASSERT_EQUAL_STRING("a", rendered("{% if false %}{{ d|xmlattr }}{% endif %}a", variables()));
}

TEST("templates without an end, a bound or a bottom are refused", "[template][values]") {
  const std::string parentheses = "{{ " + std::string(5000, '(') + "1" + std::string(5000, ')') + " }}";
  std::string sum = "{{ 1";
  for (int i = 0; i < 5000; ++i) sum += " + 1";
  const std::string cases[] = {
      "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
      "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
      "{% set n = namespace(x=[]) %}{% for i in range(1000) %}{% set n.x = [n.x] %}{% endfor %}",
      "{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = [n.x, n.x] %}{% endfor %}",
      "{% set n = namespace(x='ab') %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}",
      "{{ 'ab' * 9223372036854775807 }}",
      "{{ 'a'.ljust(99999999999) }}",
      "{{ l|tojson(indent=99999999) }}",
      parentheses,
      sum + " }}"};
  for (const std::string& source : cases) {
    CAPTURE(source.substr(0, 80));
    TEST_ASSERT_FALSE(failure_of<jinja::Unsupported>(source).empty());
  }
}

TEST("messages reach the template as transformers gives them", "[template]") {
  const std::string keys = "{% for m in messages %}{{ m.keys()|list }}{% endfor %}{{ tools }}{{ documents }}";
  TEST_ASSERT_EQUAL_STRING(
      "['thinking', 'role', 'content', 'reasoning', 'reasoning_content']['role']NoneNone",
      rendered(keys, read_conversation(R"([{"role": "assistant", "content": "a", "reasoning": "r"},
                                           {"role": "assistant", "content": null}])",
                                       "test")));
}

TEST("a conversation is a list of messages or an object with them", "[template]") {
  const Conversation given = read_conversation(
      R"({"messages": [], "tools": [{}], "answer": false, "variables": {"a": 1}, "b": 2, "date": "2026-11-25"})",
      "x");
  TEST_ASSERT_EQUAL_STRING(
      "[{}] False 1 2 25",
      rendered("{{ tools }} {{ add_generation_prompt }} {{ a }} {{ b }} {{ strftime_now('%d') }}", given));
  for (const char* wrong :
       {"{}", "3", "[", R"({"messages": 1})", R"({"messages": [], "date": "2026-13-01"})"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(read_conversation(wrong, "x"), Error);
  }
}

TEST("every rendering of 28 models' templates is that of transformers", "[template]") {
  const std::filesystem::path templates = test::realdata("chat_templates");
  std::ifstream lines(templates / "../../golden/chat/templates.jsonl");
  SKIP_UNLESS(lines, "there are no renderings of models' templates");
  size_t count = 0;
  for (std::string text; std::getline(lines, text); ++count) {
    const nlohmann::json line = nlohmann::json::parse(text);
    const std::string name = line.at("template");
    CAPTURE(name, line.at("case").get<std::string>());
    assert_line(line, mote::testing::read_text(templates / name), read_conversation(text, "x"));
  }
  TEST_ASSERT_EQUAL_UINT64(346, count);
}
