// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/rows_encoder.h"

#include <utility>

#include "host/tasks/bounded_steps.h"

namespace mote::host {

Result<RowsEncoder> RowsEncoder::make(const Model& model, const SessionChoices& choices, uint32_t rows,
                                      std::vector<uint32_t> wanted) {
  RowsEncoder encoder(model);
  encoder.length_ = rows;
  encoder.wanted_ = std::move(wanted);
  mote_session_options options = session_options(model, choices);
  options.context = options.chunk = rows;
  options.logit_rows = encoder.wanted_.empty() ? rows : static_cast<uint32_t>(encoder.wanted_.size());
  MOTE_TAKE(encoder.session_, Session::begin(model, options));
  return encoder;
}

Status RowsEncoder::encode(std::span<const float> values, const Hooks& hooks, std::string_view what) {
  mote_batch batch{};
  batch.values = values.data();
  batch.lengths = &length_;
  batch.count = 1;
  if (columns_ != 0) batch.columns = &columns_;
  if (output().of_sequences == 0 && !wanted_.empty()) {
    batch.rows = wanted_.data();
    batch.row_count = static_cast<uint32_t>(wanted_.size());
  }
  return host::encode(session_, batch, hooks, what);
}

std::vector<float> square_rows(const mote_sound_info& sound, const float* spectrum) {
  std::vector<float> rows(size_t{mote_sound_square_rows(&sound)} * sound.patch * sound.patch);
  mote_sound_squares(&sound, spectrum, rows.data());
  return rows;
}

}  // namespace mote::host
