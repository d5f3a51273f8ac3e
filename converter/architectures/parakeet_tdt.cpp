// SPDX-License-Identifier: Apache-2.0
//
// Parakeet as a transducer of tokens and durations (Xu et al. 2023). The decoder's rows are a token and the
// projected frame that it is asked about: an LSTM over the tokens, plus the frame, gives logits of the next
// token, of which the blank is one, and of how many frames to move on.
#include <nlohmann/json.hpp>

#include "converter/architectures/parakeet.h"
#include "converter/architectures/shared/encoder_decoder.h"
#include "converter/architectures/shared/pictures.h"
#include "converter/architectures/shared/state_space.h"

namespace mote::convert {
namespace {

constexpr uint32_t kMostTokensOfFrame = 4096;

std::vector<uint32_t> read_durations(Config& config) {
  const nlohmann::json* value = config.value("durations");
  if (value == nullptr) return {0, 1, 2, 3, 4};
  std::vector<uint32_t> durations;
  for (const nlohmann::json& item : value->is_array() ? *value : nlohmann::json::array()) {
    if (!item.is_number_unsigned() || item.get<uint64_t>() > kMaxSize)
      config.refuse_value("durations", value, "a list of frames");
    durations.push_back(item.get<uint32_t>());
  }
  if (durations.empty()) config.refuse_value("durations", value, "a list of frames");
  return durations;
}

/// Rows of the labels' embeddings, then of zeros for the columns of durations, which no token has.
View embed_labels(TransformerBuilder& builder, uint32_t labels, uint32_t durations, uint32_t width) {
  WeightPart part = builder.tensors().matrix("decoder.embedding.weight", labels, width, false);
  const DType dtype = builder.policy().dtype(Role::embedding, *part.tensor);
  const bool row_major = row_bytes(dtype, width) != 0;
  WeightPart rest{part.name, nullptr, false, durations};
  const View x = builder.new_value(width, Unit::token);
  builder.add(EmbedNode{
      builder.add_matrix("embedding", dtype, row_major, width, {std::move(part), std::move(rest)}), x});
  return x;
}

/// relu(projection of the last layer's rows + the frame's).
void join_frame(TransformerBuilder& builder, Activation activation, uint32_t width) {
  const View joined = builder.new_value(width, Unit::token), frame = builder.input(width);
  builder.linear("decoder_projector", "decoder.decoder_projector", Role::matrix, builder.x(), joined,
                 Activation::none, true);
  builder.add(ScaleRowsNode{joined, joined, -1, 1.0f, frame});
  builder.add(ActivateNode{activation, joined, joined});
  builder.set_x(joined);
}

}  // namespace

TransformerSpec read_parakeet_tdt(const Source& source, Config& config) {
  TransformerSpec spec{};
  const uint32_t labels = config.size("vocab_size", 1, kMaxSize, 8193);
  const uint32_t width = config.size("decoder_hidden_size", 1, kMaxSize, 640);
  spec.speech = SpeechSpec{};
  spec.speech->durations = read_durations(config);
  spec.speech->tokens_of_frame = config.size("max_symbols_per_step", 1, kMostTokensOfFrame, 10);
  const auto durations = static_cast<uint32_t>(spec.speech->durations.size());
  spec.vocab = labels + durations;
  spec.width = width;
  spec.context = kUnlimitedContext;
  spec.norm_eps = 1e-5f;
  spec.last_hidden_unnormed = true;
  spec.stem = [=](TransformerBuilder& builder) { return embed_labels(builder, labels, durations, width); };
  spec.names.head = "joint.head";
  spec.head.output_bias = "joint.head.bias";
  const Activation activation = read_activation(config, "hidden_act", "relu");
  const uint32_t layers = config.size("num_decoder_layers", 1, kMaxLayers, 2);
  LayerSpec layer;
  layer.build = [=](TransformerBuilder& builder, const LayerSpec& self) {
    const RecurrentSpec cell{CellKind::lstm, "decoder.lstm.", fmt::format("_l{}", self.weights), width};
    BlockInput in{builder.x()};
    builder.set_x(recurrent_cell(builder, prefix_of(self), cell, in));
    if (self.weights + 1 == layers) join_frame(builder, activation, width);
  };
  spec.repeat(layer, layers);
  TransformerSpec encoder = read_parakeet_encoder(source, config, spec.vocab);
  encoder.optional_biases = true;
  encoder.names.output_projection = "encoder_projector";
  encoder.output_width = width;
  know(config, {"architectures", "initializer_range"});
  set_encoder(config, std::move(encoder), spec);
  spec.bos_id = config.token_id("blank_token_id", labels, static_cast<int32_t>(labels) - 1);
  return spec;
}

}  // namespace mote::convert
