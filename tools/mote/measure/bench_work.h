// SPDX-License-Identifier: Apache-2.0
//
// The work that mote bench runs, and its time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tools/mote/session.h"

namespace mote::cli {

/// Times of the repetitions.
struct Times {
  std::vector<double> ms;
  double median() const {
    std::vector<double> sorted = ms;
    std::sort(sorted.begin(), sorted.end());
    const size_t n = sorted.size();
    return n == 0 ? 0.0 : (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
  }
  double least() const { return ms.empty() ? 0.0 : *std::min_element(ms.begin(), ms.end()); }
};

/// The work that is measured: `prompt` tokens or rows of floats at once (of an encoder, or of sources, in
/// each of the batch's sequences), and `decode` tokens one after the other in each sequence.
struct Work {
  bool encoder, source;
  uint32_t prompt, decode, depth, batch;
  uint32_t beams;  // of a search over a source, one source after the other; 0: tokens are decoded as they are
  std::vector<int32_t> ids;  // of the longest sequence
  uint32_t width = 0;        // floats of a row that is encoded; 0: rows are ids

  bool encodes() const { return encoder || source; }
  uint64_t prompt_tokens() const { return uint64_t{prompt} * (encodes() ? batch : 1); }
  uint64_t decode_tokens() const { return uint64_t{decode} * batch; }
};

/// The sequences of an encoder's work, or the sources.
class EncoderBatch {
 public:
  explicit EncoderBatch(const Work& work);
  const mote_batch& get() const { return batch_; }

 private:
  std::vector<int32_t> ids_;
  std::vector<float> values_;
  std::vector<uint32_t> lengths_;
  mote_batch batch_ = {};
};

/// Options of a session that has room for the work, made of those asked for.
mote_session_options bench_options(const ModelFile& file, const SessionFlags& flags, const ThreadPool& pool,
                                   const Work& work);

/// Empties the session and puts `depth` tokens into each of `sequences`.
void fill(Session& session, const Work& work, uint32_t sequences);

/// Returns the time of a prompt or, for an encoder or sources, of all sequences.
double prompt_ms(Session& session, const Work& work);

/// Returns the time of all tokens that are decoded, over sources that are encoded before.
double decode_ms(Session& session, const Work& work);

}  // namespace mote::cli
