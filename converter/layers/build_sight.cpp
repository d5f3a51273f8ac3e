// SPDX-License-Identifier: Apache-2.0
//
// Decoders that take pictures: rows of floats beside their ids (TransformerSpec::sight).
#include "converter/layers/transformer_builder.h"

namespace mote::convert {

void TransformerBuilder::embed_sight() {
  const SightSpec& sight = *spec_.sight;
  sight_ = new_value(sight.features + 1 + (sight.mrope ? 3 : 0), Unit::token);
  add(InputNode{sight_});
  // Where the picture's vector stands for the embedding, that is taken off itself.
  const View taken = new_value(x_.width, Unit::token);
  add(GateNode{Activation::none, columns(sight_, sight.features, 1), x_, taken});
  add(ScaleRowsNode{taken, x_, -1, -1.0f, x_});
  add(ScaleRowsNode{columns(sight_, 0, x_.width), x_, -1, 1.0f, x_});
  graph_.sight = sight;
}

void TransformerBuilder::add_deep_rows(size_t index) {
  const auto column = static_cast<uint32_t>(index + 1) * x_.width;
  if (spec_.sight && column < spec_.sight->features)
    add(ScaleRowsNode{columns(sight_, column, x_.width), x_, -1, 1.0f, x_});
}

std::optional<View> TransformerBuilder::rope_shifts(uint32_t frequencies) {
  constexpr uint32_t kAxes = 3;
  if (!spec_.sight || spec_.rope_axes.size() != frequencies || !rope_tables_.empty()) return std::nullopt;
  std::vector<float> chosen(size_t{frequencies} * kAxes, 0.0f);
  for (uint32_t i = 0; i < frequencies; ++i) chosen[i * kAxes + spec_.rope_axes[i]] = 1.0f;
  const int32_t weight = add_matrix("rope_axes", DType::f32, false, kAxes,
                                    {tensors_.computed("rope_axes", frequencies, kAxes, chosen)});
  const View shifts = new_value(frequencies, Unit::token);
  add(LinearNode{weight, -1, Activation::none, columns(sight_, spec_.sight->features + 1, kAxes), shifts,
                 std::nullopt});
  return shifts;
}

}  // namespace mote::convert
