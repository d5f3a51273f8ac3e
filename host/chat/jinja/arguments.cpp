// SPDX-License-Identifier: Apache-2.0
#include "host/chat/jinja/arguments.h"

#include <algorithm>

namespace mote::convert::jinja {

Bound::Bound(std::string what, const Arguments& arguments, std::initializer_list<const char*> parameters,
             size_t required)
    : what_(std::move(what)), given_(parameters.size(), nullptr) {
  if (arguments.values.size() > parameters.size()) {
    refuse("{} takes at most {} arguments, {} given", what_, parameters.size(), arguments.values.size());
  }
  for (size_t i = 0; i < arguments.values.size(); ++i) given_[i] = &arguments.values[i];
  for (const auto& [name, value] : arguments.names) {
    const auto found = std::find(parameters.begin(), parameters.end(), name);
    if (found == parameters.end()) refuse("{} takes no argument '{}'", what_, name);
    const auto index = static_cast<size_t>(found - parameters.begin());
    if (given_[index] != nullptr) refuse("{}: the argument '{}' is given twice", what_, name);
    given_[index] = &value;
  }
  for (size_t i = 0; i < required; ++i) {
    if (given_[i] == nullptr) refuse("{}: the argument '{}' is missing", what_, *(parameters.begin() + i));
  }
}

int64_t Bound::whole(size_t index, int64_t otherwise) const {
  return has(index) ? to_int(at(index), what_ + "'s argument") : otherwise;
}

bool Bound::flag(size_t index, bool otherwise) const { return has(index) ? truthy(at(index)) : otherwise; }

const std::string& Bound::text(size_t index) const {
  const Value& value = at(index);
  if (value.is<Undefined>()) refuse_undefined(value);
  if (value.text() == nullptr) refuse("{}: expected a str, got {}", what_, type_name(value));
  return value.text()->bytes;
}

const std::string* Bound::optional_text(size_t index) const {
  return is_none(index) ? nullptr : &text(index);
}

}  // namespace mote::convert::jinja
