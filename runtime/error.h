// SPDX-License-Identifier: Apache-2.0
//
// Fills a mote_error without printf.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/trimmed_build.h"
#include "mote/status.h"

namespace mote {

/// Appends text and numbers to a fixed buffer, cut off at its end.
class ErrorText {
 public:
  ErrorText(char* out, size_t bytes) : out_(out), left_(bytes - 1) { *out_ = '\0'; }
  void add(const char* text) {
    for (; *text != '\0' && left_ > 0; ++text, --left_) *out_++ = *text;
    *out_ = '\0';
  }
  void add(uint64_t value) {
    char digits[21];
    char* at = digits + 20;
    *at = '\0';
    do *--at = static_cast<char>('0' + value % 10);
    while ((value /= 10) != 0);
    add(at);
  }
  void add(uint32_t value) { add(static_cast<uint64_t>(value)); }
  void add(int32_t value) {
    if (value < 0) add("-");
    add(static_cast<uint64_t>(value < 0 ? -static_cast<int64_t>(value) : value));
  }

 private:
  char* out_;
  size_t left_;
};

/// Reports a failure where errors have no sentences.
mote_status fail_without_text(mote_error* error, mote_status code, int32_t op);

/// Returns `code` and, unless `error` is null, writes the pieces (strings and integers) as its text.
template <class... Pieces>
MOTE_GETS_WORDS inline mote_status fail_at(mote_error* error, mote_status code, int32_t op,
                                           Pieces... pieces) {
  if constexpr (!kHasSentences) return fail_without_text(error, code, op);
  if (error != nullptr) {
    error->code = code;
    error->op = op;
    ErrorText text(error->text, sizeof error->text);
    (text.add(pieces), ...);
  }
  return code;
}

template <class... Pieces>
MOTE_GETS_WORDS inline mote_status fail(mote_error* error, mote_status code, Pieces... pieces) {
  return fail_at(error, code, -1, pieces...);
}

}  // namespace mote
