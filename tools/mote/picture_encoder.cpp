// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/picture_encoder.h"

#include "host/media/pixel_values.h"
#include "tools/mote/signals.h"

namespace mote::cli {

std::vector<float> picture_values(const std::string& path, const mote_picture_info& info,
                                  pictures::Sides* own) {
  const convert::MappedFile file(path);
  return pictures::pixel_values(file.bytes(), path, info, {}, own);
}

void PictureEncoder::encode(const std::string& path) {
  const std::vector<float> pixels = picture_values(path, encoder_.picture(), &sides_);
  const InterruptGuard guard;
  check(encoder_.encode(pixels, hooks(), path));
}

}  // namespace mote::cli
