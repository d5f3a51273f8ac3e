// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a GGUF file: parsed, translated to a config, its first rows read, its tokenizer compiled.
#include <vector>

#include "converter/error.h"
#include "converter/readers/gguf_file.h"
#include "converter/readers/readers.h"
#include "converter/tokenizers/tables.h"
#include "tests/fuzz/fuzz.h"

using namespace mote::convert;

namespace {

/// Of a small file the rows are few; a shape of many empty ones must not make this slow.
constexpr uint64_t kMaxRows = 4, kMaxCols = 1 << 16;

void read_rows(const GgufFile& file) {
  for (const auto& [name, tensor] : file.tensors) {
    if (tensor.cols() > kMaxCols) continue;
    std::vector<float> row(tensor.cols());
    for (uint64_t i = 0; i < tensor.rows() && i < kMaxRows; ++i) {
      read_row(tensor, i, row);
      QuantRow exact;
      if (has_exact_type(tensor.type)) read_exact_row(tensor, i, exact);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span file(reinterpret_cast<const std::byte*>(data), size);
  try {
    read_rows(parse_gguf(file, "input"));
    if (const auto tokenizer = read_gguf_tokenizer(file, "input")) TokenizerTables{*tokenizer};
  } catch (const Error&) {
  }
  try {
    read_gguf(file, "input");
  } catch (const Error&) {
  }
  return 0;
}
