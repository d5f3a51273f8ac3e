// SPDX-License-Identifier: Apache-2.0
#include "converter/write_model.h"

#include "converter/encode_weight.h"
#include "converter/metadata.h"

namespace mote::convert {

void write_model(const Graph& graph, const TokenizerTables* tokenizer, OutputFile& file,
                 const std::function<void(double share)>& progress) {
  const MemoryPlan plan = plan_memory(graph);
  Metadata metadata{&graph, &plan, "calibration", "calibration", {}, {}, lay_out(graph)};
  metadata.tokenizer = tokenizer;
  const uint64_t total = metadata.weight_bytes();
  uint64_t written = 0;
  const std::vector<std::byte> bytes = build_metadata(metadata);
  file.write(bytes);
  file.write(std::vector<std::byte>(align_up(bytes.size(), kAlignment) - bytes.size()));
  for (const Weight& weight : graph.weights) {
    encode_weight(weight, [&](std::span<const std::byte> block) {
      file.write(block);
      written += block.size();
      progress(static_cast<double>(written) / static_cast<double>(total));
    });
  }
  if (tokenizer != nullptr) file.write(tokenizer->bytes());
}

}  // namespace mote::convert
