// SPDX-License-Identifier: Apache-2.0
//
// Calls on a session in any order, chosen by an input. Each gives a status; what it says it computed is read.
#pragma once

#include <vector>

#include "mote/voice.h"
#include "tests/support/any_reads.h"

namespace test {

class AnyCalls : public AnyReads {
 public:
  /// `arena_bytes` bound what a row reads, beside the file.
  AnyCalls(const mote_model* model, const AnySession& session, const mote_session_options& options,
           size_t file_bytes, size_t arena_bytes, Choices* choices)
      : AnyReads(model, session, options, choices) {
    mote_model_get_program(model, 0, &first_);
    const bool slow = mote_session_isa(session_) == MOTE_ISA_REF;
    // A bound of what a row reads: weights and, of its own sequence, keys and values; by operations of which
    // some dozens read little.
    const uint64_t row =
        (file_bytes + arena_bytes / options.batch) * (1 + model->program->ops()->size() / 64);
    rows_left_ = static_cast<uint32_t>((slow ? uint64_t{1} << 26 : uint64_t{1} << 29) / row);
  }

  void make_one() {
    choose_one();
    if (choices_->below(4) == 1) look();
    observed_.end_call();
  }

 private:
  static constexpr uint32_t kCounts[] = {1, 2, 4, 5, 15, 16, 17, 64, 129, 257, 300, 600, 4096};

  void choose_one() {
    using Call = void (AnyCalls::*)();
    constexpr Call kOfEncoders[] = {&AnyCalls::encode, &AnyCalls::encode_in_steps, &AnyCalls::call_wrong_kind,
                                    &AnyCalls::compute};
    constexpr Call kOfDecoders[] = {
        &AnyCalls::prefill, &AnyCalls::decode,   &AnyCalls::decode,           &AnyCalls::truncate,
        &AnyCalls::sample,  &AnyCalls::generate, &AnyCalls::save_and_restore, &AnyCalls::copy,
        &AnyCalls::go_back, &AnyCalls::prefill,  &AnyCalls::call_wrong_kind,  &AnyCalls::compute,
        &AnyCalls::compute, &AnyCalls::fork,     &AnyCalls::reorder};
    if (model_->sources && choices_->below(3) == 0) return encode_sources();
    if (model_->root->voice() != nullptr && choices_->below(2) == 0) return speak();
    const Call call = encoder_ ? choices_->one_of(kOfEncoders) : choices_->one_of(kOfDecoders);
    (this->*call)();
  }

  int32_t id() { return static_cast<int32_t>(choices_->below(std::min(info_.vocab + 1, 1u << 16))); }

  /// Rows that the input's time is enough for, at most so many.
  uint32_t afford(uint32_t rows) {
    const uint32_t given = std::min(rows, rows_left_);
    rows_left_ -= given;
    return given;
  }

  std::vector<int32_t> some_ids(uint32_t count) {
    const auto first = static_cast<uint32_t>(id()), step = choices_->below(7);
    std::vector<int32_t> ids(count, static_cast<int32_t>(first));
    for (uint32_t i = 1; i < count; ++i)
      ids[i] = static_cast<int32_t>((uint64_t{first} + i * step) % info_.vocab);
    return ids;
  }

  /// Rows of wide floats are few.
  uint32_t most_rows(const mote_program_info& program) const {
    return options_.chunk / std::max(program.input_width / 64, 1u);
  }
  /// What so many rows of the program are, until the next call; null where they are ids alone.
  const float* some_values(const mote_program_info& program, uint32_t rows) {
    if (program.input_width == 0) return nullptr;
    values_.assign(size_t{rows} * program.input_width, 0.5f);
    for (size_t i = 0; i < values_.size(); i += 3) values_[i] = static_cast<float>(i % 7) * 0.25f - 0.75f;
    return values_.data();
  }

  void prefill() {
    const uint32_t sequence = choices_->below(options_.batch + 1), n = afford(choices_->one_of(kCounts));
    const auto logits = static_cast<mote_logits>(choices_->below(3));
    const std::vector<int32_t> ids = some_ids(n);
    if (n == 0 || !ok(mote_prefill(session_, sequence, ids.data(), n, logits, &error_))) return;
    const uint32_t rows = logits == MOTE_LOGITS_ALL ? n : logits == MOTE_LOGITS_LAST;
    for (uint32_t row = 0; row < rows; ++row) read_row(row);
    must(mote_session_output(session_, rows) == nullptr);
  }

  /// Of all sequences or some.
  void decode() {
    if (afford(options_.batch) < options_.batch) return;
    std::vector<int32_t> ids = some_ids(options_.batch);
    const uint32_t without = choices_->byte();
    for (uint32_t i = 0; i < ids.size(); ++i) {
      if ((without >> i % 8 & 1) != 0) ids[i] = -1;
    }
    if (!ok(mote_decode(session_, ids.data(), &error_))) return;
    for (uint32_t i = 0; i < ids.size(); ++i) {
      if (ids[i] != -1) read_row(i);
    }
  }

