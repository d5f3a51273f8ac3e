// SPDX-License-Identifier: Apache-2.0
//
// A byte that picks a tokenizer and flags, then a text: its tokens are the model's, their spans lie in the
// text, one after the other, and less room gives the first of the same tokens.
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/tokenizers.h"
#include "tests/support/any_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const test::TextTokenizer* const picked = size == 0 ? nullptr : fuzz::pick_tokenizer(data[0]);
  if (picked == nullptr) return 0;
  const test::TextTokenizer& tokenizer = *picked;
  const uint32_t flags = data[0] >> 6;  // MOTE_ADD_SPECIAL, MOTE_PARSE_SPECIAL
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  std::vector<int32_t> ids;
  std::vector<mote_span> spans;
  mote_error error{};
  const mote_status status = tokenizer.try_encode(text, flags, &ids, &spans, &error);
  test::must(status == MOTE_OK || status == MOTE_TEXT_TOO_LONG);
  if (status != MOTE_OK) return 0;
  mote_span last{0, 0};
  for (size_t i = 0; i < ids.size(); ++i) {
    test::must(tokenizer.view().has_token(ids[i]));
    test::must(spans[i].begin <= spans[i].end && spans[i].end <= text.size());
    if (spans[i].end == 0) continue;  // of no place in the text
    test::must(spans[i].begin >= last.begin && spans[i].end >= last.end);
    last = spans[i];
  }
  tokenizer.decode(ids, MOTE_SKIP_SPECIAL);
  const size_t room = ids.size() / 2;
  std::vector<int32_t> first(room);
  test::must(tokenizer.encode_into(text, flags, &first) == (ids.empty() ? MOTE_OK : MOTE_TOO_SMALL));
  test::must(std::equal(first.begin(), first.end(), ids.begin()));
  return 0;
}
