// SPDX-License-Identifier: Apache-2.0
//
// Reads a column of a table of text: RFC 4180 with commas or tabs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace mote::cli {

/// A column of records, the first of which are the columns' names. Cells are parted by tabs where the header
/// has one, else by commas. A cell in double quotes may hold these, ends of lines and quotes, written twice.
class CsvColumn {
 public:
  /// Reads the header. `file` names the input; `column` is a name of the header, else a number from 1. Throws
  /// convert::Error for a column that is not there, with the names of those that are.
  CsvColumn(std::istream& in, std::string file, const std::string& column);

  /// Reads the column's cell of the next record that is not an empty line; false: there is none. Throws
  /// convert::Error for a record without the column, and for a quote that is never closed.
  bool read(std::string& cell);
  /// Returns the number of the line, from 1, that the last record began on.
  uint64_t line() const { return begin_; }

 private:
  /// Reads line_, and those that its cells go on in, into cells_; false: it is empty.
  bool read_record();
  /// Appends the quoted part of a cell that begins at `at`, which then is behind its last quote.
  void read_quoted(size_t& at, std::string& cell);
  /// Appends a line of the input to line_; false: there is none.
  bool append_line();
  size_t find_column(const std::string& column) const;
  [[noreturn]] void fail_in_line(uint64_t line, const std::string& what) const;

  std::istream& in_;
  std::string file_;
  char separator_ = ',';
  size_t column_ = 0;
  uint64_t begin_ = 0, lines_ = 0;
  std::string line_;
  std::vector<std::string> cells_;
};

}  // namespace mote::cli
