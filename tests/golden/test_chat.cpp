// SPDX-License-Identifier: Apache-2.0
//
// Conversations as SmolLM2's own template renders them, and the other formats' pieces.
#include <nlohmann/json.hpp>

#include "converter/chat_formats/chat_format.h"
#include "host/base/error.h"
#include "tests/support/test_model.h"

namespace {

struct Message {
  mote_role role;
  std::string text;
};

/// The golden llama with a chat template or with a format by name.
test::AlignedBytes file_with(const std::string& chat_template, const std::string& format) {
  static int count = 0;
  const std::filesystem::path folder = test::temporary_folder() / ("chat" + std::to_string(count++));
  std::filesystem::copy(test::golden_folder() / "llama", folder);
  if (!chat_template.empty()) {
    std::ofstream(folder / "tokenizer_config.json") << nlohmann::json{{"chat_template", chat_template}};
  }
  mote::convert::ConvertOptions options;
  options.chat_format = format;
  mote::convert::convert(folder, folder / "out.mote", options);
  return test::read_file(folder / "out.mote");
}

std::string render(const test::OpenModel& model, const std::vector<Message>& messages, bool answer) {
  std::vector<mote_message> views;
  for (const Message& message : messages)
    views.push_back({message.role, message.text.data(), message.text.size(), 0, 0, {}});
  size_t bytes = 0;
  mote_error error{};
  const auto count = static_cast<uint32_t>(views.size());
  INFO(error.text);
  REQUIRE(mote_chat_render(model.get(), views.data(), count, answer, nullptr, 0, &bytes, &error) == MOTE_OK);
  std::string text(bytes, '\0');
  REQUIRE(mote_chat_render(model.get(), views.data(), count, answer, text.data(), bytes, &bytes, &error) ==
          MOTE_OK);
  if (bytes > 0) {
    REQUIRE(mote_chat_render(model.get(), views.data(), count, answer, text.data(), bytes - 1, &bytes,
                             &error) == MOTE_TOO_SMALL);
  }
  return text;
}

std::string rendered_by(const std::string& format, const std::vector<Message>& messages, bool answer = true) {
  const test::AlignedBytes file = file_with("", format);
  return render(test::OpenModel(file), messages, answer);
}

mote_role role_of(const std::string& name) {
  return name == "system" ? MOTE_ROLE_SYSTEM : name == "user" ? MOTE_ROLE_USER : MOTE_ROLE_ASSISTANT;
}

// ChatML with a default system message, as SmolLM2's template has it.
const char* const kTemplate =
    "{% for m in messages %}{% if loop.first and m.role != 'system' %}{{ '<|im_start|>system\n"
    "You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}"
    "{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

}  // namespace

TEST("every golden conversation renders to the text of SmolLM2's template") {
  const test::AlignedBytes file = file_with(kTemplate, "");
  const test::OpenModel model(file);
  TEST_ASSERT_EQUAL_STRING("chatml", mote_chat_format(model.get()));
  std::ifstream in(std::filesystem::path(MOTE_SOURCE_DIR) / "tests/golden/chat/smollm2.json");
  const nlohmann::json conversations = nlohmann::json::parse(in);
  TEST_ASSERT_EQUAL_UINT32(30, conversations.size());
  for (const nlohmann::json& conversation : conversations) {
    std::vector<Message> messages;
    for (const nlohmann::json& message : conversation.at("messages")) {
      messages.push_back({role_of(message.at("role")), message.at("content")});
    }
    TEST_ASSERT_EQUAL_STRING(conversation.at("rendered").get<std::string>(),
                             render(model, messages, conversation.at("add_generation_prompt")));
  }
}

TEST("formats without a system role put the system message into the first user message") {
  const std::vector<Message> messages{{MOTE_ROLE_SYSTEM, "Be brief."},
                                      {MOTE_ROLE_USER, " Hi "},
                                      {MOTE_ROLE_ASSISTANT, "Hello"},
                                      {MOTE_ROLE_USER, "Bye"}};
  TEST_ASSERT_EQUAL_STRING(
      "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHi [/INST] Hello </s><s>[INST] Bye [/INST]",
      rendered_by("llama2", messages));
  TEST_ASSERT_EQUAL_STRING(
      "<bos><start_of_turn>user\nBe brief.\n\nHi<end_of_turn>\n<start_of_turn>model\nHello<end_of_turn>\n"
      "<start_of_turn>user\nBye<end_of_turn>\n<start_of_turn>model\n",
      rendered_by("gemma", messages));
}

