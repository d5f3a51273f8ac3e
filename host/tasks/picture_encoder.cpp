// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/picture_encoder.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mote::host {
namespace {

/// Returns the rows with outputs: a detector's are the last ones.
std::vector<uint32_t> rows_with_outputs(const Model& model, const mote_picture_info& picture) {
  if (model.task() == MOTE_TASK_MEASURE_DEPTH) return {};
  if (model.task() != MOTE_TASK_DETECT) return {0};
  std::vector<uint32_t> rows(picture.after);
  std::iota(rows.begin(), rows.end(), picture.rows - picture.after);
  return rows;
}

}  // namespace

bool takes_pictures(const Model& model) {
  mote_picture_info picture;
  return mote_model_get_picture(model.get(), &picture, nullptr) == MOTE_OK;
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

PictureEncoder::PictureEncoder(const mote_picture_info& picture, RowsEncoder encoder, uint32_t most_rows,
                               bool any_size)
    : picture_(picture),
      encoder_(std::move(encoder)),
      rows_(size_t{most_rows} * picture_.row_width),
      any_size_(any_size) {}

Result<PictureEncoder> PictureEncoder::make(const Model& model, const SessionChoices& choices,
                                            bool any_size) {
  mote_picture_info picture;
  mote_error error = {};
  MOTE_TRY(from_core(mote_model_get_picture(model.get(), &picture, &error), error, model.name()));
  if (any_size && picture.any_size == 0)
    return failed(Remedy::any_picture_size, "{} takes pictures of {} x {} pixels alone", model.name(),
                  picture.width, picture.height);
  any_size = any_size || pictures::chooses_size(picture);
  const uint32_t rows = any_size ? picture.most_rows : picture.rows;
  MOTE_TAKE(RowsEncoder encoder, RowsEncoder::make(model, choices, rows, rows_with_outputs(model, picture)));
  if (any_size) encoder.set_rows(picture.rows);
  return PictureEncoder(picture, std::move(encoder), rows, any_size);
}

Status PictureEncoder::set_size(uint32_t height, uint32_t width, std::string_view name) {
  mote_error error = {};
  MOTE_TRY(from_core(mote_picture_of_size(model().get(), height, width, &picture_, &error), error, name));
  encoder_.set_rows(picture_.rows, width / picture_.patch);
  if (model().task() == MOTE_TASK_DETECT) encoder_.set_wanted(picture_.rows - picture_.after);
  return {};
}

Status PictureEncoder::check_size(uint32_t height, uint32_t width) const {
  mote_error error = {};
  mote_picture_info picture;
  const std::string name = sentence("size {}x{}", width, height);
  return from_core(mote_picture_of_size(model().get(), height, width, &picture, &error), error, name);
}

Status PictureEncoder::encode(std::span<const float> pixels, const Hooks& hooks, std::string_view name) {
  mote_picture_rows(&picture_, pixels.data(), rows_.data());
  return encoder_.encode({rows_.data(), size_t{picture_.rows} * picture_.row_width}, hooks, name);
}

Result<std::vector<Box>> PictureEncoder::boxes(pictures::Sides sides, float threshold) const {
  const uint32_t labels = output().labels;
  const auto width = static_cast<float>(sides.width), height = static_cast<float>(sides.height);
  std::vector<Box> found;
  for (uint32_t row = 0; row < picture_.after; ++row) {
    // Values are the probabilities of the labels, of no label, then the place: middle, width and height.
    MOTE_TAKE(const std::vector<float> values, probabilities(row));
    const auto best = std::max_element(values.begin(), values.begin() + labels);
    if (!(*best > threshold)) continue;
    const float* place = values.data() + labels + 1;
    found.push_back({model().label(static_cast<uint32_t>(best - values.begin())), *best,
                     (place[0] - 0.5f * place[2]) * width, (place[1] - 0.5f * place[3]) * height,
                     (place[0] + 0.5f * place[2]) * width, (place[1] + 0.5f * place[3]) * height});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Box& a, const Box& b) { return a.probability > b.probability; });
  return found;
}

}  // namespace mote::host
