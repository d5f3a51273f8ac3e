// SPDX-License-Identifier: Apache-2.0
//
// Answers of a shape. The model is the golden llama with a small tokenizer: what it would write is nonsense,
// so that all of the shape is the grammar's doing.
#include <algorithm>

#include "tests/support/pair_tokenizer.h"
#include "tests/tools/command.h"

using namespace mote::testing;
using nlohmann::json;

namespace {

constexpr const char* kSchema =
    R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"enum":["x","y"]}},"required":["a","b"],"additionalProperties":false})";

/// The bundled model, whose tokens write JSON.
std::string model() {
  const std::string path = (scratch() / "shaped.mote").string();
  if (!std::filesystem::exists(path))
    assert_works(run("convert " MOTE_SOURCE_DIR "/models/commands -o " + path + " --type q4"));
  return path;
}

std::string schema_file() {
  const std::string path = (scratch() / "schema.json").string();
  write_text(path, kSchema);
  return path;
}

std::string answer(const std::string& options) {
  const json printed = json::parse(assert_works(run("run " + model() + " -p hello --json " + options)));
  return printed.at("text").get<std::string>();
}

void assert_fits(const std::string& text) {
  INFO(text);
  const json value = json::parse(text);
  TEST_ASSERT_EQUAL_SIZE_T(2, value.size());
  TEST_ASSERT_TRUE(value.at("a").is_number_integer());
  TEST_ASSERT_TRUE(value.at("b") == "x" || value.at("b") == "y");
}

}  // namespace

TEST("run keeps answers to a schema, from a file, a text and compiled tables, at any temperature") {
  const std::string schema = schema_file(), table = (scratch() / "schema.mgr").string();
  assert_fits(answer("--json-schema " + schema));
  assert_fits(answer("--json-schema '" + std::string(kSchema) + "' --temp 3 --seed 4"));
  assert_works(run("grammar " + schema + " -o " + table + " --model " + model()));
  const std::string one = answer("--grammar " + table);
  assert_fits(one);
  TEST_ASSERT_EQUAL_STRING(answer("--json-schema " + schema).c_str(), one.c_str());
  assert_works(run("grammar " + schema + " -o " + table));  // of no vocabulary
  TEST_ASSERT_EQUAL_STRING(one.c_str(), answer("--grammar " + table).c_str());
}

TEST("An answer is whole within every number of tokens that the shortest fits, and fewer are an error") {
  const Outcome few = run("run " + model() + " -p hello -n 1 --json-schema " + schema_file());
  assert_fails(few, 1, "the shortest answer of the grammar takes ");
  const size_t at = few.err.find("takes ") + 6;
  const int need = std::stoi(few.err.substr(at));
  assert_fails(
      run("run " + model() + " -p hello -n " + std::to_string(need - 1) + " --json-schema " + schema_file()),
      1, "takes " + std::to_string(need) + " tokens, there are " + std::to_string(need - 1));
  for (int tokens = need; tokens < need + 6; ++tokens)
    assert_fits(
        answer("--temp 2 --seed 1 --tokens " + std::to_string(tokens) + " --json-schema " + schema_file()));
}

TEST("run keeps answers to an expression, a choice, any JSON and a grammar") {
  const std::string number = answer("--regex '[0-9]{3}-[0-9]{4}'");
  TEST_ASSERT_EQUAL_SIZE_T(8, number.size());
  TEST_ASSERT_TRUE(number[3] == '-');
  const std::string word = answer("--choice on --choice off --temp 2");
  TEST_ASSERT_TRUE(word == "on" || word == "off");
  TEST_ASSERT_TRUE(json::parse(answer("--any-json --temp 2 -n 40")).is_structured());
  const std::string path = (scratch() / "sum.gbnf").string();
  write_text(path, "root ::= [0-9] \"+\" [0-9]\n");
  TEST_ASSERT_EQUAL_SIZE_T(3, answer("--gbnf " + path).size());
}

