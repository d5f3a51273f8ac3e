// SPDX-License-Identifier: Apache-2.0
//
// The two ways in which a template does not become text.
#pragma once

#include "host/base/error.h"

namespace mote::convert::jinja {

/// The original would fail as well: the template raises an exception, or does what Python or Jinja refuse.
class Refusal : public Error {
 public:
  using Error::Error;
};

/// The original may render it; what is not understood here is named.
class Unsupported : public Error {
 public:
  using Error::Error;
};

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Refusal(fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void unsupported(fmt::format_string<Args...> format, Args&&... args) {
  throw Unsupported(fmt::format(format, std::forward<Args>(args)...) + " is not supported");
}

}  // namespace mote::convert::jinja
