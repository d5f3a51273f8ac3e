// SPDX-License-Identifier: Apache-2.0
//
// A task that fails returns a status code, the sentence that says what is wrong and where, and the kind of
// remedy there is. A sentence names no option of any program; whoever has options adds the one that helps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/tasks/sentence.h"
#include "mote/status.h"

namespace mote::host {

/// The remedies that a caller has against a failure.
enum class Remedy : uint8_t {
#define REMEDY(name) name,
#include "host/tasks/remedies.inc"
#undef REMEDY
};

/// Done, or what failed.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(mote_status code, std::string text, Remedy remedy = Remedy::none)
      : code_(code), remedy_(remedy), text_(std::move(text)) {}

  bool ok() const { return code_ == MOTE_OK; }
  mote_status code() const { return code_; }
  Remedy remedy() const { return remedy_; }
  /// One sentence without an end mark; "" where it is done.
  const std::string& text() const { return text_; }

 private:
  mote_status code_ = MOTE_OK;
  Remedy remedy_ = Remedy::none;
  std::string text_;
};

/// Returns MOTE_INVALID_ARGUMENT, which is what most failures of a task are: a model or an input that it is
/// not for.
template <class... Words>
Status failed(std::string_view pattern, const Words&... words) {
  return {MOTE_INVALID_ARGUMENT, sentence(pattern, words...)};
}
template <class... Words>
Status failed(Remedy remedy, std::string_view pattern, const Words&... words) {
  return {MOTE_INVALID_ARGUMENT, sentence(pattern, words...), remedy};
}

/// Returns the core's status with its sentence behind "what: ".
inline Status from_core(mote_status status, const mote_error& error, std::string_view what) {
  if (status == MOTE_OK) return {};
  const char* text = error.text[0] != '\0' ? error.text : mote_status_name(status);
  return {status, sentence("{}: {}", what, text)};
}

/// Returns the failure of a task that its caller ended.
inline Status cancelled() { return {MOTE_CANCELLED, "cancelled"}; }

/// A value, or why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  const Status& status() const& { return status_; }
  Status&& status() && { return std::move(status_); }
  T& operator*() & { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace mote::host

#define MOTE_JOINED_(a, b) a##b
#define MOTE_JOINED(a, b) MOTE_JOINED_(a, b)

/// Returns from the function with the expression's Status unless that is ok.
#define MOTE_TRY(...) \
  if (::mote::host::Status tried = (__VA_ARGS__); !tried.ok()) return tried

/// Declares a variable with the value of a Result, or returns from the function with its Status.
#define MOTE_TAKE(declaration, ...)                                                                \
  auto MOTE_JOINED(taken, __LINE__) = (__VA_ARGS__);                                               \
  if (!MOTE_JOINED(taken, __LINE__).ok()) return std::move(MOTE_JOINED(taken, __LINE__)).status(); \
  declaration = *std::move(MOTE_JOINED(taken, __LINE__))
