// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/session_flags.h"

#include "tools/mote/arguments.h"

namespace mote::cli {

void add_model_argument(Command command, std::string& path) {
  command.option("FILE", &path, "The .mote file, made by mote convert").required().type("");
}

void add_session_flags(Command command, SessionFlags& flags) {
  command
      .option("--threads", &flags.threads,
              "Threads (default: what mote bench --tune found, else one for each big core)")
      .type("N")
      .range(1u, 256u);
  command
      .option("--decode-threads", &flags.decode_threads,
              "Of them, threads that compute single tokens (default: what mote bench --tune found, else all)")
      .type("N")
      .range(1u, 256u);
  command
      .option("--context", &flags.context,
              "Most tokens of the session (default: the model's, but at most 4096)")
      .type("N")
      .range(1u, UINT32_MAX);
  command.option("--chunk", &flags.chunk, "Most tokens computed at once (default: 256)")
      .type("N")
      .range(1u, 4096u);
  command
      .option("--kv", &flags.kv,
              "Type of cached keys and values (default: the weights' if f32, else f16; an encoder's "
              "i8 where the CPU computes with it)")
      .type("TYPE")
      .one_of({"f16", "bf16", "f32", "i8"});
  command
      .option("--backend", &flags.backend,
              "Library that multiplies f32 matrices (default: none, mote does it itself)")
      .type("NAME")
      .one_of({"xnnpack"});
  command.flag("--huge-pages", &flags.huge_pages,
               "Copy the weights to huge pages: slower to start, then about a tenth faster");
}

}  // namespace mote::cli
