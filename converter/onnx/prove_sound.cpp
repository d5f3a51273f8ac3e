// SPDX-License-Identifier: Apache-2.0
//
// Proves the part that makes rows of sound: convolutions over time and positions.
#include <fmt/ranges.h>

#include "converter/onnx/proof.h"

namespace mote::convert {

/// The input of the convolution whose output the tensor is, [batch, channels, rows] both.
Traced OnnxProof::convolution(const Traced& tensor, const TimeConv& conv, uint32_t channels) {
  const std::optional<Product> found = product(tensor);
  if (!found || found->weight->dims.size() != 3) refuse("the convolution {} should be here", conv.source);
  at_ = found->node;
  const std::vector<uint64_t> shape = {conv.width, channels, conv.taps};
  if (found->weight->dims != shape)
    refuse("a kernel of [{}], the config implies [{}]", fmt::join(found->weight->dims, ", "),
           fmt::join(shape, ", "));
  const auto is = [&](const char* key, const std::vector<int64_t>& expected,
                      const std::vector<int64_t>& absent) {
    const OnnxAttribute* given = found->node->find(key);
    return (given == nullptr ? absent : given->integers) == expected;
  };
  if (!is("strides", {conv.stride}, {1}) || !is("pads", {conv.before, conv.after}, {0, 0}))
    refuse("its strides or pads are not those of {}", conv.source);
  OnnxWeight weight = weight_of(trace_.atoms[static_cast<size_t>(found->weight->whole)]);
  if (weight.scales.empty()) weight.scales = found->scales;
  if (weight.zeros.empty()) weight.zeros = found->zeros;
  bind(conv.source + ".weight", weight);
  if (conv.bias != (found->bias != nullptr))
    refuse("a bias of {} is not what the config implies", conv.source);
  if (conv.bias) bind_vector(conv.source + ".bias", found->bias);
  return found->x;
}

void OnnxProof::sound(const Traced& x) {
  const ConvStem& stem = *spec_.conv_stem;
  const uint64_t width = spec_.width, rows = sample_.length;
  const TracedAtom& added = need(x, "Add", "the sum of rows and their positions");
  const TracedAtom* first = trace_.atom(added.inputs[0]);
  const size_t table = first != nullptr && first->weight != nullptr ? 0 : 1;
  const TracedAtom* positions = trace_.atom(added.inputs[table]);
  const Traced made = added.inputs[1 - table];
  if (positions == nullptr || positions->weight == nullptr || added.inputs[table]->size() != rows * width)
    refuse("{} should be added", stem.positions);
  bind(stem.positions, weight_of(*positions));
  const std::vector<TracedElement> elements = made->all();
  if (elements.size() != sample_.batch * rows * width) refuse("{} rows should be here", rows);
  int32_t index;
  one_atom(elements, index);
  for (uint64_t i = 0; i < elements.size(); ++i) {
    const uint64_t column = i % width, row = i / width % rows, batch = i / (width * rows);
    if (elements[i].is_number() || elements[i].bits != (batch * width + column) * rows + row)
      refuse("the outputs of {} are not put row by row", stem.convs.back().source);
  }
  Traced inner = whole(index);
  for (size_t i = stem.convs.size(); i-- > 0;) {
    const uint32_t channels = i == 0 ? stem.bins : stem.convs[i - 1].width;
    inner = convolution(activation(inner, stem.activation, stem.convs[i].source), stem.convs[i], channels);
  }
  const TracedAtom* input = atom(inner);
  if (input == nullptr || input->node != nullptr || input->weight != nullptr)
    refuse("{} should read the features", stem.convs.front().source);
}

}  // namespace mote::convert
