// SPDX-License-Identifier: Apache-2.0
//
// Language models of recurrent cells: an embedding, layers of torch.nn's RNN, LSTM or GRU, a linear with a
// bias. The states that they keep of a text do not grow with the text.
#include <fmt/format.h>

#include "converter/architectures/shared/state_space.h"

namespace mote::convert {
namespace {

CellKind read_cell_kind(Config& config) {
  const std::string kind = config.text("model_type");
  if (kind == "rnn") return CellKind::rnn;
  return kind == "gru" ? CellKind::gru : CellKind::lstm;
}

}  // namespace

TransformerSpec read_recurrent(const Source&, Config& config) {
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize);
  spec.embedding_width = config.size("embedding_size", 1, kMaxSize);
  spec.width = config.size("hidden_size", 1, kMaxSize);
  spec.context = kUnlimitedContext;
  spec.norm_eps = 1e-5f;
  spec.last_hidden_unnormed = true;
  spec.head.output_bias = "head.bias";
  spec.names.embedding = "embedding";
  spec.names.head = "head";
  const CellKind kind = read_cell_kind(config);
  const uint32_t layers = config.size("num_layers", 1, kMaxLayers);
  LayerSpec layer;
  layer.build = [kind, layers, width = spec.width](TransformerBuilder& builder, const LayerSpec& self) {
    const RecurrentSpec cell{kind, "rnn.", fmt::format("_l{}", self.weights), width};
    BlockInput in{builder.x()};
    builder.set_x(recurrent_cell(builder, prefix_of(self), cell, in));
    if (self.weights + 1 == layers) builder.probe("hidden", builder.x());
  };
  spec.repeat(layer, layers);
  return spec;
}

}  // namespace mote::convert
