// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a tokenizer.json: read, compiled to tables, the tables opened as the runtime does, and used.
#include "host/base/error.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/text_tokenizer.h"

using namespace mote::convert;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const TokenizerSpec spec = read_tokenizer_json({reinterpret_cast<const std::byte*>(data), size}, "input");
    // What was compiled here must open: anything else ends the process.
    const test::TextTokenizer tokenizer(spec, 256);
    const std::string text = "hello  the\t12 stop.\n\xE2\x82 <s>\xC3\xA9";
    std::vector<int32_t> ids;
    std::vector<mote_span> spans;
    mote_error error{};
    tokenizer.try_encode(text, MOTE_ADD_SPECIAL | MOTE_PARSE_SPECIAL, &ids, &spans, &error);
    tokenizer.decode(ids, 0);
  } catch (const Error&) {
  }
  return 0;
}
