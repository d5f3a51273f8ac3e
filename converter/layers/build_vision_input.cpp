// SPDX-License-Identifier: Apache-2.0
//
// Decoders that take pictures: rows of floats beside their ids (TransformerSpec::vision_input).
#include "converter/layers/transformer_builder.h"

namespace mote::convert {

void TransformerBuilder::embed_vision_input() {
  const VisionInputSpec& vision_input = *spec_.vision_input;
  vision_input_ = new_value(vision_input.features + 1 + (vision_input.mrope ? 3 : 0), Unit::token);
  add(InputNode{vision_input_});
  // Where the picture's vector stands for the embedding, that is taken off itself.
  const View taken = new_value(x_.width, Unit::token);
  add(GateNode{Activation::none, columns(vision_input_, vision_input.features, 1), x_, taken});
  add(ScaleRowsNode{taken, x_, -1, -1.0f, x_});
  add(ScaleRowsNode{columns(vision_input_, 0, x_.width), x_, -1, 1.0f, x_});
  graph_.vision_input = vision_input;
}

void TransformerBuilder::add_deep_rows(size_t index) {
  const auto column = static_cast<uint32_t>(index + 1) * x_.width;
  if (spec_.vision_input && column < spec_.vision_input->features)
    add(ScaleRowsNode{columns(vision_input_, column, x_.width), x_, -1, 1.0f, x_});
}

std::optional<View> TransformerBuilder::rope_shifts(uint32_t frequencies) {
  constexpr uint32_t kAxes = 3;
  if (!spec_.vision_input || spec_.rope_axes.size() != frequencies || !rope_tables_.empty())
    return std::nullopt;
  std::vector<float> chosen(size_t{frequencies} * kAxes, 0.0f);
  for (uint32_t i = 0; i < frequencies; ++i) chosen[i * kAxes + spec_.rope_axes[i]] = 1.0f;
  const int32_t weight = add_matrix("rope_axes", DType::f32, false, kAxes,
                                    {tensors_.computed("rope_axes", frequencies, kAxes, chosen)});
  const View shifts = new_value(frequencies, Unit::token);
  add(LinearNode{weight, -1, Activation::none,
                 columns(vision_input_, spec_.vision_input->features + 1, kAxes), shifts, std::nullopt});
  return shifts;
}

}  // namespace mote::convert
