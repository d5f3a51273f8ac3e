// SPDX-License-Identifier: Apache-2.0
//
// The arguments of a filter, test, method or function, by its parameters.
#pragma once

#include <initializer_list>
#include <string>

#include "host/chat/jinja/value.h"

namespace mote::convert::jinja {

class Bound {
 public:
  /// Refuses arguments that have no parameter. `required`: so many of the first must be given.
  Bound(std::string what, const Arguments& arguments, std::initializer_list<const char*> parameters,
        size_t required = 0);

  bool has(size_t index) const { return given_[index] != nullptr; }
  const Value& at(size_t index) const { return *given_[index]; }
  /// Null where it is not given.
  const Value* find(size_t index) const { return given_[index]; }
  int64_t whole(size_t index, int64_t otherwise) const;
  bool flag(size_t index, bool otherwise) const;
  /// Refuses what is no text.
  const std::string& text(size_t index) const;
  /// Null where it is not given or None.
  const std::string* optional_text(size_t index) const;
  bool is_none(size_t index) const { return !has(index) || at(index).is<None>(); }

 private:
  std::string what_;
  std::vector<const Value*> given_;
};

}  // namespace mote::convert::jinja
