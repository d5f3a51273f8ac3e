// SPDX-License-Identifier: Apache-2.0
//
// Errors of libpng: a jump to `jump` with the text in `message`.
#pragma once

#include <png.h>

#include <csetjmp>
#include <cstring>

namespace mote::pictures {

struct PngErrors {
  char message[128] = "";
  std::jmp_buf jump;
};

extern "C" {
/// Takes the errors of a reader or writer whose error pointer is the PngErrors.
[[noreturn]] inline void on_png_error(png_structp png, png_const_charp text) {
  auto* errors = static_cast<PngErrors*>(png_get_error_ptr(png));
  std::strncpy(errors->message, text, sizeof errors->message - 1);
  std::longjmp(errors->jump, 1);
}
inline void on_png_warning(png_structp, png_const_charp) {}
}

}  // namespace mote::pictures
