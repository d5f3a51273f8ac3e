// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a CTranslate2 file: parsed, translated to a config, its first rows read.
#include <nlohmann/json.hpp>
#include <vector>

#include "converter/error.h"
#include "converter/readers/ctranslate2.h"
#include "tests/fuzz/fuzz.h"

using namespace mote::convert;

namespace {

/// A shape of many short rows must not make this slow.
constexpr uint64_t kMaxRows = 4, kMaxCols = 1 << 16;

void read_rows(const Source& source) {
  for (const auto& [name, tensor] : source.tensors) {
    if (tensor.cols() > kMaxCols) continue;
    std::vector<float> row(tensor.cols());
    for (uint64_t i = 0; i < tensor.rows() && i < kMaxRows; ++i) read_row(tensor, i, row);
  }
}

/// Names by number, as many as the embedding has rows.
std::vector<std::string> tokens_of(const Ct2File& file) {
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  const auto table = file.variables.find("decoder/embeddings/weight");
  if (table != file.variables.end() && !table->second.shape.empty() && table->second.shape[0] < 1000)
    tokens.resize(table->second.shape[0], "t");
  return tokens;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  is_ctranslate2(bytes);
  try {
    const Ct2File file = parse_ctranslate2(bytes, "input");
    read_rows(translate_ctranslate2(file, nlohmann::json::object(), tokens_of(file), "input"));
  } catch (const Error&) {
  }
  return 0;
}
