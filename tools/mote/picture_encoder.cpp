// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/picture_encoder.h"

#include <algorithm>
#include <numeric>

#include "host/base/error.h"
#include "host/media/pixel_values.h"
#include "tools/mote/steps.h"

namespace mote::cli {
namespace {

mote_picture_info picture_of(const ModelFile& file) {
  mote_picture_info picture;
  mote_error error{};
  check(mote_model_get_picture(file.model(), &picture, &error), error, file.path());
  return picture;
}

/// The rows with outputs: a detector's are the last ones.
std::vector<uint32_t> wanted_rows(const ModelFile& file, const mote_picture_info& picture) {
  mote_output_info output;
  mote_model_get_output(file.model(), &output);
  if (output.kind == MOTE_OUTPUT_DEPTH) return {};
  if (output.kind != MOTE_OUTPUT_BOXES) return {0};
  std::vector<uint32_t> rows(picture.after);
  std::iota(rows.begin(), rows.end(), picture.rows - picture.after);
  return rows;
}

}  // namespace

bool takes_pictures(const ModelFile& file) {
  mote_picture_info picture;
  return mote_model_get_picture(file.model(), &picture, nullptr) == MOTE_OK;
}

std::vector<float> depth_map(const mote_picture_info& picture, const Session& session, uint32_t index) {
  const size_t patch = picture.patch, across = picture.width / patch;
  const auto patches = static_cast<uint32_t>(picture.height / patch * across);
  std::vector<float> map(size_t{picture.height} * picture.width);
  for (uint32_t i = 0; i < patches; ++i) {
    const float* row = mote_session_output(session.get(), index * patches + i);
    for (size_t y = 0; y < patch; ++y, row += patch)
      std::copy_n(row, patch, map.data() + (i / across * patch + y) * picture.width + i % across * patch);
  }
  return map;
}

PictureEncoder::PictureEncoder(const ModelFile& file, const SessionFlags& flags, const ThreadPool& pool)
    : picture_(picture_of(file)),
      encoder_(file, flags, pool, picture_.rows, wanted_rows(file, picture_)),
      rows_(size_t{picture_.rows} * picture_.row_width) {}

void PictureEncoder::encode(const std::string& path) {
  const convert::MappedFile file(path);
  const std::vector<float> pixels = pictures::pixel_values(file.bytes(), path, picture_, {}, &sides_);
  mote_picture_rows(&picture_, pixels.data(), rows_.data());
  encoder_.encode(rows_, path);
}

}  // namespace mote::cli
