// SPDX-License-Identifier: Apache-2.0
//
// Inputs whose parts lie 100,000 levels deep in each other: whatever calls itself to read them counts its
// depth and refuses them in one sentence.
#include <nlohmann/json.hpp>
#include <utility>

#include "converter/onnx/onnx_file.h"
#include "converter/readers/gguf_file.h"
#include "converter/readers/pickle.h"
#include "converter/readers/readers.h"
#include "converter/readers/safetensors.h"
#include "converter/tokenizers/normalizer_spec.h"
#include "converter/tokenizers/regex.h"
#include "converter/tokenizers/tokenizer_json.h"
#include "host/base/json_text.h"
#include "host/chat/conversation.h"
#include "host/chat/jinja/errors.h"
#include "host/chat/jinja/template.h"
#include "tests/support/checkpoint.h"
#include "tests/support/files.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/sentence_piece_file.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;
using namespace mote::testing;

namespace {

constexpr size_t kLevels = 100'000;

/// `before` so many times, `middle`, and `after` as often.
std::string levels(const std::string& before, const std::string& middle, const std::string& after) {
  std::string text;
  for (size_t i = 0; i < kLevels; ++i) text += before;
  text += middle;
  for (size_t i = 0; i < kLevels; ++i) text += after;
  return text;
}

template <class F>
void check_refused(const F& read, const char* part) {
  const std::string error = message_of<Error>(read);
  INFO(error.substr(0, 300));
  REQUIRE(contains(error, part));
}

void check_refused_template(const std::string& source) {
  const std::string error = message_of<jinja::Unsupported>([&] { jinja::Template(source).render({}, {}); });
  INFO(source.substr(0, 60) << ": " << error.substr(0, 300));
  REQUIRE(contains(error, "is not supported"));
}

/// A message of protocol buffers in others: each pair is a field's number, from the outermost on, again and
/// again.
std::string nested_message(const std::vector<uint64_t>& numbers) {
  std::vector<std::string> heads;
  uint64_t bytes = 0;
  const auto varint = [](uint64_t value) {
    std::string text;
    for (; value >= 128; value >>= 7) text += static_cast<char>(value % 128 + 128);
    return text + static_cast<char>(value);
  };
  for (size_t level = 0; level < kLevels; ++level) {
    for (size_t i = numbers.size(); i-- > 0;) {
      heads.push_back(varint(numbers[i] << 3 | 2) + varint(bytes));
      bytes += heads.back().size();
    }
  }
  std::string text;
  for (size_t i = heads.size(); i-- > 0;) text += heads[i];
  return text;
}

}  // namespace

TEST("JSON that is nested too deep is refused in every file") {
  const auto lists = levels("[", "", "]"), objects = levels("{\"a\":", "1", "}");
  for (const std::string& inner : {lists, objects}) {
    const std::string text = "{\"a\": " + inner + "}";
    check_refused([&] { parse_json_object(as_bytes(text), "file", 32); }, "file: JSON nested deeper than 32");
    check_refused([&] { read_tokenizer_json(as_bytes(text), "file"); }, "file: JSON nested deeper than 32");
    const std::string header = test::little(text.size(), 8) + text;
    check_refused([&] { parse_safetensors(as_bytes(header), "file"); }, "JSON nested deeper than 3");
    check_refused([&] { read_conversation("[" + text + "]", "file"); }, "file: JSON nested deeper than 100");
  }
  check_refused([&] { parse_json_array(as_bytes(lists), "file", 32); }, "JSON nested deeper than 32");
}

TEST("components of a tokenizer.json in components are refused beyond a depth") {
  const std::string sequence = R"({"type": "Sequence", "normalizers": [)";
  const std::string text = R"({"model": {"type": "BPE", "vocab": {}, "merges": []}, "normalizer": )" +
                           levels(sequence, "", "]}") + "}";
  check_refused([&] { read_tokenizer_json(as_bytes(text), "file"); }, "nested deeper than 32");
}

TEST("regular expressions in each other are refused beyond a depth, of whatever kind they are") {
  for (const char* open : {"[", "[^", "(", "(?:", "(?i:", "(?!", "([(", "a|(", "a(?:b["}) {
    INFO(open);
    check_refused([&] { parse_regex(levels(open, "a", "")); }, "nested deeper than 32");
  }
  check_refused([&] { parse_regex("a" + levels("", "", "{1}")); }, "repetitions of repetitions");
}

TEST("parts of a template's expressions are refused beyond a depth", "[values]") {
  const std::pair<const char*, const char*> pairs[] = {
      {"(", ")"},        {"[", "]"},    {"{0: ", "}"},        {"a[", "]"},          {"a(", ")"},
      {"-", ""},         {"not ", ""},  {"", ".b"},           {"", "[0]"},          {"", "()"},
      {"", "|upper"},    {"", " + 1"},  {"", " ** 1"},        {"", " and 1"},       {"", " or 1"},
      {"", " if 1"},     {"a if ", ""}, {"", " if 1 else 1"}, {"1 if 1 else ", ""}, {"", " * 1"},
      {"(1, ", ")"},     {"a(b=", ")"}, {"a(*", ")"},         {"a(**", ")"},        {"1|default(", ")"},
      {"1 is eq(", ")"}, {"a[0:", "]"}, {"", ".b()"}};
  for (const auto& [before, after] : pairs)
    check_refused_template("{{ " + levels(before, "a", after) + " }}");
  check_refused_template("{% set " + levels("(", "a", ")") + " = 1 %}");
  check_refused_template("{% for " + levels("(", "a", ",)") + " in [] %}{% endfor %}");
}

