// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C and its like come to a thread of their own; a read of a mapped file whose disk fails is an
// exception.
#include "tools/mote/signals.h"

#include <windows.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "host/base/open_files.h"
#include "tools/mote/output.h"

namespace mote::cli {
namespace {

std::atomic<int> guards{0};
std::atomic<bool> interrupt_seen{false}, failing{false};

void say(const char* text, size_t bytes) {
  DWORD written = 0;
  WriteFile(GetStdHandle(STD_ERROR_HANDLE), text, static_cast<DWORD>(bytes), &written, nullptr);
}

void say(const char* text) { say(text, std::strlen(text)); }

void leave_nothing() {
  convert::remove_temporary_files();
  if (progress_is_shown()) say("\r\033[K");
}

/// Returns TRUE where the program goes on; after FALSE Windows ends it.
BOOL WINAPI on_event(DWORD event) {
  if (event == CTRL_C_EVENT && guards > 0 && !interrupt_seen.exchange(true)) return TRUE;
  leave_nothing();
  return FALSE;
}

LONG WINAPI on_exception(EXCEPTION_POINTERS* exception) {
  const EXCEPTION_RECORD& record = *exception->ExceptionRecord;
  if (record.ExceptionCode != EXCEPTION_IN_PAGE_ERROR || record.NumberParameters < 2)
    return EXCEPTION_CONTINUE_SEARCH;
  const char* const path =
      convert::mapped_file_at(reinterpret_cast<const void*>(record.ExceptionInformation[1]));
  if (path == nullptr) return EXCEPTION_CONTINUE_SEARCH;
  while (failing.exchange(true)) Sleep(INFINITE);  // another thread says it
  leave_nothing();
  say("mote: ");
  say(path);
  say(": cut short while it was in use, or its disk cannot be read\n");
  TerminateProcess(GetCurrentProcess(), 1);
  return EXCEPTION_CONTINUE_SEARCH;
}

}  // namespace

void install_signal_handlers() {
  SetConsoleCtrlHandler(on_event, TRUE);
  AddVectoredExceptionHandler(1, on_exception);
}

InterruptGuard::InterruptGuard() { ++guards; }
InterruptGuard::~InterruptGuard() { --guards; }
bool InterruptGuard::interrupted() { return interrupt_seen; }
void InterruptGuard::clear() { interrupt_seen = false; }

void end_interrupted() {
  TerminateProcess(GetCurrentProcess(), static_cast<UINT>(STATUS_CONTROL_C_EXIT));
  std::abort();
}

}  // namespace mote::cli
