// SPDX-License-Identifier: Apache-2.0
//
// Handles signals. SIGINT, SIGTERM and SIGHUP end the program, after which no temporary file is left. While
// an InterruptGuard exists the first SIGINT (Ctrl-C) is only remembered; the next one ends the program as
// ever. SIGBUS at a mapped file, which was cut short meanwhile, is a failure with a message.
#pragma once

#include <exception>

namespace mote::cli {

/// Installs the handlers, once, when the program starts. Signals that the caller of the program had ignored
/// stay ignored.
void install_signal_handlers();

/// While one exists, Ctrl-C ends the work in progress instead of the program. They may nest. A Ctrl-C that
/// came too late for the work under one is for that under the next.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  static bool interrupted();
  static void clear();
  /// Waits until there is something to read, or the end of it; false when Ctrl-C comes first, or came
  /// already. On POSIX systems alone.
  static bool wait_readable(int fd);
};

/// Work that a Ctrl-C ended and that has nothing to show for it.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// Ends the program as SIGINT does by default, so that a shell sees why.
[[noreturn]] void end_interrupted();

}  // namespace mote::cli