  void truncate() {
    const uint32_t sequence = choices_->below(options_.batch + 1);
    const uint32_t present = mote_session_length(session_, sequence);
    const uint32_t length = choices_->below(present + 2);
    if (ok(mote_session_truncate(session_, sequence, length, &error_)))
      must(mote_session_length(session_, sequence) == length);
  }

  void fork() {
    const uint32_t from = choices_->below(options_.batch + 1), to = choices_->below(options_.batch + 1);
    if (ok(mote_session_fork(session_, from, to, &error_)))
      must(mote_session_length(session_, from) == mote_session_length(session_, to));
  }

  void reorder() {
    std::vector<uint32_t> from(options_.batch);
    const uint32_t step = choices_->below(5), most = options_.batch + (choices_->below(8) == 0 ? 1 : 0);
    for (uint32_t i = 0; i < from.size(); ++i) from[i] = i * step % most;
    ok(mote_session_reorder(session_, from.data(), &error_));
  }

  /// Rows of any sequences, perhaps left in the middle.
  void compute() {
    std::vector<mote_row> rows(afford(std::min(choices_->one_of(kCounts), most_rows(first_))));
    const uint32_t stride = 1 + choices_->below(4), every = 1 + choices_->below(5);
    const std::vector<int32_t> ids = some_ids(static_cast<uint32_t>(rows.size()));
    for (uint32_t i = 0; i < rows.size(); ++i) {
      const uint32_t sequence =
          encoder_ ? i / (16 * stride) : i / stride % (options_.batch + (stride == 4 ? 1 : 0));
      rows[i] = {sequence, first_.ids != 0 ? ids[i] : 0, 0, i % every == 0};
    }
    mote_rows call{};
    call.rows = rows.data();
    call.count = static_cast<uint32_t>(rows.size());
    call.values = some_values(first_, call.count);
    if (compute_in_steps(call, encoder_) && output_.of_sequences == 0) read_row(0);
  }

  bool compute_in_steps(const mote_rows& call, bool whole) {
    return ok(mote_compute_begin(session_, &call, &error_)) &&
           run_in_steps(whole, [this](uint32_t ops, int* done) {
             return mote_compute_step(session_, ops, done, &error_);
           });
  }

  void speak() {
    constexpr uint64_t kMostSamples = 1u << 22;
    const std::vector<int32_t> ids = some_ids(afford(choices_->one_of(kCounts)));
    mote_voice_info voice;
    mote_model_get_voice(model_, &voice);
    mote_speak_options options = mote_speak_options_default(model_);
    options.seed = choices_->byte();
    const AlignedBytes memory(mote_speak_bytes(session_));
    mote_utterance* utterance = nullptr;
    if (uint64_t{voice.piece} * voice.hop > kMostSamples ||
        mote_speak_begin(session_, ids.data(), static_cast<uint32_t>(ids.size()), &options, memory.data(),
                         memory.size(), &utterance, &error_) != MOTE_OK)
      return;
    must(mote_utterance_frames(utterance) > 0);
    std::vector<float> samples(size_t{voice.piece} * voice.hop);
    size_t count = 0;
    if (!ok(mote_speak_next(session_, utterance, samples.data(), samples.size(), &count, &error_))) return;
    must(count > 0 && count <= samples.size() && count % voice.hop == 0);
    read(samples.data(), static_cast<uint32_t>(count));
  }

  /// Sources of some sequences, by any program, perhaps left in the middle.
  void encode_sources() {
    mote_rows call{};
    call.program = choices_->below(mote_model_programs(model_));
    mote_program_info info{};
    mote_model_get_program(model_, call.program, &info);
    std::vector<mote_row> rows(afford(std::min(choices_->one_of(kCounts), most_rows(info))));
    const uint32_t length = 1 + choices_->below(40), first = choices_->below(options_.batch + 1);
    const std::vector<int32_t> ids = some_ids(static_cast<uint32_t>(rows.size()));
    for (uint32_t i = 0; i < rows.size(); ++i)
      rows[i] = {first + i / length, info.input_width == 0 ? ids[i] : 0, 0, length % 2};
    if (choices_->below(2) == 0) mote_session_truncate(session_, first, 0, &error_);
    call.rows = rows.data();
    call.count = static_cast<uint32_t>(rows.size());
    call.values = some_values(info, call.count);
    const bool done = compute_in_steps(call, info.whole != 0);
    if (done && length % 2 == 1) read(mote_session_output(session_, 0), info.output_width);
  }

  mote_sampling choose_sampling() {
    mote_sampling sampling = mote_sampling_default();
    sampling.temperature = static_cast<float>(choices_->below(4)) * 0.5f;
    sampling.top_k = choices_->below(5);
    sampling.top_p = 1.0f - static_cast<float>(choices_->below(4)) * 0.25f;
    sampling.min_p = static_cast<float>(choices_->below(3)) * 0.1f;
    sampling.repetition_penalty = 1.0f + static_cast<float>(choices_->below(3));
    sampling.repetition_window = choices_->below(MOTE_REPETITION_WINDOW + 1);
    sampling.seed = choices_->byte();
    return sampling;
  }

