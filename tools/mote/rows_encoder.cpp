// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/rows_encoder.h"

#include "tools/mote/steps.h"

namespace mote::cli {
namespace {

bool has_all_rows(const mote_output_info& output) {
  return output.of_sequences != 0 || output.kind == MOTE_OUTPUT_DEPTH;
}

mote_session_options rows_options(const ModelFile& file, const SessionFlags& flags, const ThreadPool& pool,
                                  uint32_t rows) {
  mote_session_options options = session_options(file, flags, pool);
  options.context = options.chunk = rows;
  mote_output_info output;
  mote_model_get_output(file.model(), &output);
  options.logit_rows = output.kind == MOTE_OUTPUT_DEPTH ? rows : 1;
  return options;
}

}  // namespace

RowsEncoder::RowsEncoder(const ModelFile& file, const SessionFlags& flags, const ThreadPool& pool,
                         uint32_t rows)
    : length_(rows), session_(file, rows_options(file, flags, pool, rows)) {
  mote_model_get_output(file.model(), &output_);
}

void RowsEncoder::encode(const std::vector<float>& values, const std::string& what) {
  mote_batch batch{};
  batch.values = values.data();
  batch.lengths = &length_;
  batch.count = 1;
  const uint32_t first = 0;
  batch.rows = has_all_rows(output_) ? nullptr : &first;
  batch.row_count = has_all_rows(output_) ? 0 : 1;
  cli::encode(session_, batch, what);
}

std::vector<float> RowsEncoder::row() const {
  const float* values = mote_session_output(session_.get(), 0);
  return {values, values + output_.width};
}

std::vector<float> RowsEncoder::probabilities() const {
  std::vector<float> values(output_.width);
  mote_error error{};
  check(mote_probabilities(session_.get(), 0, values.data(), output_.width, &error), error, "probabilities");
  return values;
}

std::vector<float> square_rows(const mote_sound_info& sound, const float* spectrum) {
  std::vector<float> rows(size_t{mote_sound_square_rows(&sound)} * sound.patch * sound.patch);
  mote_sound_squares(&sound, spectrum, rows.data());
  return rows;
}

}  // namespace mote::cli
