// SPDX-License-Identifier: Apache-2.0
//
// Over every golden tokenizer, as it is and with special tokens that are sought in normalized text: no text
// that a user writes becomes a special token.
#include <random>

#include "host/base/error.h"
#include "runtime/file/model.h"
#include "tests/support/test_model.h"
#include "tests/support/tiny_llama.h"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Tokenizers to try, with a name for messages.
struct Variant {
  std::string name;
  json tokenizer;
};

/// Adds the tokens that a chat format wants, where there are none.
void add_marks(json* tokenizer) {
  json& added = tokenizer->at("added_tokens");
  auto next = static_cast<uint32_t>(tokenizer->at("model").at("vocab").size());
  for (const json& token : added) next = std::max(next, token.at("id").get<uint32_t>() + 1);
  for (const char* mark : {"<|im_start|>", "<|im_end|>"}) {
    const bool has = std::any_of(added.begin(), added.end(),
                                 [mark](const json& token) { return token.at("content") == mark; });
    if (has) continue;
    added.push_back({{"id", next++},
                     {"content", mark},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
}

std::vector<Variant> variants() {
  std::vector<Variant> all;
  const fs::path folder = test::golden_folder() / "../tokenizers";
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!fs::exists(entry.path() / "tokenizer.json")) continue;
    std::ifstream in(entry.path() / "tokenizer.json");
    const std::string name = entry.path().filename().string();
    json tokenizer = json::parse(in);
    add_marks(&tokenizer);
    all.push_back({name, tokenizer});
    for (json& added : tokenizer.at("added_tokens")) added["normalized"] = true;
    all.push_back({name + ", normalized", tokenizer});
    for (const char* form : {"NFKC", "Lowercase"}) {
      json with = tokenizer;
      const json step = {{"type", form}};
      json steps = json::array({step});
      if (!tokenizer.at("normalizer").is_null()) steps.push_back(tokenizer.at("normalizer"));
      with["normalizer"] = {{"type", "Sequence"}, {"normalizers", steps}};
      all.push_back({name + ", normalized, " + form, with});
    }
  }
  return all;
}

/// A model with that tokenizer, or none where the converter refuses the combination.
test::AlignedBytes file_of(const Variant& variant) {
  const fs::path folder = test::temporary_folder() / "forged";
  fs::remove_all(folder);
  uint32_t vocab = 16;  // room behind
  vocab += static_cast<uint32_t>(variant.tokenizer.at("model").at("vocab").size());
  vocab += static_cast<uint32_t>(variant.tokenizer.at("added_tokens").size());
  mote::testing::TinyLlama llama;
  llama.config["vocab_size"] = vocab;
  llama.config["max_position_embeddings"] = 600;
  llama.add("model.embed_tokens.weight", {vocab, 32});
  llama.add("lm_head.weight", {vocab, 32});
  llama.write(folder);
  std::ofstream(folder / "tokenizer.json") << variant.tokenizer;
  mote::convert::ConvertOptions options;
  options.type = "f32";
  options.chat_format = "chatml";
  try {
    mote::convert::convert(folder, folder / "out.mote", options);
  } catch (const mote::convert::Error& error) {
    UNSCOPED_INFO(variant.name << ": " << error.what());  // a combination that the converter refuses
    return test::AlignedBytes(0);
  }
  return test::read_file(folder / "out.mote");
}

std::string utf8_of(uint32_t code_point) {
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  return {static_cast<char>(0xE0 | code_point >> 12), static_cast<char>(0x80 | (code_point >> 6 & 0x3F)),
          static_cast<char>(0x80 | (code_point & 0x3F))};
}

/// Texts of special tokens in any disguise, and of what lies about them.
class Writer {
 public:
  Writer(const json& tokenizer, uint32_t seed) : random_(seed) {
    for (const json& added : tokenizer.at("added_tokens")) names_.push_back(added.at("content"));
    for (const char* name : {"<|im_start|>", "<|im_end|>", "</s>", "<|user|>"}) names_.push_back(name);
  }

  std::string write() {
    std::string text;
    for (uint32_t parts = 1 + below(4); parts > 0; --parts) text += part();
    return text;
  }

 private:
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }
  std::string name() { return names_[below(static_cast<uint32_t>(names_.size()))]; }
  std::string part() {
    constexpr const char* kBetween[] = {"a", " ", "\n", "<",        "<|",          "|>",
                                        ">", "[", "]",  "\xCC\x81", "\xE2\x80\x8B"};
    const std::string whole = name();
    const auto length = static_cast<uint32_t>(whole.size());
    switch (below(7)) {
      case 0:
        return whole;
      case 1:  // a part of one, which the next part or the chat format may complete
        return whole.substr(0, 1 + below(length));
      case 2:
        return whole.substr(below(length));
      case 3:  // one inside another
        return whole.substr(0, length / 2) + name() + whole.substr(length / 2);
      case 4:
      case 5:
        return disguised(whole);
      default:
        return kBetween[below(std::size(kBetween))];
    }
  }
  /// Each character as it is, wide or in the other case.
  std::string disguised(const std::string& whole) {
    std::string text;
    const bool all_wide = below(2) == 0;
    for (const char c : whole) {
      const auto byte = static_cast<unsigned char>(c);
      const bool wide = byte > 0x20 && byte < 0x7F && (all_wide || below(3) == 0);
      text += wide ? utf8_of(0xFF00u + byte - 0x20u)
                   : std::string{below(4) == 0 ? static_cast<char>(std::toupper(byte)) : c};
    }
    return text;
  }

  std::mt19937 random_;
  std::vector<std::string> names_;
};

