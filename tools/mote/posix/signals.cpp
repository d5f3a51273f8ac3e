// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/signals.h"

#include <signal.h>
#include <sys/select.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "host/base/open_files.h"
#include "tools/mote/output.h"

namespace mote::cli {
namespace {

std::atomic<int> guards{0};
std::atomic<bool> interrupt_seen{false}, failing{false};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

// Everything below that a handler calls is safe in one.

void say(const char* text, size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = write(STDERR_FILENO, text, bytes);
    if (written <= 0) return;
    text += written;
    bytes -= static_cast<size_t>(written);
  }
}

void say(const char* text) { say(text, std::strlen(text)); }

/// On one line, whatever its characters.
void say_path(const char* path) {
  for (; *path != '\0'; ++path) {
    const auto byte = static_cast<unsigned char>(*path);
    say(byte < 0x20 || byte == 0x7F ? "?" : path, 1);
  }
}

void restore_default(int signal) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
}

void on_end(int signal) {
  if (signal == SIGINT && guards > 0 && !interrupt_seen.exchange(true)) return;
  convert::remove_temporary_files();
  if (progress_is_shown()) say("\r\033[K");
  restore_default(signal);
  raise(signal);  // comes when the handler returns
}

void on_bus(int signal, siginfo_t* info, void*) {
  const char* path = convert::mapped_file_at(info->si_addr);
  if (path == nullptr) return restore_default(signal);  // the access is done again
  while (failing.exchange(true)) pause();               // another thread says it
  convert::remove_temporary_files();
  if (progress_is_shown()) say("\r\033[K");
  say("mote: ");
  say_path(path);
  say(": cut short while it was in use, or its disk cannot be read\n");
  _exit(1);
}

}  // namespace

void install_signal_handlers() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {}, action = {};
    action.sa_handler = on_end;
    action.sa_flags = SA_RESTART;  // of reads and writes; pselect returns all the same
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
  struct sigaction action = {};
  action.sa_sigaction = on_bus;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

InterruptGuard::InterruptGuard() { ++guards; }
InterruptGuard::~InterruptGuard() { --guards; }
bool InterruptGuard::interrupted() { return interrupt_seen; }
void InterruptGuard::clear() { interrupt_seen = false; }
bool InterruptGuard::wait_readable(int fd) {
  // Blocked but within pselect: a signal just before the wait would be lost otherwise.
  sigset_t interrupt, before;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  sigprocmask(SIG_BLOCK, &interrupt, &before);
  fd_set readable;
  FD_ZERO(&readable);
  FD_SET(fd, &readable);
  const bool ready = !interrupt_seen && pselect(fd + 1, &readable, nullptr, nullptr, nullptr, &before) >= 0;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return ready && !interrupt_seen;
}

void end_interrupted() {
  restore_default(SIGINT);
  raise(SIGINT);
  _exit(1);  // where it is blocked
}

}  // namespace mote::cli
