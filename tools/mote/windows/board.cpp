// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/measure/board.h"

#include <windows.h>

#include "tools/mote/output.h"

namespace mote::cli {

/// Returns the processor's name, which Windows keeps in its registry.
std::string board_name() {
  char name[256] = "";
  DWORD bytes = sizeof name;
  const LSTATUS status =
      RegGetValueA(HKEY_LOCAL_MACHINE, "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0",
                   "ProcessorNameString", RRF_RT_REG_SZ, nullptr, name, &bytes);
  return status == ERROR_SUCCESS ? one_line(name) : "x86-64";
}

}  // namespace mote::cli
