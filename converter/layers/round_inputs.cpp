// SPDX-License-Identifier: Apache-2.0
//
// Inputs that a file has rounded by scales of its own before its matrices multiply them.
#include <algorithm>

#include "converter/layers/transformer_builder.h"
#include "host/base/error.h"

namespace mote::convert {

std::optional<InputRounding> rounding_of(std::span<const WeightPart> parts) {
  const WeightPart* first = nullptr;
  for (const WeightPart& part : parts) {
    if (part.tensor == nullptr) continue;
    if (first == nullptr) first = &part;
    if (part.tensor->input_rounding != first->tensor->input_rounding)
      fail(
          "tensors {} and {} are of one operation, but their inputs are rounded by different scales; give "
          "the "
          "directory of the unquantized model",
          first->name, part.name);
  }
  return first == nullptr ? std::nullopt : first->tensor->input_rounding;
}

BlockInput& TransformerBuilder::rounded_for(BlockInput& input, std::span<const WeightPart> parts) {
  const std::optional<InputRounding> rounding = rounding_of(parts);
  if (!rounding) return input;
  for (const WeightPart& part : parts) {
    if (part.tensor != nullptr) tensors_.note_rounded_input(part.name);
  }
  const auto same = std::find_if(input.rounded.begin(), input.rounded.end(),
                                 [&](const BlockInput& other) { return other.rounding == rounding; });
  if (same != input.rounded.end()) return *same;
  const View out = new_value(input.f32.width, graph_.values[input.f32.value].unit);
  add(RoundNode{rounding->to, rounding->unit, rounding->least, rounding->most, input.f32, out});
  return input.rounded.emplace_back(BlockInput{out, {}, rounding});
}

}  // namespace mote::convert
