// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/output.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "host/base/error.h"
#include "host/base/system.h"

namespace mote::cli {
namespace {

void check_output(bool ok) {
  if (!ok) convert::fail("standard output: {}", std::strerror(errno));
}

struct Progress {
  std::atomic<bool> shown{false};
  std::string stage;
  std::chrono::steady_clock::time_point drawn;
};
Progress progress;

}  // namespace

void write_output(std::string_view text) {
  check_output(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

void flush_output() { check_output(std::fflush(stdout) == 0); }

void print_json(const nlohmann::json& value) {
  print("{}\n", value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string human_ms(double ms) {
  if (ms >= 1000.0) return fmt::format("{:.2f} s", ms / 1000.0);
  return fmt::format("{:.{}f} ms", ms, ms < 9.995 ? 2 : ms < 99.95 ? 1 : 0);
}

void Table::row(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = one_line(cell);
  rows_.push_back(std::move(cells));
}

void Table::print() const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns_.size(); ++c) {
    widths.push_back(columns_[c].title.size());
    for (const auto& row : rows_) widths[c] = std::max(widths[c], row[c].size());
  }
  const auto print_row = [&](const auto& cell) {
    std::string line;
    for (size_t c = 0; c < columns_.size(); ++c) {
      const char* format = columns_[c].align == Align::right ? "{:>{}}  " : "{:<{}}  ";
      line += fmt::format(fmt::runtime(format), cell(c), widths[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    cli::print("{}\n", line);
  };
  print_row([&](size_t c) { return columns_[c].title; });
  for (const auto& row : rows_) print_row([&](size_t c) { return row[c]; });
}

void show_progress(std::string_view stage, double share) {
  static const bool terminal = convert::is_terminal(convert::Stream::errors);
  if (!terminal) return;
  const auto now = std::chrono::steady_clock::now();
  if (progress.shown && progress.stage == stage && now - progress.drawn < std::chrono::milliseconds(100))
    return;
  constexpr int kWidth = 30;
  fmt::print(stderr, "\r\033[K");
  if (share >= 0) {
    const double part = std::isfinite(share) ? std::min(share, 1.0) : 0.0;
    const int filled = static_cast<int>(part * kWidth);
    fmt::print(stderr, "[{:#<{}}{:.<{}}] {:3.0f} %  ", "", filled, "", kWidth - filled, part * 100.0);
  }
  fmt::print(stderr, "{}", one_line(stage));
  std::fflush(stderr);
  progress.shown = true;
  progress.stage = stage;
  progress.drawn = now;
}

bool progress_is_shown() { return progress.shown; }

void clear_progress() {
  if (progress.shown) fmt::print(stderr, "\r\033[K");
  progress.shown = false;
}

}  // namespace mote::cli
