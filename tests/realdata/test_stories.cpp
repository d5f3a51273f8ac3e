// SPDX-License-Identifier: Apache-2.0
//
// stories260K, trained by llama2.c: both its files give the text that llama2.c itself gives.
#include "tests/support/realdata.h"
#include "tests/support/test_model.h"

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// llama2.c's tokenizer file: the longest token's length, then score, length and bytes of each token.
std::vector<std::string> read_tokens(const std::filesystem::path& path) {
  const std::string file = text_of(path);
  std::vector<std::string> tokens;
  for (size_t at = 4; at + 8 <= file.size();) {
    int32_t length;
    std::memcpy(&length, file.data() + at + 4, 4);
    tokens.push_back(file.substr(at + 8, static_cast<size_t>(length)));
    at += 8 + static_cast<size_t>(length);
  }
  return tokens;
}

std::string greedy_text(const std::filesystem::path& source, uint32_t tokens) {
  const std::filesystem::path path = test::temporary_folder() / "stories.mote";
  mote::convert::ConvertOptions options;
  options.type = "f32";
  mote::convert::convert(source, path, options);
  const test::AlignedBytes file = test::read_file(path);
  const test::OpenModel model(file);
  const test::OpenSession session(model, mote_session_options_default(model.get()));
  mote_generation generation = mote_generation_default();
  generation.max_tokens = tokens;
  std::vector<int32_t> ids;
  const auto collect = [](void* user, int32_t id) -> int {
    static_cast<std::vector<int32_t>*>(user)->push_back(id);
    return 0;
  };
  const int32_t bos = 1;
  REQUIRE(mote_generate(session.get(), &bos, 1, &generation, collect, &ids, nullptr, nullptr) == MOTE_OK);
  const std::vector<std::string> names = read_tokens(test::realdata("stories260K/tok512.bin"));
  REQUIRE(names.size() == 512);
  std::string text;
  for (const int32_t id : ids) {
    const std::string& name = names[static_cast<size_t>(id)];
    unsigned byte;
    const bool is_byte = std::sscanf(name.c_str(), "<0x%02X>", &byte) == 1;
    text += is_byte ? std::string(1, static_cast<char>(byte)) : name;
  }
  return text.substr(text.find_first_not_of(' '));
}

}  // namespace

TEST("stories260K tells the story that llama2.c tells, from its GGUF and from its .bin") {
  const std::filesystem::path expected_file = test::realdata("stories260K/greedy_200.txt");
  SKIP_WITHOUT(expected_file);
  std::string expected = text_of(expected_file);
  while (!expected.empty() && std::isspace(static_cast<unsigned char>(expected.back()))) expected.pop_back();
  for (const char* name : {"stories260K/stories260K.gguf", "stories260K/stories260K.bin"}) {
    CAPTURE(name);
    const std::string text = greedy_text(test::realdata(name), 200);
    TEST_ASSERT_GREATER_THAN(400u, expected.size());
    TEST_ASSERT_EQUAL_STRING(expected, text.substr(0, expected.size()));
  }
}
