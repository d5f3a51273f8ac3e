// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/firmware_report.h"

#include <algorithm>

#include "kernels/attention_ops.h"
#include "tools/mote/firmware.h"
#include "tools/mote/output.h"

namespace mote::cli {

void print_firmware_report(const std::string& path) {
  const ModelFile file(path);
  using enum Table::Align;
  print("\nmodel in flash: {} bytes; storage in RAM: 1536 bytes\n", file.bytes().size());
  Table table({{"context", right},
               {"RAM at most", right},
               {"session", right},
               {"activations", right},
               {"scratch", right},
               {"keys and values", right},
               {"states", right},
               {"sampler", right},
               {"text", right}});
  for (const uint32_t wanted : {64u, 96u, 128u, 256u}) {
    const uint32_t context = std::min(wanted, file.info().context);
    FirmwareFlags flags;
    flags.context = context;
    const mote_memory memory = firmware_memory(file, firmware_options(file, flags));
    table.row({std::to_string(context), std::to_string(total(memory)), std::to_string(memory.session),
               std::to_string(memory.activations), std::to_string(memory.scratch),
               std::to_string(memory.kv_cache), std::to_string(memory.states), std::to_string(memory.sampler),
               std::to_string(memory.text)});
    if (context < wanted) break;  // all that the model has
  }
  table.print();
  print(
      "\nKeys and values lie in pages of up to {} positions. mote export-c --context N writes the options\n"
      "that the firmware takes (default: context {}, chunk {}, text {}).\n",
      kAttentionTile, FirmwareFlags{}.context, FirmwareFlags{}.chunk, FirmwareFlags{}.text_bytes);
}

}  // namespace mote::cli
