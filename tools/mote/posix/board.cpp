// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/measure/board.h"

#include <sys/utsname.h>

#include <fstream>

#include "tools/mote/output.h"

namespace mote::cli {
namespace {

/// Returns the name in the device tree, which boards have.
std::string device_tree_model() {
  std::ifstream file("/proc/device-tree/model", std::ios::binary);
  std::string name;
  std::getline(file, name, '\0');
  return name;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

}  // namespace

std::string board_name() {
  std::string name = device_tree_model();
  if (name.empty()) name = processor_name();
  utsname system = {};
  if (name.empty() && uname(&system) == 0) name = system.machine;
  return one_line(name);
}

}  // namespace mote::cli
