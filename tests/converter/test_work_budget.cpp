// SPDX-License-Identifier: Apache-2.0
//
// What reading costs: small inputs that ask for much are refused with the limit's name, and what larger
// honest inputs cost grows as they do. Work is counted by the code under test.
#include "host/base/work_budget.h"

#include <nlohmann/json.hpp>

#include "converter/readers/ctranslate2.h"
#include "converter/readers/pickle.h"
#include "converter/readers/readers.h"
#include "converter/tokenizers/dfa.h"
#include "converter/tokenizers/tables.h"
#include "converter/tokenizers/tokenizer_json.h"
#include "host/chat/jinja/errors.h"
#include "host/chat/jinja/template.h"
#include "tests/support/checkpoint.h"
#include "tests/support/ct2_builder.h"
#include "tests/support/files.h"
#include "tests/support/sentence_piece_file.h"
#include "tests/support/tokenizer_directory.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;
using namespace mote::testing;
using nlohmann::json;

namespace {

template <class F>
uint64_t work_of(const F& f) {
  const uint64_t before = work_charged();
  f();
  return work_charged() - before;
}

/// Whether the work for inputs of sizes n, 2n, 4n and 8n grows at most in proportion, up to what a first
/// quarter does not share.
template <class Make>
void check_growth(uint64_t n, const Make& run) {
  uint64_t before = work_of([&] { run(n); });
  for (const uint64_t size : {2 * n, 4 * n, 8 * n}) {
    const uint64_t work = work_of([&] { run(size); });
    INFO(size << ": " << work << ", half of it: " << before);
    TEST_ASSERT_TRUE(work > 0);
    TEST_ASSERT_TRUE(work <= before * 9 / 4);
    before = work;
  }
}

json bpe_tokenizer() {
  json vocabulary = {{"<unk>", 0}, {"a", 1}, {"b", 2}, {"ab", 3}};
  return {{"decoder", {{"type", "ByteFallback"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", {"a b"}}}}};
}

json with_split(const std::string& regex) {
  json root = bpe_tokenizer();
  root["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}};
  return root;
}

/// Reads it and makes tables of it.
void read_tokenizer_text(const json& root) {
  const std::string text = root.dump();
  TokenizerTables(read_tokenizer_json(std::as_bytes(std::span(text)), "tokenizer.json"));
}

std::string error_of(const json& root) {
  return message_of<Error>([&] { read_tokenizer_text(root); });
}

void check_limit(const std::string& error) {
  INFO(error);
  TEST_ASSERT_TRUE(contains(error, "takes more than"));
  TEST_ASSERT_TRUE(contains(error, "the limit for so many bytes"));
}

void render(const std::string& source) { jinja::Template(source).render({}, {}); }

std::string repeated(const std::string& text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

// ---- The budget ----

TEST("a budget is in force until it ends, and what passes it is refused with its numbers") {
  {
    WorkBudget outer("outer", 10, 2, 100);
    TEST_ASSERT_EQUAL_UINT64(120, outer.limit());
    charge_work(50);
    {
      WorkBudget inner("the inner file", 3, 10, 0);
      charge_work(30);
      const std::string error = message_of<WorkExceeded>([] { charge_work(1); });
      TEST_ASSERT_TRUE(contains(error, "the inner file: reading its 3 bytes takes more than 30 steps"));
      TEST_ASSERT_EQUAL_UINT64(30, inner.spent());
    }
    charge_work(70);
    TEST_ASSERT_EQUAL_UINT64(120, outer.spent());
    TEST_ASSERT_TRUE(!message_of<WorkExceeded>([] { charge_work(UINT64_MAX); }).empty());
  }
  charge_work(1000);  // without one it is counted alone
  TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, WorkBudget("huge", UINT64_MAX, 2, 0).limit());
}

TEST("a descent ends at its depth and can begin again") {
  uint32_t depth = 0;
  const auto down = [&](const auto& self, uint32_t levels) -> void {
    const Nesting nested(depth, 3, "text");
    if (levels > 1) self(self, levels - 1);
  };
  down(down, 3);
  TEST_ASSERT_TRUE(contains(message_of<Error>([&] { down(down, 4); }), "text: nested deeper than 3"));
  TEST_ASSERT_EQUAL_UINT32(0, depth);
  down(down, 3);
}

// ---- Regular expressions ----

TEST("repetitions of repetitions of nothing are refused, though they make no instruction") {
  std::string regex = "()";
  for (int i = 0; i < 10; ++i) regex = "(" + regex + "){64}";
  check_limit(error_of(with_split("a|" + regex)));
}

TEST("a class of all characters without regard to case costs what its two ends do") {
  const uint64_t work = work_of([] { parse_regex("(?i:[\\x{0}-\\x{10FFFF}])"); });
  TEST_ASSERT_TRUE(work < 10'000);
  const RegexPtr regex = parse_regex("(?i:[\\x{0}-\\x{10FFFF}])");
  TEST_ASSERT_TRUE(regex->set == CharSet().complement());
  TEST_ASSERT_TRUE(parse_regex("(?i:[j-l])")->set ==
                   CharSet().add('j', 'l').add('J', 'L').add(0x212A, 0x212A));
}

TEST("a set of characters holds its ranges, whatever the order in which they came") {
  const CharSet set = CharSet::of_ranges({{50, 60}, {10, 20}, {21, 30}, {55, 70}, {5, 5}});
  TEST_ASSERT_TRUE((set.ranges() == std::vector<CharSet::Range>{{5, 5}, {10, 30}, {50, 70}}));
  CharSet added;
  added.add(50, 60).add(10, 20).add(55, 70).add(5, 5).add(21, 30).add(kCodePoints, UINT32_MAX).add(3, 2);
  TEST_ASSERT_TRUE(added == set);
  TEST_ASSERT_TRUE(added.add(0, kCodePoints + 5) == CharSet().complement());
  TEST_ASSERT_TRUE(set.complement().complement() == set);
  TEST_ASSERT_TRUE((set & set.complement()).empty());
  TEST_ASSERT_TRUE((set | set.complement()) == CharSet().complement());
  TEST_ASSERT_TRUE((set & CharSet().add(20, 55)) == CharSet().add(20, 30).add(50, 55));
  for (uint32_t c = 0; c < 80; ++c)
    REQUIRE(set.has(c) == (c == 5 || (c >= 10 && c <= 30) || (c >= 50 && c <= 70)));
}

TEST("brackets in brackets are refused beyond a depth, as groups are") {
  for (const char* open : {"[", "(", "[^"})
    TEST_ASSERT_TRUE(
        contains(message_of<Error>([&] { parse_regex(repeated(open, 100'000)); }), "nested deeper than 32"));
  parse_regex(repeated("[", 20) + "a" + repeated("]", 20));
}

TEST("the work for a regular expression grows as its text does") {
  check_growth(500, [](uint64_t n) {
    std::string regex;
    for (uint64_t i = 0; i < n; ++i) regex += static_cast<char>('a' + i % 26);
    parse_regex(regex);
  });
  check_growth(500, [](uint64_t n) {
    std::string regex = "[";
    for (uint64_t i = 0; i < n; ++i) regex += fmt::format("\\x{{{:X}}}", 0x100 + 7919 * i % 100'000);
    parse_regex(regex + "]");
  });
  check_growth(100, [](uint64_t n) { parse_regex(repeated("a?+b", n)); });
}

// ---- Tokenizers ----

TEST("normalizers that double a text again and again are refused") {
  json steps = json::array({{{"type", "Lowercase"}}});
  const json doubling = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}};
  for (int i = 0; i < 40; ++i) steps.push_back(doubling);
  json root = bpe_tokenizer();
  root["normalizer"] = {{"type", "Sequence"}, {"normalizers", steps}};
  check_limit(error_of(root));
  steps = json::array();  // the same while the text is copied
  for (char c = 'c'; c < 'z'; ++c)
    steps.push_back({{"type", "Replace"},
                     {"pattern", {{"String", std::string(1, c)}}},
                     {"content", std::string(3, static_cast<char>(c + 1))}});
  root["normalizer"] = {{"type", "Sequence"}, {"normalizers", steps}};
  check_limit(error_of(root));
}

TEST("an added token of a megabyte is refused before memory is taken for it") {
  json root = bpe_tokenizer();
  root["added_tokens"] = {{{"id", 4}, {"content", std::string(4 << 20, 'a')}, {"special", false}}};
  check_limit(error_of(root));
}

TEST("keys of a SentencePiece map that share one long text are refused") {
  std::map<std::string, std::string> one = {{"k", std::string(60'000, 'x')}};
  ::test::SentencePieceFile file;
  file.piece("\xE2\x96\x81", -2.0f).piece("a", -1.0f);
  file.map(one);
  // Another unit for each of 2,000 keys, whose values all are the text's place.
  std::map<std::string, uint32_t> places;
  for (int i = 0; i < 2000; ++i)
    places[std::string{char('a' + i % 20), char('a' + i / 20 % 20), char('a' + i / 400)}] = 0;
  const ::test::DoubleArrayBuilder array(places);
  const auto size = static_cast<uint32_t>(array.units().size() * sizeof(uint32_t));
  std::string map = ::test::little(size, 4);
  map.append(reinterpret_cast<const char*>(array.units().data()), size);
  map += one["k"] + '\0';
  const WorkBudget budget("spiece.model", 118'000);
  check_limit(message_of<Error>([&] { sentence_piece_map(map, false); }));
  check_limit(message_of<Error>([&] { precompiled_map(map); }));
}

TEST("the work for a tokenizer's file grows as the file does") {
  check_growth(200, [](uint64_t n) {
    json root = bpe_tokenizer();
    for (uint64_t i = 0; i < n; ++i) root["model"]["vocab"][fmt::format("token{:05}", i)] = 4 + i;
    read_tokenizer_text(root);
  });
  check_growth(200, [](uint64_t n) {
    json root = bpe_tokenizer();
    root["added_tokens"] = json::array();
    for (uint64_t i = 0; i < n; ++i)
      root["added_tokens"].push_back(
          {{"id", 4 + i}, {"content", fmt::format("<special{:05}>", i)}, {"special", true}});
    read_tokenizer_text(root);
  });
  check_growth(500, [](uint64_t n) {
    json vocabulary = json::array({{"<unk>", 0.0}});
    for (uint64_t i = 0; i < n; ++i) vocabulary.push_back({fmt::format("piece{:05}", i), -1.0 - double(i)});
    read_tokenizer_text({{"decoder", {{"type", "ByteFallback"}}},
                         {"model", {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocabulary}}}});
  });
}

TEST("the work for control pieces of a SentencePiece model grows as their number does") {
  check_growth(200, [](uint64_t n) {
    ::test::SentencePieceFile file({"<pad>", "</s>", "<unk>"});
    file.piece("\xE2\x96\x81", -2.0f).piece("a", -1.0f);
    for (uint64_t i = 0; i < n; ++i) file.piece(fmt::format("<c{:05}>", i), 0, 3);
    TokenizerDirectory directory(json{{"model_type", "t5"}, {"vocab_size", 100'000}});
    directory.text("spiece.model", file.bytes()).file("tokenizer_config.json", json::object());
    directory.read(true);
  });
}

// ---- Templates ----

TEST("searching a text for a part of it takes as long as both, not as their product") {
  const std::string make = "{% set a = 'a' * 800000 %}{% set b = ('a' * 400000) ~ 'b' %}";
  render(make +
         "{{ b in a }}{{ a.count(b) }}{{ a.find(b) }}{{ a.rfind('b' ~ b) }}{{ a.replace(b, '') | length }}");
}

TEST("parts of a text are counted before they are made") {
  for (const char* expression :
       {"('a' * 2000000).split('a')", "('a ' * 1500000).split()", "('a' * 2000000).rsplit('a')",
        "('a ' * 1500000).rsplit(none, 8000000)", "('a\n' * 1500000).splitlines()"}) {
    INFO(expression);
    const uint64_t work = work_of([&] {
      TEST_ASSERT_TRUE(contains(
          message_of<jinja::Unsupported>([&] { render(std::string("{% set x = ") + expression + " %}"); }),
          "values"));
    });
    TEST_ASSERT_TRUE(work < 4'000'000);
  }
}

TEST("dictionaries are compared by charged lookups, and texts and lists that are kept are charged") {
  const auto is_limited = [](const std::string& source) {
    const std::string error = message_of<jinja::Unsupported>(
        [&] { jinja::Template(source).render({}, {}, jinja::Limits{200'000}); });
    INFO(error);
    TEST_ASSERT_TRUE(contains(error, "takes more than 200000 steps"));
  };
  std::string one = "{% set a = {", two = "{% set b = {";
  for (int i = 0; i < 800; ++i) {
    one += fmt::format("'{}':1,", i);
    two += fmt::format("'{}':1,", 799 - i);
  }
  is_limited(one + "} %}" + two + "} %}{{ a == b }}");
  is_limited(repeated("{% set a = 'a' * 4000000 %}", 4));
  is_limited("{% set a = ('a' * 50000) | list %}" + repeated("{% set b = a | list %}", 10));
}

TEST("counts of replacements and widths may be any integer") {
  const auto text = [](const std::string& source) { return jinja::Template(source).render({}, {}); };
  const std::string least = "(-9223372036854775807 - 1)";
  TEST_ASSERT_EQUAL_STRING("bbb", text("{{ 'aaa'.replace('a', 'b', " + least + ") }}").c_str());
  TEST_ASSERT_EQUAL_STRING("-a-", text("{{ 'a'.replace('', '-', " + least + ") }}").c_str());
  TEST_ASSERT_EQUAL_STRING("-1", text("{{ '-1'.zfill(" + least + ") }}").c_str());
  TEST_ASSERT_EQUAL_STRING("['a', 'b']", text("{{ 'a b'.split(' ', " + least + ") }}").c_str());
  TEST_ASSERT_EQUAL_STRING("['a', 'b']", text("{{ 'a b'.rsplit(none, " + least + ") }}").c_str());
  TEST_ASSERT_EQUAL_STRING("['a b', 'c']", text("{{ 'a b  c '.rsplit(none, 1) }}").c_str());
  TEST_ASSERT_EQUAL_STRING("['a\\xa0\xE2\x98\x83', 'c']", text("{{ 'a\xC2\xA0\xE2\x98\x83\xE3\x80\x80"
                                                               "c'.rsplit(none, 1) }}")
                                                              .c_str());
}

TEST("the work for a template grows as its text does") {
  check_growth(200,
               [](uint64_t n) { render(repeated("{{ 'abc' | upper }}{% if 1 == 2 %}x{% endif %}", n)); });
  check_growth(
      200, [](uint64_t n) { render("{{ '" + repeated("ab ", n) + "'.rsplit(none, 100000) | length }}"); });
  check_growth(2000, [](uint64_t n) {
    render("{{ '" + repeated("a", n) + "'.count('" + repeated("a", n / 2) + "b') }}");
  });
}

TEST("names that many conditions set one after the other cost in proportion, or are refused") {
  std::string source;
  for (int i = 0; i < 2000; ++i) source += fmt::format("{{% if a %}}{{% set x{} = 1 %}}{{% endif %}}", i);
  const std::string error = message_of<jinja::Unsupported>([&] { jinja::Template{source}; });
  INFO(error);
  TEST_ASSERT_TRUE(contains(error, "the limit for so many bytes"));
  check_growth(50, [](uint64_t n) {
    jinja::Template{repeated("{% if a %}{% set x = 1 %}{% else %}{{ b }}{% endif %}", n)};
  });
}

// ---- Checkpoints ----

TEST("the work for a checkpoint of many tensors grows as it does, however long its entries' prefix is") {
  const std::string prefix(60'000, 'p');
  check_growth(100, [&](uint64_t n) {
    std::vector<std::pair<std::string, std::string>> tensors;
    for (uint64_t i = 0; i < n; ++i)
      tensors.emplace_back(fmt::format("tensor{:05}", i),
                           ::test::pickled_tensor("FloatStorage", "0", 0, {1}, {1}));
    const std::string file = ::test::zip(
        {{prefix + "/data.pkl", ::test::pickled_dict(tensors)}, {prefix + "/data/0", std::string(4, '\0')}});
    TEST_ASSERT_EQUAL_UINT64(n, parse_pytorch(std::as_bytes(std::span(file)), "file").size());
  });
}

TEST("the work for a CTranslate2 file grows as it does") {
  check_growth(200, [](uint64_t n) {
    Ct2Builder builder;
    for (uint64_t i = 0; i < n; ++i)
      builder.floats(fmt::format("variable{:05}", i), {4})
          .alias(fmt::format("other{:05}", i), fmt::format("variable{:05}", i));
    const std::string bytes = builder.bytes();
    TEST_ASSERT_EQUAL_UINT64(2 * n, parse_ctranslate2(as_bytes(bytes), "m").variables.size());
  });
}

TEST("positions that a CTranslate2 file leaves out are made row by row, and refused where they are huge") {
  const auto translated = [](uint32_t width) {
    Ct2Builder builder;
    builder.variable("decoder/embeddings/weight", {1, width}, 1, std::string(width, '\1'))
        .variable("decoder/embeddings/weight_scale", {1}, 0, raw(1.0f))
        .alias("encoder/embeddings_0/weight", "decoder/embeddings/weight")
        .alias("decoder/projection/weight", "decoder/embeddings/weight");
    for (const std::string side : {"encoder", "decoder"}) {
      builder.number(side + "/pre_norm", 0).number(side + "/num_heads", 1);
      builder.floats(side + "/layer_0/ffn/linear_0/weight", {2, 2});
    }
    const std::string bytes = builder.bytes();
    return message_of<Error>([&] {
      translate_ctranslate2(parse_ctranslate2(as_bytes(bytes), "m"), json::object(), {"<s>"}, "m");
    });
  };
  check_limit(translated(1u << 20));
  TEST_ASSERT_FALSE(contains(translated(16), "takes more than"));
}