/// Those that stand for no text; the one for what a vocabulary lacks is what any text may become.
std::vector<int32_t> specials_of(const test::OpenModel& model, const std::vector<int32_t>& ids) {
  const mote::Tokenizer& tokenizer = model.get()->tokenizer;
  std::vector<int32_t> specials;
  for (const int32_t id : ids) {
    const bool special = (tokenizer.token_flags[static_cast<uint32_t>(id)] & mote::kTokenSpecial) != 0;
    if (special && id != tokenizer.unknown_id) specials.push_back(id);
  }
  return specials;
}

std::vector<int32_t> of_chat(mote_session* session, const std::string& question, const std::string& answer) {
  const mote_message messages[] = {{MOTE_ROLE_USER, question.data(), question.size(), 0, 0, {}},
                                   {MOTE_ROLE_ASSISTANT, answer.data(), answer.size(), 0, 0, {}},
                                   {MOTE_ROLE_USER, "b", 1, 0, 0, {}}};
  std::string text(question.size() + answer.size() + 1000, '\0');
  std::vector<int32_t> ids(16 * text.size());
  uint32_t count = 0;
  mote_error error{};
  const mote_status status = mote_chat_tokenize(session, messages, 3, 1, text.data(), text.size(), ids.data(),
                                                static_cast<uint32_t>(ids.size()), &count, &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
  ids.resize(count);
  return ids;
}

std::vector<int32_t> of_text(mote_session* session, const std::string& text) {
  std::vector<int32_t> ids(16 * text.size() + 16);
  uint32_t count = 0;
  REQUIRE(mote_tokenize(session, text.data(), text.size(), 0, ids.data(), static_cast<uint32_t>(ids.size()),
                        &count, nullptr, nullptr) == MOTE_OK);
  ids.resize(count);
  return ids;
}

}  // namespace

TEST("no text that a user writes becomes a special token, with any golden tokenizer, whatever it normalizes",
     "[values]") {
  uint32_t seed = 1, taken = 0;
  for (const Variant& variant : variants()) {
    CAPTURE(variant.name);
    const test::AlignedBytes file = file_of(variant);
    if (file.size() == 0) continue;
    ++taken;
    const test::OpenModel model(file);
    const test::OpenSession session(model, mote_session_options_default(model.get()));
    const std::vector<int32_t> markup = specials_of(model, of_chat(session.get(), "a", "b"));
    REQUIRE(!markup.empty());
    Writer writer(variant.tokenizer, seed++);
    for (uint32_t i = 0; i < 400; ++i) {
      const std::string question = writer.write(), answer = writer.write();
      CAPTURE(question, answer);
      const bool text_alone = specials_of(model, of_text(session.get(), question)).empty();
      const bool conversation = specials_of(model, of_chat(session.get(), question, answer)) == markup;
      REQUIRE(text_alone);
      REQUIRE(conversation);
    }
  }
  TEST_ASSERT_EQUAL_UINT32(variants().size(), taken);
}

TEST("a special token in full width is text where its tokenizer has compatibility forms") {
  for (const Variant& variant : variants()) {
    if (variant.name != "own_gpt4, normalized, NFKC") continue;
    const test::AlignedBytes file = file_of(variant);
    const test::OpenModel model(file);
    const test::OpenSession session(model, mote_session_options_default(model.get()));
    std::string wide;
    for (const char c : std::string("<|im_end|>"))
      wide += utf8_of(0xFF00u + static_cast<uint32_t>(c) - 0x20u);
    TEST_ASSERT_TRUE(specials_of(model, of_chat(session.get(), "hi " + wide, "b")) ==
                     specials_of(model, of_chat(session.get(), "a", "b")));
    TEST_ASSERT_TRUE(of_chat(session.get(), "hi", "b").size() > 0);
  }
}
