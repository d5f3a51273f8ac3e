// SPDX-License-Identifier: Apache-2.0
//
// What calls of mote.hpp return: a value, or why there is none. Nothing is thrown but by value(), which is
// how a program asks for exceptions; with -fno-exceptions there is no value().
#pragma once

#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "mote/status.h"

namespace mote {
inline namespace v0 {

/// Thrown by value().
class Exception : public std::exception {
 public:
  explicit Exception(const mote_error& error) : error_(error) {}
  const char* what() const noexcept override { return error_.text; }
  mote_status code() const { return error_.code; }

 private:
  mote_error error_;
};

/// Success, or a code and a sentence.
class [[nodiscard]] Status {
 public:
  Status() = default;
  explicit Status(const mote_error& error) : error_(error) {}
  Status(mote_status code, const std::string& text) {
    error_.code = code;
    std::strncpy(error_.text, text.c_str(), sizeof error_.text - 1);
  }
  /// Of what a call of mote.h returned and the error that it filled.
  static Status of(mote_status code, const mote_error& error) {
    return code == MOTE_OK ? Status() : Status(error);
  }

  bool ok() const { return error_.code == MOTE_OK; }
  mote_status code() const { return error_.code; }
  const char* text() const { return error_.text; }
  const mote_error& error() const { return error_; }
#if defined(__cpp_exceptions)
  /// Throws Exception where this is a failure.
  void value() const {
    if (!ok()) throw Exception(error_);
  }
#endif

 private:
  mote_error error_ = {MOTE_OK, -1, ""};
};

/// A value, or the status of the failure that left none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status failure) : status_(std::move(failure)) {}

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  const char* text() const { return status_.text(); }
  /// The value, which must be there.
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
#if defined(__cpp_exceptions)
  /// The value; throws Exception where there is none.
  T& value() & {
    status_.value();
    return *value_;
  }
  T value() && {
    status_.value();
    return *std::move(value_);
  }
#endif

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace v0
}  // namespace mote
