// SPDX-License-Identifier: Apache-2.0
//
// The bytes of an ONNX file: read, followed and compared with a BERT of one layer, its tensors' first rows
// read; and a config derived from it. Two files with a mark between them are the encoder and the decoder of a
// Whisper.
#include <nlohmann/json.hpp>

#include "converter/onnx/onnx_model.h"
#include "host/base/error.h"
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

const std::shared_ptr<const nlohmann::json>& whisper_config() {
  static const auto kConfig = std::make_shared<const nlohmann::json>(nlohmann::json::parse(
      R"({"model_type": "whisper", "is_encoder_decoder": true, "d_model": 4, "encoder_layers": 1,
          "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
          "encoder_ffn_dim": 6, "decoder_ffn_dim": 6, "vocab_size": 12, "max_source_positions": 6,
          "max_target_positions": 8, "num_mel_bins": 3, "decoder_start_token_id": 1})"));
  return kConfig;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr std::string_view kMark = "ENCODER|DECODER";
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  const size_t mark = text.find(kMark);
  Source source;
  source.config = mark == std::string_view::npos ? config() : whisper_config();
  try {
    if (mark == std::string_view::npos)
      read_onnx(source, bytes, "nowhere/input");
    else
      read_onnx_pair(source, bytes.first(mark), bytes.subspan(mark + kMark.size()));
  } catch (const Error&) {
  }
  try {
    if (mark == std::string_view::npos) derive_onnx_config(bytes, "nowhere/input");
  } catch (const Error&) {
  }
  test::read_first_rows(source.tensors);
  return 0;
}
