// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/grammar/schema_case.h"

namespace {

struct Case {
  const char* schema;
  std::vector<const char*> accepted, refused;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"}},"required":["a"],"additionalProperties":false})",
       {R"({"a": 1})", R"({"a":-12, "b":"x\n\u00e9"})"},
       {R"({})", R"({"b":"x","a":1})", R"({"a":1.5})", R"({"a":01})", R"({"a":1,"c":2})", "[]",
        R"({"a":1} )"}},
      {R"({"type":"object","properties":{"a":{}},"patternProperties":{"^x":{"type":"null"}},"additionalProperties":{"type":"boolean"}})",
       {R"({"a":[1,{"b":null}], "x1":null, "c":true})", "{}"},
       {R"({"x1":true})", R"({"c":1})", R"({"c":true,"a":1})"}},
      {R"({"type":"object","propertyNames":{"pattern":"^[a-c]+$"},"minProperties":1,"maxProperties":2})",
       {R"({"a":1})", R"({"ab":1,"c":2})"},
       {"{}", R"({"d":1})", R"({"a":1,"b":2,"c":3})"}},
      {R"({"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":3})",
       {"[1,2]", "[1, 2, 3]"},
       {"[]", "[1]", "[1,2,3,4]", "[1,  2]"}},
      {R"({"type":"array","prefixItems":[{"type":"string"},{"type":"null"}],"items":false})",
       {"[]", R"(["a"])", R"(["a",null])"},
       {R"(["a",null,1])", "[null]"}},
      {R"({"type":"array","items":[{"const":1}],"additionalItems":{"type":"boolean"}})",
       {"[1,true]", "[]"},
       {"[2]", "[1,1]"}},
      {R"({"enum":["on",1,null,{"a":[1,2]}]})",
       {R"("on")", "1", "null", R"({"a": [1,2]})"},
       {R"("off")", "2"}},
      {R"({"type":"string","minLength":2,"maxLength":3})",
       {R"("ab")", R"("\ud83d\ude00x")", "\"\xF0\x9F\x98\x80\xC3\xA9z\""},
       {R"("a")", R"("abcd")", R"("\ud83d")", "\"a\nb\""}},
      {R"({"type":"string","pattern":"^a+(b|\\\")$","maxLength":4})",
       {R"("aab")", R"("aa\"")"},
       {R"("aaaab")", R"("b")"}},
      {R"({"type":"string","pattern":"bc"})", {R"("abcd")", R"("bc")"}, {R"("ab")"}},
      {R"({"type":"string","format":"date"})",
       {R"("2024-02-29")", R"("1999-12-31")"},
       {R"("2023-02-29")", R"("2024-13-01")", R"("0000-01-01")"}},
      {R"({"type":"string","format":"date-time"})",
       {R"("2024-02-29T12:00:00Z")", R"("2024-02-29T12:00:00.25+01:30")"},
       {R"("2024-02-29")"}},
      {R"({"type":"string","format":"ipv6"})",
       {R"("::1")", R"("2001:db8::ff00:42:8329")", R"("::ffff:1.2.3.4")"},
       {R"("1::2::3")", R"("12345::")"}},
      {R"({"type":"string","format":"email"})", {R"("joe.bloggs@example.com")"}, {R"("joe")", R"("@x")"}},
      {R"({"type":"string","format":"uri"})",
       {R"("http://foo.bar/?baz=qux#quux")", R"("urn:oasis:names")", R"("mailto:a@b.c")"},
       {R"("//foo.bar")", R"("a b")", R"("http://host:name/")", R"("http://a@b@c/")"}},
      {R"({"type":"string","format":"uri"})",
       {R"("http://me:word@host:80/x")", R"("file:///etc/hosts")", R"("s://a:1")"},
       {R"("http://me:word")"}},
      {R"({"type":"string","format":"duration"})",
       {R"("P4DT12H30M5S")", R"("PT1H")", R"("P2W")"},
       {R"("P")", R"("PT")", R"("P1D2H")"}},
      {R"({"type":"string","format":"uuid"})", {R"("2eb8aa08-aa98-11ea-b4aa-73b441d16380")"}, {R"("2eb8")"}},
      {R"({"type":"integer","minimum":-5,"exclusiveMaximum":120})",
       {"-5", "0", "119"},
       {"-6", "120", "1e1", "-0"}},
      {R"({"type":"number","exclusiveMinimum":0.25,"maximum":1.5})",
       {"0.26", "1", "1.50", "0.250001"},
       {"0.25", "0.1", "1.51", "2", "-1"}},
      {R"({"type":"number","minimum":-1.5,"maximum":-0.5})",
       {"-1.5", "-1", "-0.75"},
       {"-0.4", "0", "-1.6", "1"}},
      {R"({"type":"integer","multipleOf":7,"minimum":8})", {"14", "70"}, {"7", "15", "-14"}},
      {R"({"type":"number","multipleOf":0.01})", {"1.25", "3", "-0.5"}, {"1.255"}},
      {R"({"type":"integer","multipleOf":100})", {"300", "0", "-100"}, {"310"}},
      {R"({"type":"number"})",
       {"1.5e-10", "0.0001234", "-3", "12345678901234567"},
       {"1.", ".5", "00", "1e1234", "123456789012345678"}},
      {R"({"$defs":{"node":{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}},"required":["next"],"additionalProperties":false}},"$ref":"#/$defs/node"})",
       {R"({"next":null})", R"({"next":{"next":{"next":null}}})"},
       {R"({"next":{}})", "null"}},
      {R"({"definitions":{"n":{"$anchor":"num","type":"number"}},"type":"array","items":{"$ref":"#num"}})",
       {"[1,2.5]"},
       {R"(["a"])"}},
      {R"({"allOf":[{"properties":{"a":{"type":"integer"}},"required":["a"]},{"properties":{"a":{"minimum":3},"b":{"type":"null"}}}],"type":"object"})",
       {R"({"a":3,"b":null})", R"({"a":7,"z":[]})"},
       {R"({"a":2})", R"({"b":null})"}},
      {R"({"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"x":{"type":"integer"}},"required":["kind","x"],"additionalProperties":false},{"type":"object","properties":{"kind":{"const":"b"}},"required":["kind"],"additionalProperties":false}]})",
       {R"({"kind":"a","x":1})", R"({"kind":"b"})"},
       {R"({"kind":"b","x":1})", R"({"kind":"a"})"}},
      {R"({"type":"object","properties":{"action":{"enum":["on","stop"]},"device":{"enum":["lamp"]}},"required":["action"],"additionalProperties":false,"if":{"properties":{"action":{"const":"on"}}},"then":{"required":["device"]}})",
       {R"({"action":"on","device":"lamp"})", R"({"action":"stop"})", R"({"action":"stop","device":"lamp"})"},
       {R"({"action":"on"})"}},
      {R"({"type":"string","enum":["a","b","c"],"not":{"enum":["b"]}})", {R"("a")", R"("c")"}, {R"("b")"}},
      {R"({"maxLength":1})", {R"("a")", "[true,{}]", "null", R"({"long":"text"})"}, {R"("ab")"}},
      {R"({"type":["string","null"]})", {"null", R"("")"}, {"1"}},
      {R"(true)", {"1", R"({"a":[]})"}, {"{1}"}},
      {R"({"not":{"type":["object","array"]}})", {"1", "null"}, {"[]", "{}"}},
  };
  return all;
}

}  // namespace

