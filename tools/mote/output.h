// SPDX-License-Identifier: Apache-2.0
//
// Standard output is data and standard error is talk. Data that cannot be written (closed pipe, full disk)
// throws.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/tasks/sentence.h"

namespace mote::cli {

void write_output(std::string_view text);
void flush_output();

template <class... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  write_output(fmt::format(format, std::forward<Args>(args)...));
}

/// For people: to standard error, on a line of its own.
template <class... Args>
void note(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(stderr, "{}\n", fmt::format(format, std::forward<Args>(args)...));
}

/// Prints a value on one line. A number that is not finite becomes null.
void print_json(const nlohmann::json& value);

using host::human_bytes;
using host::one_line;

/// "1.3 ms", "12.5 s".
std::string human_ms(double ms);

/// Columns as wide as their widest cell; numbers to the right.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void row(std::vector<std::string> cells);
  void print() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// A bar on standard error, if that is a terminal; redrawn at most ten times a second. `share` is 0 to 1,
/// or less than 0 where it is not known: then the stage stands alone.
void show_progress(std::string_view stage, double share);
void clear_progress();
/// Safe in signal handlers.
bool progress_is_shown();

}  // namespace mote::cli
