// SPDX-License-Identifier: Apache-2.0
//
// The options that commands on a model share.
#pragma once

#include <cstdint>
#include <string>

namespace mote::cli {

class Command;

/// 0 and "" leave the choice to the runtime.
struct SessionFlags {
  uint32_t threads = 0;
  uint32_t decode_threads = 0;
  uint32_t context = 0;
  uint32_t chunk = 0;
  std::string kv;
  std::string backend;
  bool huge_pages = false;
};

void add_model_argument(Command command, std::string& path);
void add_session_flags(Command command, SessionFlags& flags);

}  // namespace mote::cli