TEST("Answers of a schema are those that it says, keys in its order", "[grammar]") {
  const auto words = test::byte_level_words();
  for (const Case& one : cases()) {
    INFO(one.schema);
    const test::Tables tables(test::schema_source(one.schema), *words, false);
    for (const char* text : one.accepted) {
      INFO(text);
      CHECK(test::accepts(tables, text));
    }
    for (const char* text : one.refused) {
      INFO(text);
      CHECK_FALSE(test::accepts(tables, text));
    }
  }
}

TEST("Random answers of every schema parse, whatever the limit of tokens that the shortest fits",
     "[grammar]") {
  const auto words = test::byte_level_words();
  std::mt19937 random(5);
  for (const Case& one : cases()) {
    INFO(one.schema);
    const test::Tables tables(test::schema_source(one.schema), *words, true);
    const uint32_t need = test::Matcher(tables).need();
    for (uint32_t i = 0; i < 25; ++i) {
      const std::string answer = test::random_answer(tables, need + i * i / 3, random);
      INFO(answer);
      CHECK(nlohmann::json::accept(answer));
    }
  }
}

TEST("Masks of schemas have the ids that a copy of the matcher accepts", "[grammar]") {
  const auto words = test::byte_level_words();
  std::mt19937 random(11);
  for (const Case& one : cases()) {
    INFO(one.schema);
    const test::Tables tables(test::schema_source(one.schema), *words, true);
    for (int answer = 0; answer < 2; ++answer) {
      test::Matcher matcher(tables);
      const uint32_t limit = matcher.need() + 4 + test::below(random, 12);
      for (uint32_t i = 0; i < 12 && i < limit; ++i) {
        const uint32_t left = answer == 0 ? UINT32_MAX : limit - i;
        const std::vector<int32_t> ids = matcher.allowed(left);
        REQUIRE(matcher.accepted(left) == ids);
        REQUIRE(!ids.empty());
        const int32_t id = ids[test::below(random, ids.size())];
        if (id == words->stop()) break;
        REQUIRE(matcher.accept(id));
      }
    }
  }
}

