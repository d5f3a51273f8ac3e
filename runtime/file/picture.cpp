// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "mote/mote.h"
#include "runtime/error.h"
#include "runtime/file/model.h"

namespace mote {

mote_status check_picture(const mote_model& model, mote_error* error) {
  const file::Picture* picture = model.root->picture();
  if (picture == nullptr) return MOTE_OK;
  const uint64_t patch = picture->patch(), channels = picture->channels();
  bool fits = patch != 0 && patch <= kMaxWidth && channels != 0 && channels <= kMaxPictureChannels;
  fits = fits && picture->height() != 0 && picture->height() <= kMaxWidth && picture->height() % patch == 0;
  fits = fits && picture->width() != 0 && picture->width() <= kMaxWidth && picture->width() % patch == 0;
  fits = fits && channels * patch * patch == input_width(*model.program);
  if (fits) {
    const uint64_t patches = (picture->height() / patch) * (picture->width() / patch);
    fits = picture->before() + patches + picture->after() <= model.root->context();
  }
  for (const auto* values : {picture->mean(), picture->std()}) {
    fits = fits && (picture->rescale() == 0.0f || (values != nullptr && values->size() == channels));
  }
  return fits ? MOTE_OK : fail(error, MOTE_CORRUPT_FILE, "its pictures do not become the program's rows");
}

}  // namespace mote

using mote::fail;

extern "C" {

mote_status mote_model_get_picture(const mote_model* model, mote_picture_info* info, mote_error* error) {
  *info = {};
  const mote::file::Picture* picture = model->root->picture();
  if (picture == nullptr) return fail(error, MOTE_WRONG_STATE, "this model takes no pictures");
  info->height = picture->height();
  info->width = picture->width();
  info->channels = picture->channels();
  info->patch = picture->patch();
  info->before = picture->before();
  info->after = picture->after();
  info->rows = info->before + (info->height / info->patch) * (info->width / info->patch) + info->after;
  info->row_width = info->channels * info->patch * info->patch;
  info->resize_height = picture->resize_height();
  info->resize_width = picture->resize_width();
  info->resample = picture->resample();
  info->crop_height = picture->crop_height();
  info->crop_width = picture->crop_width();
  info->rescale = picture->rescale();
  if (info->rescale != 0.0f) {
    info->mean = picture->mean()->data();
    info->deviation = picture->std()->data();
  }
  info->similarity_scale = picture->similarity_scale();
  info->similarity_bias = picture->similarity_bias();
  return MOTE_OK;
}

void mote_picture_rows(const mote_picture_info* info, const float* pixels, float* rows) {
  const size_t patch = info->patch, width = info->width, plane = width * info->height;
  memset(rows, 0, sizeof(float) * info->rows * info->row_width);
  float* out = rows + size_t{info->before} * info->row_width;
  for (size_t y = 0; y < info->height; y += patch) {
    for (size_t x = 0; x < width; x += patch) {
      for (size_t line = 0; line < info->channels * patch; ++line, out += patch) {
        const size_t channel = line / patch, row = y + line % patch;
        memcpy(out, pixels + channel * plane + row * width + x, patch * sizeof(float));
      }
    }
  }
}

}  // extern "C"
