// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/system.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <system_error>

#include "tools/mote/signals.h"

namespace mote::cli {

char** begin_program(int, char** arguments) {
  std::signal(SIGPIPE, SIG_IGN);
  return arguments;
}

std::filesystem::path own_program() {
  std::error_code none;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", none);
  if (!program.empty()) return program;
  const auto* started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));  // where there is no /proc
  return started == nullptr ? program : std::filesystem::absolute(started, none);
}

std::filesystem::path cache_folder() {
  const auto folder = [](const char* variable) {
    const char* value = getenv(variable);
    return std::filesystem::path(value != nullptr ? value : "");
  };
  // A relative path is to be ignored, by the XDG Base Directory Specification.
  const std::filesystem::path cache = folder("XDG_CACHE_HOME"), home = folder("HOME");
  if (cache.is_absolute()) return cache;
  return home.is_absolute() ? home / ".cache" : std::filesystem::path();
}

const char* cache_variables() { return "neither XDG_CACHE_HOME nor HOME"; }

uint32_t usable_cores() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) return static_cast<uint32_t>(CPU_COUNT(&cores));
  return static_cast<uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

/// A terminal gives whole lines: once there is something to read, getline does not wait.
Typed read_terminal_line(std::string& line) {
  if (!InterruptGuard::wait_readable(STDIN_FILENO))
    return InterruptGuard::interrupted() ? Typed::interrupt : Typed::end;
  return std::getline(std::cin, line) ? Typed::line : Typed::end;
}

void become_python(const std::filesystem::path& program, const std::string& first,
                   const std::string& second) {
  execlp("python3", "python3", program.c_str(), first.c_str(), second.c_str(), nullptr);
}

}  // namespace mote::cli
