// SPDX-License-Identifier: Apache-2.0
//
// Says the results of the library's tasks as the command line does: failures become exceptions whose sentence
// names the option that helps, notes go to standard error, and Ctrl-C under an InterruptGuard stops a task.
#pragma once

#include <exception>
#include <utility>

#include "host/tasks/hooks.h"
#include "host/tasks/status.h"

namespace mote::cli {

/// Throws Interrupted for MOTE_CANCELLED and convert::Error for every other failure.
void check(const host::Status& status);

/// Returns the value, or throws as check() does.
template <class T>
T take(host::Result<T> result) {
  if (!result.ok()) check(result.status());
  return *std::move(result);
}

/// Returns what the command line hears of a task.
host::Hooks hooks();

/// Carries what a callback throws past a task: the task is stopped, and take() and check() throw it again.
class Relay {
 public:
  /// hooks(), which also stop once a callback has thrown.
  host::Hooks hooks() const;
  template <class Callback>
  auto wrap(Callback callback) {
    return [this, callback](auto&&... arguments) {
      if (thrown_) return;
      try {
        callback(std::forward<decltype(arguments)>(arguments)...);
      } catch (...) {
        thrown_ = std::current_exception();
      }
    };
  }
  void check(const host::Status& status) const {
    if (thrown_) std::rethrow_exception(thrown_);
    cli::check(status);
  }
  template <class T>
  T take(host::Result<T> result) const {
    check(result.status());
    return *std::move(result);
  }

 private:
  std::exception_ptr thrown_;
};

}  // namespace mote::cli