  void sample() {
    const mote_sampling sampling = choose_sampling();
    must(mote_sample_begin(session_, &sampling, &error_) == MOTE_OK);
    for (uint32_t row = 0; row < 3; ++row) {
      int32_t picked = -1;
      if (ok(mote_sample(session_, row, &picked, &error_)))
        must(picked >= 0 && static_cast<uint32_t>(picked) < info_.vocab);
      observed_.number(picked);
    }
  }

  /// A few steps of a generation, read at some of them and perhaps left in the middle.
  void generate() {
    mote_generation generation = mote_generation_default();
    generation.sampling = choose_sampling();
    prompt_ = some_ids(afford(choices_->one_of(kCounts)));
    if (!ok(mote_generation_begin(session_, prompt_.data(), static_cast<uint32_t>(prompt_.size()),
                                  &generation, &error_)))
      return;
    mote_event event{};
    const uint32_t looks = choices_->below(3);
    for (uint32_t left = choices_->below(200); left > 0 && event.finish == MOTE_FINISH_NONE; --left) {
      must(mote_session_step(session_, 1, &event, &error_) == MOTE_OK);
      observed_.number(event.has_token != 0 ? event.id : -1);
      // Logits that a token was drawn from are gone.
      if (event.has_token != 0) must(mote_session_logits(session_, 0) == nullptr);
      if (left % 16 < looks) look();
    }
  }

  struct Batch {
    std::vector<int32_t> ids, types;
    std::vector<uint32_t> lengths, rows;
  };

  /// As many sequences as fit, mostly of equal length.
  Batch choose_batch() {
    Batch batch;
    const uint32_t length = 1 + choices_->below(std::min(options_.context, options_.chunk)),
                   longer = choices_->below(8);
    const uint32_t count = 1 + choices_->below(options_.batch), rows = afford(most_rows(first_));
    uint32_t total = 0;
    while (batch.lengths.size() < count) {
      const auto at = static_cast<uint32_t>(batch.lengths.size());
      const uint32_t next =
          std::min(length + (longer == 0 ? 0 : at % longer), std::max(options_.context, 1u));
      if (next > rows - total) break;
      batch.lengths.push_back(next);
      total += next;
    }
    batch.ids = some_ids(total);
    for (uint32_t i = 0; i < total; ++i)
      batch.types.push_back(static_cast<int32_t>(i / 3 % output_.token_types));
    const uint32_t every = choices_->below(4);
    for (uint32_t row = 0; every != 0 && row < total; row += every) batch.rows.push_back(total - 1 - row);
    return batch;
  }

  mote_batch view_of(const Batch& batch) {
    mote_batch view{};
    view.values = some_values(first_, static_cast<uint32_t>(batch.ids.size()));
    view.ids = first_.ids != 0 ? batch.ids.data() : nullptr;
    view.token_types = choices_->below(2) == 0 ? nullptr : batch.types.data();
    view.lengths = batch.lengths.data();
    view.count = static_cast<uint32_t>(batch.lengths.size());
    if (output_.of_sequences == 0 && !batch.rows.empty()) {
      view.rows = batch.rows.data();
      view.row_count = static_cast<uint32_t>(batch.rows.size());
    }
    return view;
  }

  void read_outputs(const mote_batch& view, const Batch& batch) {
    size_t rows = view.rows == nullptr ? 0 : view.row_count;
    for (uint32_t i = 0; view.rows == nullptr && i < view.count; ++i)
      rows += mote_model_output_rows(model_, batch.lengths[i]);
    if (output_.of_sequences != 0) rows = view.count;
    for (uint32_t row = 0; row < rows; ++row) read_row(row);
    must(mote_session_output(session_, static_cast<uint32_t>(rows)) == nullptr);
    if (rows != 0) look_at_row(static_cast<uint32_t>(rows) - 1);
  }

  void encode() {
    const Batch batch = choose_batch();
    const mote_batch view = view_of(batch);
    if (ok(mote_encode(session_, &view, &error_))) read_outputs(view, batch);
  }

  void encode_in_steps() {
    const Batch batch = choose_batch();
    const mote_batch view = view_of(batch);
    const bool done = ok(mote_encode_begin(session_, &view, &error_)) &&
                      run_in_steps(true, [this](uint32_t ops, int* ended) {
                        return mote_encode_step(session_, ops, ended, &error_);
                      });
    if (done) read_outputs(view, batch);
  }

  /// Refused with a reason.
  void call_wrong_kind() {
    if (model_->sources) return;
    const int32_t ids[] = {0};
    const uint32_t lengths[] = {1};
    mote_batch batch{};
    batch.ids = ids;
    batch.lengths = lengths;
    batch.count = 1;
    const mote_status status = encoder_ ? mote_prefill(session_, 0, ids, 1, MOTE_LOGITS_LAST, &error_)
                                        : mote_encode(session_, &batch, &error_);
    must(status == MOTE_WRONG_STATE && error_.text[0] != '\0');
  }

  mote_program_info first_{};
  uint32_t rows_left_;
  std::vector<float> values_;    // of the run in progress
  std::vector<int32_t> prompt_;  // of the generation in progress
};

}  // namespace test
