// SPDX-License-Identifier: Apache-2.0
//
// Transducers in tests/golden/models: the encoder's hidden states, logits of every frame after every prefix,
// and the tokens that are said, as the original implementation has them.
#include <algorithm>

#include "mote/sound.h"
#include "tests/golden/golden_runs.h"

namespace {

using mote::convert::SafetensorsFile;

const char* const kTransducer = "parakeet_tdt";

/// A session of two sequences: one keeps what was said, the other is asked.
class Speaker {
 public:
  Speaker(const test::OpenModel& model, mote_isa isa, const std::vector<float>& features)
      : model_(model), session_(model, options_of(model, isa, traced_)) {
    mote_program_info program;
    mote_model_get_program(model.get(), 1, &program);
    const std::vector<mote_row> rows(features.size() / program.input_width, {0, 0, 0, 1});
    compute(rows, 1, features.data());
    width_ = program.output_width;
    count_ = mote_model_output_rows(model.get(), static_cast<uint32_t>(rows.size()));
    for (uint32_t i = 0; i < count_; ++i) {
      const float* row = mote_session_output(session_.get(), i);
      frames_.insert(frames_.end(), row, row + width_);
    }
    hidden = traced_.values;
  }

  std::vector<float> ask(int32_t id, uint32_t frame) {
    REQUIRE(mote_session_fork(session_.get(), 0, 1, nullptr) == MOTE_OK);
    compute({{1, id, 0, 1}}, 0, frames_.data() + size_t{frame} * width_);
    return test::logits_of(session_.get(), model_.info().vocab);
  }
  void keep() { REQUIRE(mote_session_fork(session_.get(), 1, 0, nullptr) == MOTE_OK); }
  void clear() { REQUIRE(mote_session_truncate(session_.get(), 0, 0, nullptr) == MOTE_OK); }
  uint32_t count() const { return count_; }
  mote_session* session() const { return session_.get(); }

  std::map<std::string, std::vector<float>> hidden;

 private:
  static mote_session_options options_of(const test::OpenModel& model, mote_isa isa,
                                         test::TracedRows& traced) {
    mote_session_options options = mote_session_options_default(model.get());
    options.isa = isa;
    options.batch = 2;
    options.context = 64;
    options.chunk = 200;
    options.logit_rows = 32;
    traced.trace(options);
    return options;
  }
  void compute(const std::vector<mote_row>& rows, uint32_t program, const float* values) {
    mote_rows call{};
    call.rows = rows.data();
    call.count = static_cast<uint32_t>(rows.size());
    call.program = program;
    call.values = values;
    mote_error error{};
    const mote_status status = mote_compute(session_.get(), &call, &error);
    INFO(error.text);
    REQUIRE(status == MOTE_OK);
  }

  const test::OpenModel& model_;
  test::TracedRows traced_;
  test::OpenSession session_;
  uint32_t width_ = 0, count_ = 0;
  std::vector<float> frames_;
};

void expect_near(const SafetensorsFile& golden, const std::string& name, const std::vector<float>& found) {
  CAPTURE(name);
  const std::vector<float> expected = golden.f32(name);
  TEST_ASSERT_EQUAL_UINT32(expected.size(), found.size());
  TEST_ASSERT_FLOAT_ARRAY_WITHIN(test::golden_tolerance(kTransducer), expected.data(), found.data(),
                                 found.size());
}

}  // namespace

TEST("a transducer gives the stored logits of every frame after every prefix") {
  const SafetensorsFile golden(test::golden_folder() / kTransducer / "golden.safetensors");
  const test::OpenModel model(test::golden_file(kTransducer, "f32"));
  const std::vector<int64_t> ids = golden.i64("decoder_input_ids");
  const uint32_t vocab = model.info().vocab;
  for (const mote_isa isa : test::all_families()) {
    CAPTURE(mote_isa_name(isa));
    Speaker speaker(model, isa, golden.f32("input_features"));
    for (const char* name : {"hidden.0", "hidden.1", "hidden.2"})
      expect_near(golden, name, speaker.hidden.at(name));
    expect_near(golden, "encoder_hidden", speaker.hidden.at("hidden.2"));
    std::vector<float> logits(speaker.count() * ids.size() * vocab);
    for (size_t u = 0; u < ids.size(); ++u) {
      for (uint32_t t = 0; t < speaker.count(); ++t) {
        const std::vector<float> row = speaker.ask(static_cast<int32_t>(ids[u]), t);
        std::copy(row.begin(), row.end(),
                  logits.begin() + static_cast<ptrdiff_t>((t * ids.size() + u) * vocab));
      }
      speaker.keep();
    }
    expect_near(golden, "logits", logits);
  }
}

TEST("a transducer says the stored tokens at the stored frames") {
  const SafetensorsFile golden(test::golden_folder() / kTransducer / "golden.safetensors");
  const test::OpenModel model(test::golden_file(kTransducer, "f32"));
  mote_speech_info speech;
  mote_model_get_speech(model.get(), &speech);
  TEST_ASSERT_EQUAL_UINT32(5, speech.duration_count);
  Speaker speaker(model, MOTE_ISA_AUTO, golden.f32("input_features"));
  const int32_t blank = model.info().bos_id;
  const auto labels = static_cast<ptrdiff_t>(model.info().vocab - speech.duration_count);
  std::vector<int64_t> ids, frames;
  int32_t last = blank;
  for (uint32_t frame = 0; frame < speaker.count();) {
    const std::vector<float> logits = speaker.ask(last, frame);
    const auto rest = logits.begin() + labels;
    const auto id = static_cast<int32_t>(std::max_element(logits.begin(), rest) - logits.begin());
    const uint32_t moves = speech.durations[std::max_element(rest, logits.end()) - rest];
    frame += id == blank ? std::max(moves, 1u) : 0;
    if (id == blank) continue;
    ids.push_back(id);
    frames.push_back(frame);
    speaker.keep();
    last = id;
    frame += moves;
  }
  REQUIRE(ids == golden.i64("greedy_ids"));
  REQUIRE(frames == golden.i64("greedy_frames"));
}

TEST("calls that give a transducer ids alone are refused") {
  const SafetensorsFile golden(test::golden_folder() / kTransducer / "golden.safetensors");
  const test::OpenModel model(test::golden_file(kTransducer, "f32"));
  const Speaker speaker(model, MOTE_ISA_AUTO, golden.f32("input_features"));
  const int32_t ids[] = {1, 2};
  const mote_generation generation = mote_generation_default();
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE,
                        mote_prefill(speaker.session(), 0, ids, 1, MOTE_LOGITS_LAST, &error));
  TEST_ASSERT_EQUAL_STRING("this model's tokens come with 20 floats each: use mote_compute", error.text);
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_decode(speaker.session(), ids, nullptr));
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_generate(speaker.session(), ids, 1, &generation, nullptr,
                                                        nullptr, nullptr, nullptr));
}
