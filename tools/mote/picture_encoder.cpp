// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/picture_encoder.h"

#include <algorithm>

#include "converter/error.h"
#include "pictures/pixel_values.h"
#include "tools/mote/steps.h"

namespace mote::cli {
namespace {

mote_picture_info picture_of(const ModelFile& file) {
  mote_picture_info picture;
  mote_error error{};
  check(mote_model_get_picture(file.model(), &picture, &error), error, file.path());
  return picture;
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
      session_(file, options_for(file, flags, pool, picture_)),
      rows_(size_t{picture_.rows} * picture_.row_width) {
  mote_model_get_output(file.model(), &output_);
}

mote_session_options PictureEncoder::options_for(const ModelFile& file, const SessionFlags& flags,
                                                 const ThreadPool& pool, const mote_picture_info& picture) {
  mote_session_options options = session_options(file, flags, pool);
  options.context = options.chunk = picture.rows;
  mote_output_info output;
  mote_model_get_output(file.model(), &output);
  options.logit_rows = output.kind == MOTE_OUTPUT_DEPTH ? picture.rows : 1;
  return options;
}

void PictureEncoder::encode(const std::string& path) {
  const convert::MappedFile file(path);
  const std::vector<float> pixels = pictures::pixel_values(file.bytes(), path, picture_, {}, &sides_);
  mote_picture_rows(&picture_, pixels.data(), rows_.data());
  mote_batch batch{};
  batch.values = rows_.data();
  batch.lengths = &picture_.rows;
  batch.count = 1;
  const uint32_t first = 0;
  const bool all = output_.of_sequences != 0 || output_.kind == MOTE_OUTPUT_DEPTH;
  batch.rows = all ? nullptr : &first;
  batch.row_count = all ? 0 : 1;
  cli::encode(session_, batch, path);
}

std::vector<float> PictureEncoder::row() const {
  const float* values = mote_session_output(session_.get(), 0);
  return {values, values + output_.width};
}

std::vector<float> PictureEncoder::probabilities() const {
  std::vector<float> values(output_.width);
  mote_error error{};
  check(mote_probabilities(session_.get(), 0, values.data(), output_.width, &error), error, "probabilities");
  return values;
}

}  // namespace mote::cli
