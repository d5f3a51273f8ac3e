// SPDX-License-Identifier: Apache-2.0
//
// SmolLM2's tokenizer, from its GGUF, on a whole book's worth of text.
#include "runtime/file/xxh64.h"
#include "tests/support/realdata.h"
#include "tests/support/test_model.h"
#include "tests/support/text_tokenizer.h"

TEST("SmolLM2's tokenizer gives Hugging Face's ids on the whole wikitext-2 test and the text back") {
  const auto gguf = test::fetched_model("SmolLM2-135M-Instruct.Q4_1.gguf");
  const auto wikitext = test::realdata("wikitext2/test.txt");
  SKIP_WITHOUT(gguf);
  SKIP_WITHOUT(wikitext);
  const test::TextTokenizer tokenizer(test::read_gguf_tokenizer(gguf));
  const test::AlignedBytes file = test::read_file(wikitext);
  const std::string text(reinterpret_cast<const char*>(file.data()), file.size());
  const std::vector<int32_t> ids = tokenizer.encode(text, 0);
  // Of the ids as int32, by tokenizers 0.23 with the model's own pre-tokenizers (Digits, one by one, then
  // ByteLevel). transformers leaves Digits out when it reads the GGUF, which changes two ids, those of " ½".
  TEST_ASSERT_EQUAL_UINT32(312144, ids.size());
  TEST_ASSERT_EQUAL_UINT64(0x304f88cc7102f858u, mote::xxh64(ids.data(), ids.size() * sizeof(int32_t)));
  TEST_ASSERT_TRUE(tokenizer.decode(ids, 0) == text);
}
