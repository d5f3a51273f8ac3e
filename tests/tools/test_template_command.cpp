// SPDX-License-Identifier: Apache-2.0
//
// mote template, and what mote convert says about a model's template.
#include "tests/tools/command.h"

using namespace mote::testing;

namespace {

std::string file(const std::string& name, const std::string& text) {
  const std::filesystem::path path = scratch() / name;
  write_text(path, text);
  return path.string();
}

const std::string kTemplate =
    "{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}>{% endif %}{{ strftime_now('%Y-%m-%d') if dated }}";

/// The golden llama with a template.
std::string model(const std::string& chat_template) {
  static int count = 0;
  const std::filesystem::path folder = scratch() / ("model" + std::to_string(count++));
  std::filesystem::copy(std::string(MOTE_SOURCE_DIR) + "/tests/golden/models/llama", folder);
  write_text(folder / "chat_template.jinja", chat_template);
  return folder.string();
}

}  // namespace

TEST("mote template prints a rendering to the byte") {
  const std::string chat = file("t.jinja", kTemplate);
  const std::string messages = file("m.json", R"([{"role": "user", "content": "hé\n"}])");
  const std::string command = "template " + chat + " --messages " + messages;
  TEST_ASSERT_EQUAL_STRING("user: hé\n\n>", assert_works(run(command)));
  TEST_ASSERT_EQUAL_STRING("user: hé\n\n", assert_works(run(command + " --no-answer")));
  TEST_ASSERT_EQUAL_STRING(
      "<s>user: hé\n\n>2026-11-05",
      assert_works(run(command + " --set bos_token='\"<s>\"' --set dated=true --date 2026-11-05T09:00")));
}

TEST("mote template prints nothing where a template refuses or is not understood, and says which") {
  const std::string messages = file("m.json", "[]");
  const auto fails = [&](const std::string& source, const std::string& reason) {
    const Outcome outcome = run("template " + file("t.jinja", source) + " --messages " + messages);
    assert_fails(outcome, 1, reason);
    TEST_ASSERT_EQUAL_STRING("", outcome.out);
  };
  fails("a{{ raise_exception('no roles') }}", "refused: the template says: no roles");
  fails("a{{ b.c }}", "refused: 'b' is undefined");
  fails("a{% include 'b' %}", "not understood: line 1: the tag 'include'");
  assert_fails(run("template " + file("t.jinja", "a") + " --messages " + file("bad.json", "{")), 1,
               "not valid JSON");
  assert_fails(run("template " + file("t.jinja", "a") + " --messages " + messages + " --set a=b"), 2,
               "--set a");
  assert_fails(run("template " + file("t.jinja", "a") + " --messages " + messages + " --date 1.1."), 1,
               "no date");
}

TEST("mote convert says which format a template is, or why it is none") {
  const std::string output = " -o " + (scratch() / "chat.mote").string();
  const std::string chatml =
      "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
      "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
  const Outcome known = run("convert " + model(chatml) + output);
  TEST_ASSERT_TRUE(contains(assert_works(known), "chat format: chatml"));
  TEST_ASSERT_EQUAL_STRING("", known.err);
  const Outcome dated = run("convert " + model("{{ strftime_now('%d') }}" + chatml) + output);
  TEST_ASSERT_FALSE(contains(assert_works(dated), "chat format"));
  TEST_ASSERT_TRUE(contains(dated.err, "it writes the date"));
  const Outcome forced = run("convert " + model(chatml) + output + " --chat-format phi3");
  assert_works(forced);
  TEST_ASSERT_TRUE(contains(forced.err, "it is not phi3"));
  assert_fails(run("convert " + model(chatml) + output + " --thinking off"), 1, "enable_thinking");
}
