// SPDX-License-Identifier: Apache-2.0
//
// Rows of numbers, such as those of a picture or of a spectrum, through an encoder.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "host/tasks/hooks.h"
#include "host/tasks/outputs.h"
#include "host/tasks/session.h"
#include "host/tasks/status.h"
#include "mote/sound.h"

namespace mote::host {

class RowsEncoder {
 public:
  /// Encodes sequences of `rows` rows, of which those `wanted` have outputs where these are of rows; none:
  /// all. The model must outlive the encoder.
  static Result<RowsEncoder> make(const Model& model, const SessionChoices& choices, uint32_t rows,
                                  std::vector<uint32_t> wanted = {0});

  const Model& model() const { return *model_; }
  const mote_output_info& output() const { return model_->output(); }
  const Session& session() const { return session_; }

  /// Makes later sequences have so many rows, at most those of make, and the patches of pictures of any size
  /// lines of so many; 0: of the model's own size.
  void set_rows(uint32_t rows, uint32_t columns = 0) {
    length_ = rows;
    columns_ = columns;
  }
  /// Makes rows from `first` on those with outputs, as many as there were. Allocates nothing.
  void set_wanted(uint32_t first) { std::iota(wanted_.begin(), wanted_.end(), first); }

  /// Encodes the values [rows, width]; `what` names them in messages. Outputs stay until the next call.
  Status encode(std::span<const float> values, const Hooks& hooks, std::string_view what);

  /// Returns a row of outputs.
  std::vector<float> row(uint32_t index = 0) const { return output_row(*model_, session_, index); }
  Result<std::vector<float>> probabilities(uint32_t index = 0) const {
    return output_probabilities(*model_, session_, index);
  }

 private:
  explicit RowsEncoder(const Model& model) : model_(&model) {}

  const Model* model_;
  uint32_t length_ = 0, columns_ = 0;
  std::vector<uint32_t> wanted_;
  Session session_;
};

/// Returns rows of zeros, then the squares of a spectrum [frames, bins].
std::vector<float> square_rows(const mote_sound_info& sound, const float* spectrum);

}  // namespace mote::host
