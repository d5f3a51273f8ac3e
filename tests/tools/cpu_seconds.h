// SPDX-License-Identifier: Apache-2.0
//
// What a process has computed so far: how far it is, whatever else the machine does.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <sstream>
#include <string>

#include "tests/support/files.h"
#include "tests/support/skip.h"

namespace mote::testing {

/// Of user and system time; 0 for a process that is not there.
inline double cpu_seconds(pid_t process) {
  std::string stat = read_text("/proc/" + std::to_string(process) + "/stat");
  stat.erase(0, stat.rfind(')') + 1);
  std::istringstream fields(stat);
  std::string skipped;
  double user = 0, system = 0;
  for (int i = 0; i < 11; ++i) fields >> skipped;  // after the name: fields 3 to 13 of proc(5)
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

constexpr double kBusy = 0.3;  // seconds after which a command that loads in milliseconds is computing

}  // namespace mote::testing

#define SKIP_WITHOUT_PROC() SKIP_UNLESS(std::filesystem::exists("/proc/self/stat"), "there is no /proc")
