// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a CTranslate2 file: parsed, translated to a config, its first rows read.
#include <nlohmann/json.hpp>
#include <vector>

#include "converter/readers/ctranslate2.h"
#include "host/base/error.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/read_tensors.h"

using namespace mote::convert;

namespace {

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
    test::read_first_rows(
        translate_ctranslate2(file, nlohmann::json::object(), tokens_of(file), "input").tensors);
  } catch (const Error&) {
  }
  return 0;
}