TEST("Text before a trigger is free, and what follows it keeps to the schema") {
  const std::string text =
      answer("--temp 2 -n 60 --after '!!' --after-within 5 --json-schema " + schema_file());
  const size_t begin = text.find("!!");
  INFO(text);
  TEST_ASSERT_TRUE(begin != std::string::npos);
  assert_fits(text.substr(begin + 2));
}

TEST("An answer in which a trigger occurs keeps to the schema behind it, and is free again") {
  const std::string chat = "run " + model() + " --chat -p 'turn the kitchen lights to 30 percent' --json ";
  const auto text = [&](const std::string& options) {
    return json::parse(assert_works(run(chat + options))).at("text").get<std::string>();
  };
  const std::string free = text("");
  TEST_ASSERT_TRUE(free.starts_with(R"({"action":"set","device":"lights","room":"kitchen")"));
  const std::string off = text(R"(--trigger '"action":={"const":"off"}')");
  INFO(off);
  TEST_ASSERT_TRUE(off.starts_with(R"({"action":"off","device":)"));
  // The token that the model writes goes on with a quote, which is not what follows here.
  const std::string number = text(R"(--trigger 'room":={"type":"integer","minimum":7,"maximum":7}')");
  INFO(number);
  TEST_ASSERT_TRUE(contains(number, R"("room":7)"));
  TEST_ASSERT_EQUAL_STRING(free.c_str(), text(R"(--trigger 'nowhere={"type":"integer"}')").c_str());
}

TEST("Guesses of what a schema forces stand, and change no answer") {
  const std::string asked = "run " + model() + " -p hello --json --json-schema " + schema_file();
  for (const std::string sampling : {"", " --temp 1 --seed 3", " --temp 2 --seed 5 --repeat-penalty 1.3"}) {
    INFO(sampling);
    const json off = json::parse(assert_works(run(asked + sampling + " --speculate off")));
    const json with = json::parse(assert_works(run(asked + sampling + " --speculate auto")));
    TEST_ASSERT_TRUE(off.at("output_ids") == with.at("output_ids"));
    TEST_ASSERT_GREATER_THAN(0, with.at("speculation").at("stood").get<int>());
  }
}

TEST("A schema that is refused is wrong usage, by keyword, place and reason") {
  assert_fails(run("run " + model() + R"( -p a --json-schema '{"type":"array","uniqueItems":true}')"), 2,
               "\"uniqueItems\" at /: it is not kept");
  assert_fails(run("chat " + model() + " -p a --regex '(?=a)'"), 2, "look-ahead, which is not read");
  assert_fails(run("grammar '{\"enum\":[]}' -o " + (scratch() / "none.mgr").string()), 2, "no answer fits");
  assert_fails(run("run " + model() + " -p a --any-json --choice a"), 2, "keeps to one of");
  assert_fails(run("eval " + model() + " --perplexity " + schema_file() + " --any-json"), 2, "--exact");
  const std::string table = (scratch() / "broken.mgr").string();
  write_text(table, "MGRMabc");
  assert_fails(run("run " + model() + " -p a --grammar " + table), 1, "these are no such tables");
}

TEST("chat keeps each answer to the shape") {
  const json said =
      json::parse(assert_works(run("chat " + model() + " -p hello --json --json-schema " + schema_file())));
  assert_fits(said.at("text").get<std::string>());
}

TEST("A healed prompt loses its last token, whose bytes begin the answer and are not said again") {
  const json plain = json::parse(assert_works(run("run " + model() + " -p 'hello th' --json -n 3")));
  const json healed = json::parse(assert_works(run("run " + model() + " -p 'hello th' --json -n 3 --heal")));
  TEST_ASSERT_TRUE(healed.at("prompt_ids").size() <= plain.at("prompt_ids").size());
  TEST_ASSERT_FALSE(healed.at("output_ids").empty());
}