TEST("formats with a system role render it first and end where the answer begins") {
  const std::vector<Message> messages{{MOTE_ROLE_SYSTEM, "S"}, {MOTE_ROLE_USER, "U"}};
  TEST_ASSERT_EQUAL_STRING(
      "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|>"
      "<|start_header_id|>user<|end_header_id|>\n\nU<|eot_id|><|start_header_id|>assistant<|end_header_id|>"
      "\n\n",
      rendered_by("llama3", messages));
  TEST_ASSERT_EQUAL_STRING("<|system|>\nS<|end|>\n<|user|>\nU<|end|>\n",
                           rendered_by("phi3", messages, false));
  TEST_ASSERT_EQUAL_STRING("<|system|>\nS</s>\n<|user|>\nU</s>\n<|assistant|>\n",
                           rendered_by("zephyr", messages));
}

TEST("a format for single commands renders the last one alone") {
  const std::vector<Message> messages{
      {MOTE_ROLE_USER, "lights on"}, {MOTE_ROLE_ASSISTANT, "{}"}, {MOTE_ROLE_USER, "off"}};
  TEST_ASSERT_EQUAL_STRING("<|command|>off<|json|>", rendered_by("command", messages));
  TEST_ASSERT_EQUAL_STRING("<|command|>lights on<|json|>{}<|end|>",
                           rendered_by("command", {messages[0], messages[1]}, false));
}

TEST("a conversation that is none is refused") {
  const test::AlignedBytes file = file_with("", "chatml");
  const test::OpenModel model(file);
  const mote_message late[] = {{MOTE_ROLE_USER, "a", 1, 0, 0, {}}, {MOTE_ROLE_SYSTEM, "b", 1, 0, 0, {}}};
  const mote_message odd[] = {{MOTE_ROLE_USER, nullptr, 3, 0, 0, {}}};
  size_t bytes = 0;
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT,
                        mote_chat_render(model.get(), late, 2, 1, nullptr, 0, &bytes, nullptr));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT,
                        mote_chat_render(model.get(), odd, 1, 1, nullptr, 0, &bytes, nullptr));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT,
                        mote_chat_render(model.get(), late, 0, 1, nullptr, 0, &bytes, nullptr));
  const test::OpenModel plain(test::golden_file("llama", "f32"));
  TEST_ASSERT_NULL(mote_chat_format(plain.get()));
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE,
                        mote_chat_render(plain.get(), late, 1, 1, nullptr, 0, &bytes, nullptr));
}

TEST("an unknown template is no format and an unknown name is refused with the known ones") {
  const test::AlignedBytes file = file_with("{{ '[INST] ' }}{{ messages }}", "");
  const test::OpenModel unknown(file);
  TEST_ASSERT_NULL(mote_chat_format(unknown.get()));
  try {
    mote::convert::find_chat_format("chatnl");
    FAIL("found");
  } catch (const std::exception& error) {
    TEST_ASSERT_TRUE(std::string(error.what()).find("chatml") != std::string::npos);
  }
}

TEST("the end of the format's own turn stops an answer, whatever else the model calls an end") {
  const std::filesystem::path folder = test::temporary_folder() / "chat_end";
  std::filesystem::copy(test::golden_folder() / "llama", folder);
  std::filesystem::copy(test::golden_folder() / "../tokenizers/small/tokenizer.json", folder);
  std::ofstream(folder / "generation_config.json") << R"({"eos_token_id": 1})";
  mote::convert::ConvertOptions options;
  options.chat_format = "zephyr";  // an answer ends with </s>, token 2
  mote::convert::convert(folder, folder / "out.mote", options);
  const test::AlignedBytes file = test::read_file(folder / "out.mote");
  const test::OpenModel model(file);
  const mote_model_info info = model.info();
  TEST_ASSERT_TRUE(std::vector<int32_t>(info.stop_ids, info.stop_ids + info.stop_count) ==
                   std::vector<int32_t>({1, 2}));
}

TEST("a format by name whose marks the vocabulary lacks is refused with the mark") {
  const std::filesystem::path folder = test::temporary_folder() / "chat_marks";
  std::filesystem::copy(test::golden_folder() / "llama", folder);
  std::filesystem::copy(test::golden_folder() / "../tokenizers/small/tokenizer.json", folder);
  mote::convert::ConvertOptions options;
  options.chat_format = "chatml";
  try {
    mote::convert::convert(folder, folder / "out.mote", options);
    FAIL("converted");
  } catch (const mote::convert::Error& error) {
    TEST_ASSERT_TRUE(std::string(error.what()).find("<|im_start|>") != std::string::npos);
  }
}
