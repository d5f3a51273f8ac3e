// SPDX-License-Identifier: Apache-2.0
//
// Gives a model of texts its rows of pictures: rows of floats beside its ids.
#include <string.h>

#include "mote/pictures.h"
#include "runtime/error.h"
#include "runtime/file/model.h"

namespace mote {
namespace {

constexpr uint32_t kShifts = 3;  // of the first, the row's and the column's position

uint64_t width_of(const file::VisionInput& vision_input) {
  return uint64_t{vision_input.features()} + 1 + (vision_input.mrope() ? kShifts : 0);
}

const char* text_of(const flatbuffers::String* text) { return text == nullptr ? nullptr : text->c_str(); }

/// Says whether ids begin with `count` image ids, and no more follow.
bool is_picture(const int32_t* ids, uint32_t n, uint64_t count, int32_t image_id) {
  if (count == 0 || count > n) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (ids[i] != image_id) return false;
  }
  return count == n || ids[count] != image_id;
}

/// Positions of rows among those that text would count, which pictures count less of.
class Positions {
 public:
  /// `n`: tokens; `end`: the position behind them.
  Positions(uint32_t n, int64_t end) : gap_(int64_t{n} - end) {}

  /// Writes by how much the positions of row `index` are more than `index`, so that rows behind all pictures
  /// have their own.
  void write(uint32_t index, int64_t first, int64_t row, int64_t column, float* out) const {
    for (const int64_t position : {first, row, column}) *out++ = static_cast<float>(position + gap_ - index);
  }

 private:
  int64_t gap_;
};

/// Positions that a picture takes.
int64_t span_of(const mote_picture_vectors& seen) {
  return seen.rows > seen.columns ? seen.rows : seen.columns;
}

mote_status check_prompt(const file::VisionInput& vision_input, const int32_t* ids, uint32_t n,
                         const mote_picture_vectors* seen, uint32_t count, int64_t* end, mote_error* error) {
  uint32_t next = 0;
  *end = 0;
  for (uint32_t i = 0; i < n;) {
    if (ids[i] != vision_input.image_id()) {
      ++*end;
      ++i;
      continue;
    }
    const uint64_t rows = next < count ? uint64_t{seen[next].rows} * seen[next].columns : 0;
    if (!is_picture(ids + i, n - i, rows, vision_input.image_id())) {
      return fail(error, MOTE_INVALID_ARGUMENT, "token ", i, " is not the first of ", rows, " of picture ",
                  next, " of ", count);
    }
    *end += span_of(seen[next++]);
    i += static_cast<uint32_t>(rows);
  }
  if (next == count) return MOTE_OK;
  return fail(error, MOTE_INVALID_ARGUMENT, "the prompt has tokens of ", next, " pictures of ", count);
}

}  // namespace

mote_status check_vision_input(const mote_model& model, mote_error* error) {
  const file::VisionInput* vision_input = model.root->vision_input();
  if (vision_input == nullptr) return MOTE_OK;
  const bool fits = !is_whole(*model.program) && takes_ids(*model.program) && vision_input->features() != 0 &&
                    width_of(*vision_input) == input_width(*model.program) && vision_input->image_id() >= 0 &&
                    static_cast<uint32_t>(vision_input->image_id()) < model.root->vocab() &&
                    (vision_input->tile_before() == nullptr) == (vision_input->line_after() == nullptr) &&
                    (vision_input->tile_before() == nullptr) == (vision_input->whole_before() == nullptr);
  return fits ? MOTE_OK : fail(error, MOTE_CORRUPT_FILE, "what it takes of pictures does not fit its rows");
}

}  // namespace mote

using mote::fail;

extern "C" {

mote_status mote_vision_input_values(const mote_model* model, const int32_t* ids, uint32_t n,
                                     const mote_picture_vectors* seen, uint32_t count, float* values,
                                     mote_error* error) {
  const mote::file::VisionInput* vision_input = model->root->vision_input();
  if (vision_input == nullptr) return fail(error, MOTE_WRONG_STATE, "this model takes no pictures");
  if (ids == nullptr || values == nullptr || (seen == nullptr && count != 0))
    return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
  int64_t end = 0;
  const mote_status status = mote::check_prompt(*vision_input, ids, n, seen, count, &end, error);
  if (status != MOTE_OK) return status;
  const mote::Positions positions(n, end);
  const size_t features = vision_input->features(),
               width = static_cast<size_t>(mote::width_of(*vision_input));
  memset(values, 0, n * width * sizeof(float));
  int64_t position = 0;
  for (uint32_t i = 0; i < n;) {
    const mote_picture_vectors text = {nullptr, 1, 1},
                               *of = ids[i] == vision_input->image_id() ? seen++ : &text;
    for (uint32_t row = 0; row < of->rows * of->columns; ++row, ++i) {
      float* out = values + i * width;
      if (of != &text) memcpy(out, of->features + row * features, features * sizeof(float));
      if (of != &text) out[features] = 1.0f;
      if (vision_input->mrope()) {
        positions.write(i, position, position + row / of->columns, position + row % of->columns,
                        out + features + 1);
      }
    }
    position += mote::span_of(*of);
  }
  return MOTE_OK;
}

mote_status mote_model_get_vision_input(const mote_model* model, mote_vision_input_info* info,
                                        mote_error* error) {
  *info = {};
  const mote::file::VisionInput* vision_input = model->root->vision_input();
  if (vision_input == nullptr) return fail(error, MOTE_WRONG_STATE, "this model takes no pictures");
  *info = {vision_input->image_id(),
           vision_input->features(),
           vision_input->rows(),
           vision_input->mrope() ? 1u : 0u,
           vision_input->before()->c_str(),
           vision_input->after()->c_str(),
           mote::text_of(vision_input->tile_before()),
           mote::text_of(vision_input->line_after()),
           mote::text_of(vision_input->whole_before()),
           {}};
  return MOTE_OK;
}

}  // extern "C"
