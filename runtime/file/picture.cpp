// SPDX-License-Identifier: Apache-2.0
#include <math.h>
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
  fits = fits && picture->rope_width() <= kMaxWidth && picture->rope_width() % 4 == 0;
  fits = fits && picture->positions_side() <= kMaxPositionsSide;
  const uint64_t side = picture->positions_side(), behind = picture->rope_width() + side * side;
  fits = fits && channels * patch * patch + behind == input_width(*model.program);
  if (fits) {
    const uint64_t patches = (picture->height() / patch) * (picture->width() / patch);
    fits = picture->before() + patches + picture->after() <= model.root->context();
  }
  for (const auto* values : {picture->mean(), picture->std()}) {
    fits = fits && (picture->rescale() == 0.0f || (values != nullptr && values->size() == channels));
  }
  return fits ? MOTE_OK : fail(error, MOTE_CORRUPT_FILE, "its pictures do not become the program's rows");
}

namespace {

/// The pixels of a patch in the order of a row.
void copy_patch(const mote_picture_info& info, const float* pixels, size_t y, size_t x, float* out) {
  const size_t patch = info.patch, channels = info.channels, plane = size_t{info.width} * info.height;
  for (size_t channel = 0; channel < channels; ++channel) {
    for (size_t line = 0; line < patch; ++line) {
      const float* from = pixels + channel * plane + (y * patch + line) * info.width + x * patch;
      for (size_t i = 0; i < patch; ++i) {
        const size_t last = (line * patch + i) * channels + channel,
                     first = (channel * patch + line) * patch + i;
        out[info.channels_last != 0 ? last : first] = from[i];
      }
    }
  }
}

/// The weight, not yet divided by the sum of all, of position `at` of a side for a place among `patches`.
float weight_of(uint32_t side, uint32_t patches, size_t place, uint32_t at) {
  const float scale = static_cast<float>(side) / static_cast<float>(patches),
              width = scale < 1.0f ? 1.0f : scale;
  const float middle = (static_cast<float>(place) + 0.5f) * scale - 0.5f;
  const float weight = 1.0f - fabsf(static_cast<float>(at) - middle) / width;
  return weight < 0.0f ? 0.0f : weight;
}

void write_positions(const mote_picture_info& info, size_t y, size_t x, float* out) {
  const uint32_t side = info.positions_side, down = info.height / info.patch,
                 across = info.width / info.patch;
  float rows = 0, columns = 0;
  for (uint32_t i = 0; i < side; ++i) {
    rows += weight_of(side, down, y, i);
    columns += weight_of(side, across, x, i);
  }
  for (uint32_t i = 0; i < side * side; ++i)
    out[i] = weight_of(side, down, y, i / side) / rows * (weight_of(side, across, x, i % side) / columns);
}

/// Cosines and sines of a row's angles.
void write_angles(const mote_picture_info& info, bool of_patch, size_t y, size_t x, float* out) {
  const uint32_t angles = info.rope_width / 2, half = angles / 2;
  for (uint32_t i = 0; i < angles; ++i) {
    const size_t place = i < half ? y : x, patches = (i < half ? info.height : info.width) / info.patch;
    const float middle = (static_cast<float>(place) + 0.5f) / static_cast<float>(patches);
    const float exponent = static_cast<float>(4 * (i % half)) / static_cast<float>(info.rope_width);
    const float angle = 6.28318530718f * (2.0f * middle - 1.0f) / powf(info.rope_base, exponent);
    out[i] = of_patch ? cosf(angle) : 1.0f;
    out[angles + i] = of_patch ? sinf(angle) : 0.0f;
  }
}

}  // namespace
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
  info->row_width = info->channels * info->patch * info->patch + picture->rope_width() +
                    picture->positions_side() * picture->positions_side();
  info->positions_side = picture->positions_side();
  info->channels_last = picture->channels_last() ? 1 : 0;
  info->any_size = picture->any_size() ? 1 : 0;
  info->rope_width = picture->rope_width();
  info->rope_base = picture->rope_base();
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

mote_status mote_picture_of_size(const mote_model* model, uint32_t height, uint32_t width,
                                 mote_picture_info* info, mote_error* error) {
  const mote_status status = mote_model_get_picture(model, info, error);
  if (status != MOTE_OK || (height == info->height && width == info->width)) return status;
  const uint32_t native_height = info->height, native_width = info->width;
  info->height = height;
  info->width = width;
  if (info->any_size == 0) {
    return fail(error, MOTE_INVALID_ARGUMENT, "a picture of ", width, " x ", height,
                " pixels; this model takes ", native_width, " x ", native_height);
  }
  const uint32_t patch = info->patch, context = model->root->context();
  const uint64_t patches = uint64_t{height / patch} * (width / patch);
  const uint64_t rows = patches + info->before + info->after;
  if (patches == 0 || height % patch != 0 || width % patch != 0 || rows > context) {
    return fail(error, MOTE_INVALID_ARGUMENT, "a picture of ", width, " x ", height,
                " pixels; sides are multiples of ", patch, ", and there are at most ", context, " rows");
  }
  info->rows = static_cast<uint32_t>(rows);
  return MOTE_OK;
}

void mote_picture_rows(const mote_picture_info* info, const float* pixels, float* rows) {
  const size_t pixels_of_row = size_t{info->channels} * info->patch * info->patch;
  memset(rows, 0, sizeof(float) * info->rows * info->row_width);
  for (uint32_t row = 0; row < info->rows; ++row) {
    float* out = rows + size_t{row} * info->row_width;
    const bool of_patch = row >= info->before && row < info->rows - info->after;
    const size_t place = of_patch ? row - info->before : 0, across = info->width / info->patch;
    const size_t y = place / across, x = place % across;
    if (of_patch) mote::copy_patch(*info, pixels, y, x, out);
    mote::write_angles(*info, of_patch, y, x, out + pixels_of_row);
    if (of_patch) mote::write_positions(*info, y, x, out + pixels_of_row + info->rope_width);
  }
}

}  // extern "C"
