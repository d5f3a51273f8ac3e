// SPDX-License-Identifier: Apache-2.0
//
// Jinja as chat templates use it, equal to jinja2 3.1 in the environment of transformers 5: sandboxed, with
// trim_blocks, lstrip_blocks, break and continue, `generation`, raise_exception, strftime_now and Python's
// JSON. A template that uses parts of Jinja which this renderer lacks is refused by their names, never
// approximated: block, extends, include, import, autoescape, recursive loops, and a few filters.
//
//   const jinja::Template chat(source);
//   const std::string text = chat.render({{"messages", jinja::from_json(messages)}}, now);
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/chat/jinja/value.h"

namespace mote::convert::jinja {

/// Local time, for strftime_now.
struct Time {
  int year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0, microsecond = 0;
};

/// "2026-11-25", with "T09:30", seconds or not. Throws Error for anything else.
Time parse_time(const std::string& text);
Time current_time();

/// Python's strftime; letters that depend on a locale or zone are Unsupported.
std::string format_time(const std::string& format, const Time& time);

struct Limits {
  uint64_t steps = 10'000'000;  // values looked at, and 256 bytes of text as one
};

using Variables = std::vector<std::pair<std::string, Value>>;

class Template {
 public:
  /// Throws Refusal for syntax errors and Unsupported for what is not rendered.
  explicit Template(std::string_view source);
  ~Template();
  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;

  /// Throws Refusal where the template refuses and Unsupported where it cannot be rendered here.
  std::string render(const Variables& variables, const Time& now, const Limits& limits = {}) const;

  /// Says whether a variable of this name is read anywhere.
  bool reads(std::string_view name) const;

 private:
  std::unique_ptr<Node> program_;
};

}  // namespace mote::convert::jinja
