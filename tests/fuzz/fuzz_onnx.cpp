// SPDX-License-Identifier: Apache-2.0
//
// The bytes of an ONNX file: read, followed and compared with a BERT of one layer, its tensors' first rows
// read.
#include <nlohmann/json.hpp>

#include "converter/error.h"
#include "converter/onnx/onnx_model.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/read_tensors.h"

using namespace mote::convert;

namespace {

const std::shared_ptr<const nlohmann::json>& config() {
  static const auto kConfig = std::make_shared<const nlohmann::json>(nlohmann::json::parse(
      R"({"model_type": "bert", "hidden_size": 4, "num_attention_heads": 2, "num_hidden_layers": 1,
          "intermediate_size": 6, "vocab_size": 12, "max_position_embeddings": 8})"));
  return kConfig;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Source source;
  source.config = config();
  try {
    read_onnx(source, {reinterpret_cast<const std::byte*>(data), size}, "nowhere/input");
  } catch (const Error&) {
  }
  test::read_first_rows(source.tensors);
  return 0;
}
