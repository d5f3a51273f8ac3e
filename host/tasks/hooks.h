// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "host/tasks/sentence.h"

namespace mote::host {

/// Functions that tell a caller of a task, and by which the caller ends it. Each may be empty. They are
/// called on the thread that called the task, several times a second.
struct Hooks {
  std::function<bool()> stop;  // true: the task ends with MOTE_CANCELLED, or with what it has
  std::function<void(const std::string& text)> note;  // a sentence for people

  std::function<void(const char* stage, double part)> progress;  // of the work that is done, 0 to 1

  void tell(const char* stage, double part) const {
    if (progress) progress(stage, part);
  }
  bool stopped() const { return stop && stop(); }
  template <class... Words>
  void say(std::string_view pattern, const Words&... words) const {
    if (note) note(sentence(pattern, words...));
  }
};

}  // namespace mote::host
