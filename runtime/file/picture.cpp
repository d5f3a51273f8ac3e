// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <string.h>

#include "kernels/cubic_taps.h"
#include "mote/pictures.h"
#include "runtime/error.h"
#include "runtime/file/model.h"

namespace mote {

namespace {

/// Returns the place of a kind among those that follow each other.
uint32_t stage_of(file::PictureStepKind kind) {
  if (kind < file::PictureStepKind::crop || kind == file::PictureStepKind::resize_patches) return 0;
  if (kind <= file::PictureStepKind::tile) return 1;
  return kind == file::PictureStepKind::rescale ? 2 : 3;
}

bool is_side(uint32_t side) { return side != 0 && side <= kMaxWidth; }

/// Says whether a step has the numbers that its kind needs.
bool fits_step(const file::Picture& picture, const file::PictureStep& step) {
  using file::PictureStepKind;
  const bool filters = step.filter() >= 1 && step.filter() <= 3;
  const bool square = is_side(step.height()) && is_side(step.width());
  switch (step.kind()) {
    case PictureStepKind::resize:
      return filters && square;
    case PictureStepKind::resize_shorter:
      return filters && is_side(step.height());
    case PictureStepKind::resize_bounded:
      return filters && is_side(step.height()) && is_side(step.most()) && is_side(step.multiple());
    case PictureStepKind::resize_evenly:
      return filters && square && is_side(step.multiple());
    case PictureStepKind::resize_pixels:
      return filters && picture.any_size() && step.least() != 0 && step.least() <= step.most() &&
             step.multiple() == picture.patch() * picture.merge() && step.factor() >= 1.0f;
    case PictureStepKind::resize_patches:
      return filters && picture.any_size() && step.most() != 0 &&
             step.multiple() == picture.patch() * picture.merge();
    case PictureStepKind::resize_longer:
      return filters && is_side(step.height()) && is_side(step.most());
    case PictureStepKind::crop:
      return square;
    case PictureStepKind::tile:
      return filters && is_side(step.height()) && step.height() >= picture.height() &&
             step.height() - picture.height() < picture.patch() && step.height() >= picture.width() &&
             step.height() - picture.width() < picture.patch();
    case PictureStepKind::rescale:
      return step.factor() != 0.0f;
    case PictureStepKind::normalize:
      return size_of(step.mean()) == picture.channels() && size_of(step.std()) == picture.channels();
  }
  return false;
}

/// Says whether pictures become pixel values by the steps.
bool fits_steps(const file::Picture& picture) {
  using file::PictureStepKind;
  const uint32_t count = size_of(picture.steps());
  if (count == 0) return true;
  bool fits = count >= 2 && count <= MOTE_MOST_PICTURE_STEPS;
  for (uint32_t i = 0; fits && i < count; ++i) {
    const file::PictureStep& step = *picture.steps()->Get(i);
    const file::PictureStep* next = i + 1 < count ? picture.steps()->Get(i + 1) : nullptr;
    const bool longer = step.kind() == PictureStepKind::resize_longer;
    const bool tiles = next != nullptr && next->kind() == PictureStepKind::tile;
    fits = fits_step(picture, step) && longer == tiles && (!longer || step.height() >= next->height()) &&
           (next == nullptr || stage_of(step.kind()) < stage_of(next->kind())) &&
           (i != 0 || step.kind() != PictureStepKind::tile);
    if (step.kind() == PictureStepKind::resize_pixels || step.kind() == PictureStepKind::resize_patches)
      fits = fits && next != nullptr && stage_of(next->kind()) == 2;
  }
  return fits && picture.steps()->Get(count - 2)->kind() == PictureStepKind::rescale &&
         picture.steps()->Get(count - 1)->kind() == PictureStepKind::normalize;
}

}  // namespace

mote_status check_picture(const mote_model& model, mote_error* error) {
  const file::Picture* picture = model.root->picture();
  if (picture == nullptr) return MOTE_OK;
  if (!model.encoder && !model.sources)
    return fail(error, MOTE_CORRUPT_FILE, "it takes pictures, but no whole sequences");
  for (uint32_t i = 0; i < size_of(picture->steps()); ++i) {
    if (picture->steps()->Get(i)->kind() <= file::PictureStepKind::MAX) continue;
    return fail(error, MOTE_UNSUPPORTED_FILE, "step ", i, " of its pictures is of an unknown kind; ",
                "a newer mote made this file");
  }
  const file::Program& program = *model.root->programs()->Get(whole_program(model));
  const uint64_t patch = picture->patch(), channels = picture->channels();
  bool fits = patch != 0 && patch <= kMaxWidth && channels != 0 && channels <= kMaxPictureChannels;
  fits = fits && picture->merge() != 0 && picture->merge() <= kMaxPictureMerge;
  const uint64_t unit = patch * picture->merge();
  fits = fits && picture->height() != 0 && picture->height() <= kMaxWidth && picture->height() % unit == 0;
  fits = fits && picture->width() != 0 && picture->width() <= kMaxWidth && picture->width() % unit == 0;
  fits = fits && picture->rope_width() <= kMaxWidth && picture->rope_width() % 4 == 0;
  fits = fits && picture->positions_side() <= kMaxPositionsSide;
  const uint64_t side = picture->positions_side(), behind = picture->rope_width() + side * side;
  fits = fits && picture->frames() != 0 && picture->frames() <= kMaxPictureMerge;
  fits = fits && channels * picture->frames() * patch * patch + behind == input_width(program);
  if (fits) {
    const uint64_t patches = (picture->height() / patch) * (picture->width() / patch);
    fits = picture->before() + patches + picture->after() <= context_of(*model.root, program);
  }
  fits = fits && fits_steps(*picture);
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
        for (size_t frame = 0; frame < info.frames; ++frame) {
          const size_t place = line * patch + i, plane_of_row = channel * info.frames + frame;
          out[info.channels_last != 0 ? place * channels * info.frames + plane_of_row
                                      : plane_of_row * patch * patch + place] = from[i];
        }
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

/// Returns the weight of position `at` for a place on a side whose ends are those of the table, steps counted
/// from the nearer end.
float corner_weight_of(uint32_t side, uint32_t patches, size_t place, uint32_t at) {
  const float last = static_cast<float>(side - 1);
  float middle = 0;
  if (patches > 1) {
    const float step = last / static_cast<float>(patches - 1);
    middle = place < patches / 2 ? step * static_cast<float>(place)
                                 : last - step * static_cast<float>(patches - 1 - place);
  }
  const float weight = 1.0f - fabsf(static_cast<float>(at) - middle);
  return weight < 0.0f ? 0.0f : weight;
}

/// `out` is 0.
void write_cubic_positions(const mote_picture_info& info, size_t y, size_t x, float* out) {
  const uint32_t side = info.positions_side;
  const CubicTaps rows = cubic_taps(side, info.height / info.patch, static_cast<uint32_t>(y)),
                  columns = cubic_taps(side, info.width / info.patch, static_cast<uint32_t>(x));
  for (size_t i = 0; i < 4; ++i) {
    for (size_t k = 0; k < 4; ++k)
      out[size_t{rows.at[i]} * side + columns.at[k]] += rows.weights[i] * columns.weights[k];
  }
}

void write_positions(const mote_picture_info& info, size_t y, size_t x, float* out) {
  if (info.positions_side == 0) return;
  if (info.positions_cubic != 0) return write_cubic_positions(info, y, x, out);
  const uint32_t across_patches = info.width / info.patch, down_patches = info.height / info.patch;
  if (info.positions_by_corners != 0) {
    const uint32_t table = info.positions_side;
    for (uint32_t i = 0; i < table * table; ++i)
      out[i] = corner_weight_of(table, down_patches, y, i / table) *
               corner_weight_of(table, across_patches, x, i % table);
    return;
  }
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
    const float turns =
        info.angles_by_place != 0 ? static_cast<float>(place) : 6.28318530718f * (2.0f * middle - 1.0f);
    const float angle = turns / powf(info.rope_base, exponent);
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
  info->frames = picture->frames();
  info->row_width = info->channels * info->frames * info->patch * info->patch + picture->rope_width() +
                    picture->positions_side() * picture->positions_side();
  info->positions_side = picture->positions_side();
  info->channels_last = picture->channels_last() ? 1 : 0;
  info->any_size = picture->any_size() ? 1 : 0;
  info->merge = picture->merge();
  info->angles_by_place = picture->angles_by_place() ? 1 : 0;
  info->positions_by_corners = picture->positions_by_corners() ? 1 : 0;
  info->most_rows = picture->any_size() ? model->root->context() : info->rows;
  info->positions_cubic = picture->positions_cubic() ? 1 : 0;
  info->rope_width = picture->rope_width();
  info->rope_base = picture->rope_base();
  info->step_count = mote::size_of(picture->steps());
  for (uint32_t i = 0; i < info->step_count; ++i) {
    const mote::file::PictureStep* step = picture->steps()->Get(i);
    info->steps[i] = {static_cast<mote_picture_step_kind>(step->kind()),
                      step->filter(),
                      step->height(),
                      step->width(),
                      step->multiple(),
                      step->least(),
                      step->most(),
                      step->factor(),
                      mote::data_of(step->mean()),
                      mote::data_of(step->std())};
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
  const uint32_t patch = info->patch, context = model->root->context(), unit = patch * info->merge;
  const uint64_t patches = uint64_t{height / patch} * (width / patch);
  const uint64_t rows = patches + info->before + info->after;
  if (patches == 0 || height % unit != 0 || width % unit != 0 || rows > context) {
    return fail(error, MOTE_INVALID_ARGUMENT, "a picture of ", width, " x ", height,
                " pixels; sides are multiples of ", unit, ", and there are at most ", context, " rows");
  }
  const mote::file::Program& program = *model->root->programs()->Get(mote::whole_program(*model));
  const uint64_t least = uint64_t{patch} * mote::least_side(program);
  if (height < least || width < least) {
    return fail(error, MOTE_INVALID_ARGUMENT, "a picture of ", width, " x ", height,
                " pixels; this model takes at least ", least, " x ", least);
  }
  info->rows = static_cast<uint32_t>(rows);
  return MOTE_OK;
}

void mote_picture_rows(const mote_picture_info* info, const float* pixels, float* rows) {
  const size_t pixels_of_row = size_t{info->channels} * info->frames * info->patch * info->patch;
  memset(rows, 0, sizeof(float) * info->rows * info->row_width);
  for (uint32_t row = 0; row < info->rows; ++row) {
    float* out = rows + size_t{row} * info->row_width;
    const bool of_patch = row >= info->before && row < info->rows - info->after;
    const size_t place = of_patch ? row - info->before : 0, merge = info->merge, square = merge * merge;
    const size_t across = info->width / info->patch / merge, inside = place % square;
    const size_t y = place / square / across * merge + inside / merge;
    const size_t x = place / square % across * merge + inside % merge;
    if (of_patch) mote::copy_patch(*info, pixels, y, x, out);
    mote::write_angles(*info, of_patch, y, x, out + pixels_of_row);
    if (of_patch) mote::write_positions(*info, y, x, out + pixels_of_row + info->rope_width);
  }
}

}  // extern "C"
