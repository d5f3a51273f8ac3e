// SPDX-License-Identifier: Apache-2.0
//
// VITS's speakers: what depends on the speaker alone is added to rows of the durations, of the flow and of
// the samples. It is computed here for each speaker, so that a run reads one row of a table.
#include "converter/architectures/vits.h"
#include "converter/layers/sound_stem.h"
#include "host/base/work_budget.h"

namespace mote::convert {

void add_speaker(TransformerBuilder& builder, const VitsSizes& sizes, const std::string& source,
                 const std::string& label, uint32_t outputs, uint32_t first, View x) {
  const size_t width = sizes.speaker_width, speakers = sizes.speakers;
  if (width == 0) return;
  TensorSet& tensors = builder.tensors();
  const std::vector<float> speaker =
                               tensors.table("embed_speaker.weight", sizes.speakers, sizes.speaker_width),
                           weight = conv_weight(tensors, source, outputs, sizes.speaker_width, 1),
                           bias = tensors.vector(source + ".bias", outputs);
  charge_work(speakers * x.width * width);
  std::vector<float> table;
  table.reserve(speakers * x.width);
  for (size_t s = 0; s < speakers; ++s) {
    for (size_t o = first; o < size_t{first} + x.width; ++o) {
      double sum = bias[o];
      for (size_t i = 0; i < width; ++i)
        sum += double{speaker[s * width + i]} * double{weight[o * width + i]};
      table.push_back(static_cast<float>(sum));
    }
  }
  WeightPart part = tensors.computed(label, sizes.speakers, x.width, table);
  const DType dtype = builder.policy().dtype(Role::positions, *part.tensor);
  builder.add(PositionsNode{builder.add_matrix(label, dtype, true, x.width, {std::move(part)}), x,
                            RowIndex::token_type});
}

}  // namespace mote::convert
