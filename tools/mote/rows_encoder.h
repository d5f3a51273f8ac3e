// SPDX-License-Identifier: Apache-2.0
//
// Rows of numbers, such as those of a picture, through an encoder.
#pragma once

#include <string>
#include <vector>

#include "mote/sound.h"
#include "tools/mote/session.h"

namespace mote::cli {

class RowsEncoder {
 public:
  /// Of sequences of `rows` rows, of which those `wanted` have outputs where these are of rows; none: all.
  RowsEncoder(const ModelFile& file, const SessionFlags& flags, const ThreadPool& pool, uint32_t rows,
              std::vector<uint32_t> wanted = {0});

  const mote_output_info& output() const { return output_; }
  const Session& session() const { return session_; }

  /// Encodes what `values` has; `what` names it in messages. Outputs stay until the next.
  void encode(const std::vector<float>& values, const std::string& what);

  /// A row of outputs, and the same as probabilities.
  std::vector<float> row(uint32_t index = 0) const;
  std::vector<float> probabilities(uint32_t index = 0) const;

 private:
  uint32_t length_;
  std::vector<uint32_t> wanted_;
  mote_output_info output_;
  Session session_;
};

/// Rows of zeros, then the squares of a spectrum [frames, bins].
std::vector<float> square_rows(const mote_sound_info& sound, const float* spectrum);

}  // namespace mote::cli
