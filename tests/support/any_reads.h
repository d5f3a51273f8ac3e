// SPDX-License-Identifier: Apache-2.0
//
// What may be read of a session at any time: before, in the middle of and after whatever it computes. There
// is what was published last, or nothing.
#pragma once

#include <cmath>
#include <vector>

#include "runtime/file/model.h"
#include "tests/support/any_session.h"
#include "tests/support/observed.h"

namespace test {

/// Takes the bytes that it says and no fewer.
inline AlignedBytes save(const mote_session* session) {
  AlignedBytes state(mote_session_state_bytes(session));
  size_t written = 0;
  mote_error error{};
  must(mote_session_save(session, state.data(), state.size() - 1, &written, &error) == MOTE_TOO_SMALL);
  must(mote_session_save(session, state.data(), state.size(), &written, &error) == MOTE_OK);
  must(written == state.size());
  return state;
}

class AnyReads {
 public:
  AnyReads(const mote_model* model, const AnySession& session, const mote_session_options& options,
           Choices* choices)
      : model_(model),
        session_(session.get()),
        options_(options),
        choices_(choices),
        encoder_(is_encoder(model)) {
    mote_model_get_info(model, &info_);
    mote_model_get_output(model, &output_);
    least_width_ = output_.width;
    for (uint32_t p = 0; p < mote_model_programs(model); ++p) {
      mote_program_info program;
      mote_model_get_program(model, p, &program);
      least_width_ = std::min(least_width_, program.output_width);
    }
  }

  /// What was saved can be restored, and is then saved again the same.
  void save_and_restore() {
    saved_ = save(session_);
    observed_.state(saved_);
    must(mote_session_restore(session_, saved_.data(), saved_.size(), &error_) == MOTE_OK);
    must_be_saved(save(session_));
  }

  Observed& observed() { return observed_; }

 protected:
  bool ok(mote_status status) {
    observed_.number(status);
    return status == MOTE_OK;
  }

  void must_be_saved(const AlignedBytes& state) {
    must(state.size() == saved_.size() && std::memcmp(state.data(), saved_.data(), state.size()) == 0);
  }

  /// In another session, whose arena held something else.
  void copy() {
    AnySession other;
    must(other.open(model_, options_, 0x11) == MOTE_OK);
    saved_ = save(session_);
    observed_.state(saved_);
    must(mote_session_restore(other.get(), saved_.data(), saved_.size(), &error_) == MOTE_OK);
    must_be_saved(save(other.get()));
  }

  void go_back() {
    if (saved_.size() != 0) {
      must(mote_session_restore(session_, saved_.data(), saved_.size(), &error_) == MOTE_OK);
      must_be_saved(save(session_));
    }
  }

  void read(const float* values, uint32_t count) {
    must(values != nullptr);
    observed_.floats(values, count);
  }
  /// There is a row of outputs of the first program, or of the one that encodes.
  void read_row(uint32_t row) { read(mote_session_output(session_, row), output_.width); }

  /// A row of logits, outputs, probabilities or a token drawn from them: each is there where the first is.
  void look_at_row(uint32_t row) {
    const float* output = mote_session_output(session_, row);
    observed_.number(output != nullptr);
    if (output != nullptr) read(output, least_width_);
    const float* logits = mote_session_logits(session_, row);
    must(logits == nullptr || logits == output);
    std::vector<float> probabilities(output_.width);
    const mote_status status =
        mote_probabilities(session_, row, probabilities.data(), output_.width, &error_);
    must(output != nullptr || status == MOTE_WRONG_STATE);
    if (ok(status)) read(probabilities.data(), output_.width);
    int32_t picked = -1;
    const mote_status sampled = mote_sample(session_, row, &picked, &error_);
    must(logits != nullptr || sampled == MOTE_WRONG_STATE);
    if (ok(sampled)) must(picked >= 0 && static_cast<uint32_t>(picked) < info_.vocab);
    observed_.number(picked);
  }

  void look() {
    const uint32_t rows[] = {0, 1, 2, choices_->below(options_.logit_rows), options_.logit_rows, UINT32_MAX};
    for (const uint32_t row : rows) look_at_row(row);
    for (uint32_t sequence = 0; sequence < std::min(options_.batch, 4u); ++sequence)
      observed_.number(mote_session_length(session_, sequence));
    if (!encoder_) copy();
  }

  /// A run is in progress, which has published nothing: `begun` was saved when it began.
  void look_in_run(const AlignedBytes& begun) {
    for (const uint32_t row : {0u, 1u, options_.logit_rows - 1}) {
      must(mote_session_output(session_, row) == nullptr && mote_session_logits(session_, row) == nullptr);
    }
    look();
    if (!encoder_) must_be_saved(begun);
  }

  /// Steps of a run that has begun: step(operations, &done). What there is may be read between them, and the
  /// run may be left in the middle. How many steps one of whole sequences takes depends on the threads.
  template <class Step>
  bool run_in_steps(bool whole, Step step) {
    const AlignedBytes begun = encoder_ ? AlignedBytes(0) : save(session_);
    const uint32_t ops = choices_->below(16), looks = choices_->below(3);
    const bool ends = choices_->below(2) == 0;
    if (whole && !(ends && looks == 0)) observed_.stop();
    int done = 0;
    for (uint32_t left = choices_->below(100); left > 0 && done == 0; --left) {
      must(step(ops, &done) == MOTE_OK);
      if (done == 0 && left % 8 < looks) look_in_run(begun);
    }
    if (ends && done == 0) must(step(0, &done) == MOTE_OK && done != 0);
    return done != 0;
  }

  const mote_model* model_;
  mote_session* session_;
  mote_session_options options_;
  Choices* choices_;
  bool encoder_;
  mote_model_info info_{};
  mote_output_info output_{};
  uint32_t least_width_;  // of all programs' outputs
  AlignedBytes saved_;
  Observed observed_;
  mote_error error_{};
};

}  // namespace test
