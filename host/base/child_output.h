// SPDX-License-Identifier: Apache-2.0
//
// A program whose output is read through a pipe, for as long as it is wanted.
#pragma once

#include <cstddef>

namespace mote::convert {

class ChildOutput {
 public:
  /// Starts the program `arguments[0]`, found in PATH, with nothing to read and without its messages;
  /// `arguments` end with a null. Where it cannot be started, error() says why.
  explicit ChildOutput(const char* const* arguments);
  /// Ends the program.
  ~ChildOutput();
  ChildOutput(const ChildOutput&) = delete;
  ChildOutput& operator=(const ChildOutput&) = delete;

  /// Returns 0, or a number of errno: ENOENT for a program that is not installed.
  int error() const { return error_; }
  /// Returns how many bytes there are of those asked for: fewer at the end alone.
  size_t read(char* to, size_t count) const;
  /// Waits for the program's end, once all is read; returns whether it did its work.
  bool succeeded();

 private:
  void wait();

  int error_ = 0, process_ = 0, pipe_ = -1, status_ = 0;
};

}  // namespace mote::convert