TEST("blocks of a template in blocks are refused beyond a depth", "[values]") {
  const std::pair<const char*, const char*> pairs[] = {{"{% if 1 %}", "{% endif %}"},
                                                       {"{% if 1 %}{% else %}", "{% endif %}"},
                                                       {"{% for a in [1] %}", "{% endfor %}"},
                                                       {"{% set a %}", "{% endset %}"},
                                                       {"{% macro m() %}", "{% endmacro %}"},
                                                       {"{% call m() %}", "{% endcall %}"},
                                                       {"{% filter upper %}", "{% endfilter %}"},
                                                       {"{% with a = 1 %}", "{% endwith %}"},
                                                       {"{% generation %}", "{% endgeneration %}"}};
  for (const auto& [before, after] : pairs) check_refused_template(levels(before, "a", after));
  std::string many = "{% if 0 %}";  // beside each other
  for (size_t i = 0; i < 1000; ++i) many += "{% elif 0 %}";
  REQUIRE(jinja::Template(many + "{% else %}x{% endif %}").render({}, {}) == "x");
}

TEST("values of a template in themselves end") {
  const auto text = [](const std::string& source) {
    try {
      return jinja::Template("{% set n = namespace() %}" + source).render({}, {});
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  for (const char* use : {"{{ n }}", "{{ n == n }}", "{{ [n] | tojson }}", "{{ n.a.a.a.a }}",
                          "{{ n | string }}", "{{ [n] == [n] }}", "{{ [n] | sort }}", "{{ n in [n] }}"}) {
    for (const char* cycle : {"{% set n.a = n %}", "{% set n.a = [n] %}", "{% set n.a = {'n': n} %}"}) {
      INFO(cycle << use);
      REQUIRE(!text(std::string(cycle) + use).empty());
    }
  }
}

TEST("arrays of a GGUF in arrays are refused beyond a depth") {
  const std::string arrays = levels(raw(9u) + raw(uint64_t{1}), raw(4u) + raw(uint64_t{0}), "");
  const std::string file = GgufBuilder().key("a", 9, arrays).bytes();
  check_refused([&] { parse_gguf(as_bytes(file), "file"); }, "nested deeper than 4");
}

TEST("objects of a pickle in objects take no depth") {
  const std::string tuples = "K\1" + levels("", "", "\x85"),
                    lists = levels("]", "", "") + std::string(kLevels - 1, 'a');
  for (const std::string& value : {tuples, lists, levels("(", "", "t")}) {
    const std::string file = test::checkpoint(test::pickled_dict({{"a", value}}));
    REQUIRE(parse_pytorch(as_bytes(file), "file").empty());
  }
  const std::string marks = test::checkpoint("\x80\x02" + levels("(", "", ""));
  check_refused([&] { parse_pytorch(as_bytes(marks), "file"); }, "file");
}

TEST("keys of a SentencePiece map are refused beyond a length") {
  const test::DoubleArrayBuilder array({{std::string(200, 'a'), 0}});
  const auto size = static_cast<uint32_t>(array.units().size() * sizeof(uint32_t));
  std::string map = test::little(size, 4);
  map.append(reinterpret_cast<const char*>(array.units().data()), size);
  map += std::string("x\0", 2);
  check_refused([&] { sentence_piece_map(map, false); }, "a key of more than 64 bytes");
  check_refused([&] { precompiled_map(map); }, "a key of more than 64 bytes");
  std::vector<uint32_t> circle(512);  // the root's child is its own
  circle[0] = 256u << 10;
  circle[256 ^ 'a'] = 'a' | static_cast<uint32_t>('a') << 10;
  std::string round = test::little(circle.size() * 4, 4);
  round.append(reinterpret_cast<const char*>(circle.data()), circle.size() * 4);
  check_refused([&] { sentence_piece_map(round + '\0', false); }, "a key of more than 64 bytes");
}

TEST("graphs of an ONNX file in graphs are refused beyond a depth") {
  // A model's graph (7), then its node's (1) attribute (5), which is a graph (6).
  const std::string inner = nested_message({1, 5, 6});
  std::string length;
  for (uint64_t value = inner.size(); value != 0; value >>= 7)
    length += static_cast<char>(value % 128 + (value >= 128 ? 128 : 0));
  const std::string file = "\x3A" + length + inner;
  check_refused([&] { parse_onnx(as_bytes(file), "file"); }, "file: graphs in graphs: nested deeper than 4");
}
