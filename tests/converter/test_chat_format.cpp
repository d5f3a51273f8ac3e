// SPDX-License-Identifier: Apache-2.0
//
// From templates to pieces, and what is called unknown.
#include "converter/chat_formats/pieces.h"
#include "converter/chat_formats/understand.h"
#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using mote::testing::message_of;

namespace {

const std::string kChatml =
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

UnderstoodTemplate understand(const std::string& source, const TemplateSetting& setting = {}) {
  return understand_template(source, setting);
}

void assert_unknown(const std::string& source, const std::string& reason) {
  const UnderstoodTemplate chat = understand(source);
  CAPTURE(source, chat.remark);
  TEST_ASSERT_FALSE(chat.format.has_value());
  TEST_ASSERT_TRUE(chat.remark.find(reason) != std::string::npos);
}

}  // namespace

TEST("a template that renders as a known format has its name", "[chat_format]") {
  const UnderstoodTemplate chat = understand(kChatml);
  TEST_ASSERT_EQUAL_STRING("chatml", chat.format->name);
  TEST_ASSERT_EQUAL_STRING("", chat.remark);
  TEST_ASSERT_FALSE(chat.format->default_system.has_value());
}

TEST("a known format keeps the default system message of the template", "[chat_format]") {
  const UnderstoodTemplate chat = understand(
      "{% if messages[0].role != 'system' %}<|im_start|>system\nBe good.<|im_end|>\n{% endif %}" + kChatml);
  TEST_ASSERT_EQUAL_STRING("chatml", chat.format->name);
  TEST_ASSERT_EQUAL_STRING("Be good.", *chat.format->default_system);
}

TEST("pieces are derived for a template that no known format explains", "[chat_format]") {
  const std::string source =
      "{{ bos_token }}{% for m in messages %}{% if m.role == 'system' %}[S]{{ m.content }}[/S]{% elif m.role "
      "== "
      "'user' %}[U]{{ m.content | trim }}[/U]{% else %}{{ m.content | trim }}{{ eos_token }}{% endif %}{% "
      "endfor %}"
      "{% if add_generation_prompt %}[A]{% endif %}";
  TemplateSetting setting;
  setting.tokens = {{"bos_token", "<s>"}, {"eos_token", "</s>"}};
  // The system message is not trimmed: the pieces trim all or nothing.
  TEST_ASSERT_FALSE(understand(source, setting).format.has_value());
  std::string even = source;
  even.replace(even.find("{{ m.content }}"), 15, "{{ m.content | trim }}");
  const UnderstoodTemplate chat = understand(even, setting);
  TEST_ASSERT_EQUAL_STRING("derived", chat.format->name);
  TEST_ASSERT_TRUE(chat.format->trim);
  TEST_ASSERT_EQUAL_STRING(
      "<s>[S]x[/S][U]a[/U]b</s>[U]c[/U][A]",
      render_pieces(*chat.format, {{"system", " x"}, {"user", "a "}, {"assistant", "b"}, {"user", "c"}},
                    true));
}

TEST("a system message inside the first question is derived", "[chat_format]") {
  const UnderstoodTemplate chat = understand(
      "{% if messages[0].role == 'system' %}{% set s = messages[0].content ~ '##' %}{% set rest = "
      "messages[1:] %}"
      "{% else %}{% set s = '' %}{% set rest = messages %}{% endif %}{% for m in rest %}{% if m.role == "
      "'user' %}"
      "Q:{{ s if loop.first else '' }}{{ m.content }};{% else %}A:{{ m.content }}|{% endif %}{% endfor %}"
      "{{ 'A:' if add_generation_prompt }}");
  TEST_ASSERT_TRUE(chat.format->system_in_user);
  TEST_ASSERT_EQUAL_STRING("Q:x##a;A:", render_pieces(*chat.format, {{"system", "x"}, {"user", "a"}}, true));
}

TEST("a template without system messages says so", "[chat_format]") {
  const UnderstoodTemplate chat = understand(
      "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no') }}{% endif %}{{ m.role[0] "
      "}}:"
      "{{ m.content }}\n{% endfor %}{{ 'a:' if add_generation_prompt }}");
  TEST_ASSERT_TRUE(chat.format.has_value());
  TEST_ASSERT_TRUE(chat.remark.find("no system message") != std::string::npos);
}

TEST("what no pieces say is unknown, with the reason", "[chat_format]") {
  assert_unknown("{{ strftime_now('%d %b') }}" + kChatml, "the date");
  assert_unknown("{% block a %}{% endblock %}" + kChatml, "the tag 'block'");
  assert_unknown("{{ messages }", "expected");
  assert_unknown("{{ raise_exception('never') }}", "refuses");
  assert_unknown("{% for m in messages %}{{ m.content }}{{ m.content }}{% endfor %}", "repeats a message");
  assert_unknown("{{ messages|length }}", "leaves out a message");
  const std::string drops =
      "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content.split('</think>')[-1] + "
      "'<|im_end|>\n' }}"
      "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
  assert_unknown(drops, "the thoughts of an earlier answer");
  assert_unknown(
      "{% for m in messages %}{% if loop.index0 >= 4 %}!{% endif %}{{ m.role }}:{{ m.content }};{% endfor %}",
      "three turns");
}

TEST("the switch for thinking is set where a template has it, and refused where not", "[chat_format]") {
  const std::string source =
      kChatml + "{% if add_generation_prompt and not enable_thinking %}<think></think>{% endif %}";
  TemplateSetting on, off;
  on.thinking = true;
  off.thinking = false;
  TEST_ASSERT_EQUAL_STRING("chatml", understand(source, on).format->name);
  TEST_ASSERT_EQUAL_STRING("<|im_start|>assistant\n<think></think>", understand(source, off).format->answer);
  TEST_ASSERT_TRUE(message_of<Error>([&] { understand(kChatml, on); }).find("enable_thinking") !=
                   std::string::npos);
}

TEST("a format by name is compared with the model's template", "[chat_format]") {
  TEST_ASSERT_FALSE(difference_to(find_chat_format("chatml"), kChatml, {}).has_value());
  TEST_ASSERT_TRUE(difference_to(find_chat_format("phi3"), kChatml, {}).has_value());
}

TEST("the token that ends a format's turn is the first in what follows an answer", "[chat_format]") {
  const std::vector<AddedTokenSpec> added = {{"<|im", 3}, {"<|im_end|>", 5}, {"</s>", 2}};
  TEST_ASSERT_EQUAL_UINT32(5, *end_of_turn(find_chat_format("chatml"), added));
  TEST_ASSERT_EQUAL_UINT32(2, *end_of_turn(find_chat_format("llama2"), added));
  ChatFormat plain;
  plain.assistant_after = "\n\n";
  TEST_ASSERT_FALSE(end_of_turn(plain, added).has_value());
}

TEST("a mark that the vocabulary lacks is an error that names it", "[chat_format]") {
  const std::vector<AddedTokenSpec> added = {{"</s>", 2}, {"<|im_end|>", 5}};
  TEST_ASSERT_TRUE(message_of<Error>([&] { end_of_turn(find_chat_format("phi3"), added); }).find("<|end|>") !=
                   std::string::npos);
  TEST_ASSERT_TRUE(message_of<Error>([&] {
                     require_marks(find_chat_format("chatml"), added);
                   }).find("<|im_start|>") != std::string::npos);
  TEST_ASSERT_EQUAL_STRING("", message_of<Error>([&] { require_marks(find_chat_format("zephyr"), added); }));
}
