// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "host/base/error.h"
#include "host/tasks/sentence.h"

namespace mote::cli {

CsvColumn::CsvColumn(std::istream& in, std::string file, const std::string& column)
    : in_(in), file_(std::move(file)) {
  if (append_line()) {
    constexpr const char* kByteOrderMark = "\xEF\xBB\xBF";
    if (line_.compare(0, 3, kByteOrderMark) == 0) line_.erase(0, 3);
    if (line_.find('\t') != std::string::npos) separator_ = '\t';
  }
  if (lines_ == 0 || !read_record()) convert::fail("{}: there is no header with the columns' names", file_);
  column_ = find_column(column);
}

bool CsvColumn::read(std::string& cell) {
  do {
    line_.clear();
    if (!append_line()) return false;
  } while (line_.empty());
  read_record();
  if (column_ >= cells_.size())
    fail_in_line(begin_, fmt::format("{} columns, column {} is asked for", cells_.size(), column_ + 1));
  cell = std::move(cells_[column_]);
  return true;
}

bool CsvColumn::append_line() {
  std::string line;
  if (!std::getline(in_, line)) {
    if (in_.bad()) convert::fail("cannot read {}: reading failed", file_);
    return false;
  }
  ++lines_;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  line_ += line;
  return true;
}

void CsvColumn::read_quoted(size_t& at, std::string& cell) {
  for (++at;;) {
    if (at == line_.size()) {  // the cell goes on in the next line
      line_.clear();
      if (!append_line()) fail_in_line(begin_, "a quote that is never closed");
      cell += '\n';
      at = 0;
      continue;
    }
    const char c = line_[at++];
    if (c != '"') {
      cell += c;
    } else if (at < line_.size() && line_[at] == '"') {
      cell += line_[at++];
    } else {
      return;
    }
  }
}

bool CsvColumn::read_record() {
  begin_ = lines_;
  cells_.clear();
  if (line_.empty()) return false;
  for (size_t at = 0;; ++at) {
    std::string cell;
    if (at < line_.size() && line_[at] == '"') read_quoted(at, cell);
    while (at < line_.size() && line_[at] != separator_) cell += line_[at++];
    cells_.push_back(std::move(cell));
    if (at == line_.size()) return true;
  }
}

size_t CsvColumn::find_column(const std::string& column) const {
  const auto found = std::find(cells_.begin(), cells_.end(), column);
  if (found != cells_.end()) return static_cast<size_t>(found - cells_.begin());
  size_t number = 0;
  const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), number);
  if (error == std::errc() && end == column.data() + column.size() && number >= 1 && number <= cells_.size())
    return number - 1;
  std::string names;
  constexpr size_t kMostNames = 20;
  for (size_t i = 0; i < std::min(cells_.size(), kMostNames); ++i)
    names += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", host::one_line(cells_[i]));
  if (cells_.size() > kMostNames) names += fmt::format(" and {} more", cells_.size() - kMostNames);
  convert::fail("{}: there is no column \"{}\"; the header has {}", file_, host::one_line(column), names);
}

void CsvColumn::fail_in_line(uint64_t line, const std::string& what) const {
  convert::fail("{}: line {}: {}", file_, line, what);
}

}  // namespace mote::cli
