// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/rows_encoder.h"

#include <utility>

#include "tools/mote/steps.h"

namespace mote::cli {
namespace {

mote_session_options rows_options(const ModelFile& file, const SessionFlags& flags, const ThreadPool& pool,
                                  uint32_t rows, size_t wanted) {
  mote_session_options options = session_options(file, flags, pool);
  options.context = options.chunk = rows;
  options.logit_rows = wanted == 0 ? rows : static_cast<uint32_t>(wanted);
  return options;
}

}  // namespace

RowsEncoder::RowsEncoder(const ModelFile& file, const SessionFlags& flags, const ThreadPool& pool,
                         uint32_t rows, std::vector<uint32_t> wanted)
    : length_(rows),
      wanted_(std::move(wanted)),
      session_(file, rows_options(file, flags, pool, rows, wanted_.size())) {
  mote_model_get_output(file.model(), &output_);
}

void RowsEncoder::encode(const std::vector<float>& values, const std::string& what) {
  mote_batch batch{};
  batch.values = values.data();
  batch.lengths = &length_;
  batch.count = 1;
  if (output_.of_sequences == 0 && !wanted_.empty()) {
    batch.rows = wanted_.data();
    batch.row_count = static_cast<uint32_t>(wanted_.size());
  }
  cli::encode(session_, batch, what);
}

std::vector<float> RowsEncoder::row(uint32_t index) const {
  const float* values = mote_session_output(session_.get(), index);
  return {values, values + output_.width};
}

std::vector<float> RowsEncoder::probabilities(uint32_t index) const {
  std::vector<float> values(output_.width);
  mote_error error{};
  check(mote_probabilities(session_.get(), index, values.data(), output_.width, &error), error,
        "probabilities");
  return values;
}

std::vector<float> square_rows(const mote_sound_info& sound, const float* spectrum) {
  std::vector<float> rows(size_t{mote_sound_square_rows(&sound)} * sound.patch * sound.patch);
  mote_sound_squares(&sound, spectrum, rows.data());
  return rows;
}

}  // namespace mote::cli
