// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a GGUF file: parsed, translated to a config, its first rows read, its tokenizer compiled.
#include "converter/readers/gguf_file.h"
#include "converter/readers/readers.h"
#include "converter/tokenizers/tables.h"
#include "host/base/error.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/read_tensors.h"

using namespace mote::convert;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span file(reinterpret_cast<const std::byte*>(data), size);
  try {
    test::read_first_rows(parse_gguf(file, "input").tensors);
    if (const auto tokenizer = read_gguf_tokenizer(file, "input")) TokenizerTables{*tokenizer};
  } catch (const Error&) {
  }
  try {
    read_gguf(file, "input");
  } catch (const Error&) {
  }
  return 0;
}
