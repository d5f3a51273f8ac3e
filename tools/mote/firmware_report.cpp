// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/firmware_report.h"

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
  for (const uint32_t context : {64u, 128u, 256u}) {
    if (context > file.info().context) break;
    FirmwareFlags flags;
    flags.context = context;
    const mote_memory memory = firmware_memory(file, firmware_options(file, flags));
    table.row({std::to_string(context), std::to_string(total(memory)), std::to_string(memory.session),
               std::to_string(memory.activations), std::to_string(memory.scratch),
               std::to_string(memory.kv_cache), std::to_string(memory.states), std::to_string(memory.sampler),
               std::to_string(memory.text)});
  }
  table.print();
}

}  // namespace mote::cli