TEST("White space is what the option says, and never without end", "[grammar]") {
  using mote::grammar::Whitespace;
  const auto words = test::byte_level_words();
  const char* schema = R"({"type":"object","properties":{"a":{"type":"array"}},"required":["a"]})";
  const auto accepts = [&](Whitespace whitespace, const char* text) {
    return test::accepts(test::Tables(test::schema_source(schema, whitespace), *words, false), text);
  };
  TEST_ASSERT_TRUE(accepts(Whitespace::none, R"({"a":[1,2]})"));
  TEST_ASSERT_FALSE(accepts(Whitespace::none, R"({"a": [1,2]})"));
  TEST_ASSERT_TRUE(accepts(Whitespace::one, R"({"a": [1, 2]})"));
  TEST_ASSERT_FALSE(accepts(Whitespace::one, R"({"a":  [1,2]})"));
  TEST_ASSERT_FALSE(accepts(Whitespace::one, "{\n\"a\":[]}"));
  TEST_ASSERT_TRUE(accepts(Whitespace::lines, "{\n  \"a\": [\n    1,\n    2\n  ]\n}"));
  TEST_ASSERT_FALSE(accepts(Whitespace::lines, "{\n\n\"a\":[]}"));
}

TEST("What a schema asks for and cannot be kept is refused by keyword, place and reason", "[grammar]") {
  const auto check = [](const char* schema, const char* sentence) {
    INFO(schema);
    TEST_ASSERT_EQUAL_STRING(sentence, test::refusal(schema).c_str());
  };
  check(R"({"properties":{"a":{"type":"integer","not":{"const":3}}},"type":"object"})",
        "\"not\" at /properties/a: only values that are listed can be excluded");
  check(R"({"type":"array","uniqueItems":true})", "\"uniqueItems\" at /: it is not kept");
  check(R"({"type":"array","items":{"contains":{}}})", "\"contains\" at /items: it is not kept");
  check(R"({"type":"object","required":["a"],"minProperties":3})",
        "\"minProperties\" at /: keys that are not declared may be one key again, so only one of them can be "
        "counted on");
  check(R"({"typ":"array"})", "\"typ\" at /: an unknown keyword");
  check(R"({"type":"string","format":"colour"})", "\"format\" at /: the format \"colour\" is not known");
  check(R"({"$ref":"other.json"})", "\"$ref\" at /: only places inside of the document are read");
  check(R"({"oneOf":[{"type":"integer"},{"minimum":2}]})",
        "\"oneOf\" at /: branches 0 and 1 may hold at once; with anyOf they may");
  check(R"({"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"})",
        "\"$ref\" at /$defs/a: it comes back to itself and says nothing on the way");
  check(R"({"enum":[]})", "no answer fits: the grammar contradicts itself");
  check(R"({"type":"integer","minimum":3,"maximum":2})", "no answer fits: the grammar contradicts itself");
  check(R"({"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]})",
        "no answer fits: the grammar contradicts itself");
  check(R"_({"type":"string","pattern":"(?=a)"})_",
        "\"pattern\" at /: expression \"(?=a)\": at character 3: look-ahead, which is not read");
}

TEST("Schemas and expressions made to explode end in a sentence within a second, or compile", "[grammar]") {
  const auto seconds = [](const std::string& schema) {
    const auto begin = std::chrono::steady_clock::now();
    const std::string sentence = test::refusal(schema);
    INFO(schema.substr(0, 80) << ": " << sentence);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    CHECK(took.count() < 4);  // on a machine that does other things
  };
  seconds(R"_({"type":"string","pattern":"(a|a)*{1000}"})_");
  seconds(R"_({"type":"string","pattern":"((a|a)*){1000}"})_");
  seconds(R"_({"type":"string","pattern":"(.*a){20}(x|y){30}z.*(a|b){40}"})_");
  seconds(R"_({"type":"string","pattern":"[ab]*a[ab]{40}"})_");
  seconds(R"_({"type":"string","pattern":"^(((a{100}){100}){100}){100}$"})_");
  std::string deep;
  for (int i = 0; i < 20000; ++i) deep += "[";
  seconds(deep);
  std::string wide = R"({"enum":[)";
  for (int i = 0; i < 60000; ++i) wide += '"' + std::to_string(i * 7919) + "\",";
  seconds(wide + "1]}");
  std::string doubled = R"({"$defs":{"a0":{"type":"null"})";
  for (int i = 1; i < 200; ++i) {
    const std::string before = "{\"$ref\":\"#/$defs/a" + std::to_string(i - 1) + "\"}";
    doubled += ",\"a" + std::to_string(i) + "\":{\"allOf\":[" + before + "," + before + "]}";
  }
  seconds(doubled + R"(},"$ref":"#/$defs/a199"})");
}

TEST("A bound of any size costs what a small one does", "[grammar]") {
  const auto words = test::byte_level_words();
  const test::Tables few(test::schema_source(R"({"type":"string","maxLength":30})"), *words, false);
  const test::Tables many(test::schema_source(R"({"type":"string","maxLength":100000})"), *words, false);
  TEST_ASSERT_EQUAL_UINT32(few.bytes().size(), many.bytes().size());
  TEST_ASSERT_FALSE(test::accepts(many, '"' + std::string(100001, 'x') + '"'));
}
