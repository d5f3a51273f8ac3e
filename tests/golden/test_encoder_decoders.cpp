// SPDX-License-Identifier: Apache-2.0
//
// Every encoder-decoder in tests/golden/models: sources, logits over them, greedy ids and beams as the
// original implementation has them.
#include "converter/readers/safetensors.h"
#include "mote/beams.h"
#include "mote/pictures.h"
#include "mote/sound.h"
#include "tests/support/test_model.h"

namespace {

using mote::convert::SafetensorsFile;
using Rows = std::vector<std::vector<int32_t>>;

constexpr uint32_t kMostTokens = 128, kBeams = 3, kBeamTokens = 12;

SafetensorsFile golden_of(const std::string& name) {
  return SafetensorsFile(test::golden_folder() / name / "golden.safetensors");
}

/// Those whose sources are ids, sound or a picture.
std::vector<std::string> source_names() {
  std::vector<std::string> names;
  for (const char* family : {"encoder_decoder", "classic"}) {
    for (const std::string& name : test::golden_names(family)) {
      const SafetensorsFile golden = golden_of(name);
      const bool has_source = golden.has("input_ids") || golden.has("input_features") ||
                              golden.has("input_values") || golden.has("pixel_values");
      if (has_source && golden.has("decoder_input_ids")) names.push_back(name);
    }
  }
  return names;
}

/// Rows of ids without their padding.
Rows read_rows(const SafetensorsFile& golden, const std::string& name, const std::string& mask_name) {
  const auto& shape = golden.shape(name);
  const std::vector<int64_t> ids = golden.i64(name);
  const std::vector<int64_t> mask =
      golden.has(mask_name) ? golden.i64(mask_name) : std::vector<int64_t>(ids.size(), 1);
  Rows rows(shape.at(0));
  for (size_t i = 0; i < ids.size(); ++i)
    if (mask[i] != 0) rows[i / shape.at(1)].push_back(static_cast<int32_t>(ids[i]));
  return rows;
}

mote_session_options source_options(const test::OpenModel& model, mote_isa isa, uint32_t batch) {
  mote_session_options options = mote_session_options_default(model.get());
  options.isa = isa;
  options.batch = batch;
  options.context = 32;
  options.chunk = options.logit_rows = kMostTokens;
  return options;
}

/// Rows of each source: ids, or floats where the model hears.
struct Sources {
  Rows ids;
  std::vector<float> values;
};

/// What the model takes of a waveform, or of features [frames, bins] or, Whisper's, [bins, frames].
std::vector<float> heard_rows(const SafetensorsFile& golden, const mote_model* model, uint32_t width) {
  mote_sound_info sound;
  mote_model_get_sound(model, &sound);
  std::vector<float> values = golden.f32(golden.has("input_values") ? "input_values" : "input_features");
  const size_t rows = values.size() / width;
  if (sound.waveform != 0) {
    values.resize(size_t{mote_sound_rows(model, values.size())} * width);
  } else if (sound.features == MOTE_FEATURES_COMPRESSED_FRAMES) {
    mote_compress_frames(values.data(), static_cast<uint32_t>(rows), width, sound.scale, values.data());
  } else if (sound.frames != 0) {
    const std::vector<float> bins_first = values;
    for (size_t i = 0; i < values.size(); ++i) values[i] = bins_first[i % width * rows + i / width];
  }
  return values;
}

/// Of the only picture.
std::vector<float> seen_rows(const SafetensorsFile& golden, const mote_model* model) {
  mote_picture_info picture;
  REQUIRE(mote_model_get_picture(model, &picture, nullptr) == MOTE_OK);
  const std::vector<float> pixels = golden.f32("pixel_values");
  REQUIRE(pixels.size() == size_t{picture.channels} * picture.height * picture.width);
  std::vector<float> rows(size_t{picture.rows} * picture.row_width);
  mote_picture_rows(&picture, pixels.data(), rows.data());
  return rows;
}

Sources read_sources(const SafetensorsFile& golden, const std::string& prefix, const test::OpenModel& model) {
  if (golden.has(prefix + "input_ids"))
    return {read_rows(golden, prefix + "input_ids", prefix + "attention_mask"), {}};
  mote_program_info program;
  mote_model_get_program(model.get(), 1, &program);
  std::vector<float> values = golden.has("pixel_values")
                                  ? seen_rows(golden, model.get())
                                  : heard_rows(golden, model.get(), program.input_width);
  return {Rows{std::vector<int32_t>(values.size() / program.input_width)}, std::move(values)};
}

/// Encodes the sources; the output rows of all their tokens or groups.
std::vector<float> encode_sources(mote_session* session, const test::OpenModel& model,
                                  const Sources& sources) {
  std::vector<mote_row> rows;
  uint32_t outputs = 0;
  for (uint32_t i = 0; i < sources.ids.size(); ++i) {
    for (const int32_t id : sources.ids[i]) rows.push_back({i, id, 0, 1});
    outputs += mote_model_output_rows(model.get(), static_cast<uint32_t>(sources.ids[i].size()));
  }
  mote_rows call{};
  call.rows = rows.data();
  call.count = static_cast<uint32_t>(rows.size());
  call.program = 1;
  call.values = sources.values.empty() ? nullptr : sources.values.data();
  mote_error error{};
  const mote_status status = mote_compute(session, &call, &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
  mote_program_info program;
  mote_model_get_program(model.get(), 1, &program);
  std::vector<float> hidden;
  for (uint32_t row = 0; row < outputs; ++row) {
    const float* values = mote_session_output(session, row);
    hidden.insert(hidden.end(), values, values + program.output_width);
  }
  return hidden;
}

/// What the file has of a case, without the rows of padding.
std::vector<float> expected_hidden(const SafetensorsFile& golden, const std::string& prefix) {
  const std::vector<float> all = golden.f32(prefix + "encoder_hidden");
  if (!golden.has(prefix + "attention_mask")) return all;
  const std::vector<int64_t> mask = golden.i64(prefix + "attention_mask");
  const size_t width = all.size() / mask.size();
  std::vector<float> kept;
  for (size_t i = 0; i < mask.size(); ++i) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(i * width);
    if (mask[i] != 0) kept.insert(kept.end(), first, first + static_cast<std::ptrdiff_t>(width));
  }
  return kept;
}

void expect_near(const std::string& name, const std::vector<float>& expected,
                 const std::vector<float>& actual) {
  TEST_ASSERT_EQUAL_UINT32(expected.size(), actual.size());
  TEST_ASSERT_FLOAT_ARRAY_WITHIN(test::golden_tolerance(name), expected.data(), actual.data(),
                                 expected.size());
}

void check_case(const std::string& name, const std::string& prefix, const test::OpenModel& model,
                mote_isa isa) {
  const SafetensorsFile golden = golden_of(name);
  CAPTURE(name, prefix, mote_isa_name(isa));
  const Sources sources = read_sources(golden, prefix, model);
  const Rows targets = read_rows(golden, prefix + "decoder_input_ids", "none");
  const test::OpenSession session(model,
                                  source_options(model, isa, static_cast<uint32_t>(sources.ids.size())));
  expect_near(name, expected_hidden(golden, prefix), encode_sources(session.get(), model, sources));
  const uint32_t vocab = model.info().vocab;
  std::vector<float> logits;
  for (uint32_t i = 0; i < targets.size(); ++i) {
    const auto count = static_cast<uint32_t>(targets[i].size());
    REQUIRE(mote_prefill(session.get(), i, targets[i].data(), count, MOTE_LOGITS_ALL, nullptr) == MOTE_OK);
    for (uint32_t row = 0; row < count; ++row) {
      const float* values = mote_session_logits(session.get(), row);
      logits.insert(logits.end(), values, values + vocab);
    }
  }
  expect_near(name, golden.f32(prefix + "logits"), logits);
}

std::vector<int32_t> golden_ids(const SafetensorsFile& golden, const std::string& name) {
  const std::vector<int64_t> ids = golden.i64(name);
  return {ids.begin(), ids.end()};
}

}  // namespace

TEST("every golden encoder-decoder gives the stored hidden states and logits, padded sources too") {
  const std::vector<std::string> names = source_names();
  TEST_ASSERT_GREATER_OR_EQUAL(16u, names.size());
  for (const std::string& name : names) {
    const SafetensorsFile golden = golden_of(name);
    const test::OpenModel model(test::golden_file(name, "f32"));
    for (const mote_isa isa : test::all_families()) {
      check_case(name, "", model, isa);
      if (golden.has("padded.input_ids")) check_case(name, "padded.", model, isa);
    }
  }
}

TEST("golden models in CTranslate2's files give the stored hidden states and logits") {
  const std::filesystem::path folder = test::golden_folder() / "../ctranslate2";
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.is_directory() || entry.path().extension() == ".int8") continue;
    const std::string name = entry.path().stem().string();
    CAPTURE(name);
    const std::filesystem::path file = test::temporary_folder() / (name + ".ct2.mote");
    mote::convert::ConvertOptions options;
    options.type = "f32";
    mote::convert::convert(entry.path(), file, options);
    const test::AlignedBytes bytes = test::read_file(file);
    const test::OpenModel model(bytes);
    check_case(name, "", model, MOTE_ISA_AUTO);
    TEST_ASSERT_EQUAL_INT32(test::OpenModel(test::golden_file(name, "f32")).info().bos_id,
                            model.info().bos_id);
    ++count;
  }
  TEST_ASSERT_EQUAL_UINT64(4, count);
}

TEST("encoder-decoders choose the stored greedy ids after their start token") {
  for (const std::string& name : source_names()) {
    const SafetensorsFile golden = golden_of(name);
    const test::OpenModel model(test::golden_file(name, "f32"));
    const test::OpenSession session(model, source_options(model, MOTE_ISA_AUTO, 1));
    encode_sources(session.get(), model, read_sources(golden, "", model));
    mote_generation generation = mote_generation_default();
    const std::vector<int32_t> expected = golden_ids(golden, "greedy_ids");
    generation.max_tokens = static_cast<uint32_t>(expected.size());
    generation.ignore_model_stops = 1;
    std::vector<int32_t> ids;
    const auto take = [](void* user, int32_t id) {
      static_cast<std::vector<int32_t>*>(user)->push_back(id);
      return 0;
    };
    const int32_t start = model.info().bos_id;
    CAPTURE(name);
    REQUIRE(mote_generate(session.get(), &start, 1, &generation, take, &ids, nullptr, nullptr) == MOTE_OK);
    REQUIRE(ids == expected);
  }
}

TEST("beam search finds the stored hypotheses with their scores") {
  for (const std::string& name : source_names()) {
    const SafetensorsFile golden = golden_of(name);
    if (!golden.has("beam_ids")) continue;
    const test::OpenModel model(test::golden_file(name, "f32"));
    const test::OpenSession session(model, source_options(model, MOTE_ISA_AUTO, kBeams));
    encode_sources(session.get(), model, read_sources(golden, "", model));
    const int32_t start = model.info().bos_id, stop = golden_ids(golden, "beam_stop_id").at(0);
    REQUIRE(mote_prefill(session.get(), 0, &start, 1, MOTE_LOGITS_LAST, nullptr) == MOTE_OK);
    mote_beam_options options = mote_beam_options_default();
    options.beams = kBeams;
    options.max_tokens = kBeamTokens;
    options.stop_ids = &stop;
    options.stop_count = 1;
    options.ignore_model_stops = 1;
    std::vector<uint64_t> memory(mote_beam_bytes(session.get(), &options) / sizeof(uint64_t) + 1);
    mote_beam beams[kBeams];
    REQUIRE(mote_beam_search(session.get(), &options, memory.data(), memory.size() * sizeof(uint64_t), beams,
                             nullptr) == MOTE_OK);
    const std::vector<int32_t> expected = golden_ids(golden, "beam_ids");
    const std::vector<float> scores = golden.f32("beam_scores");
    const size_t columns = expected.size() / kBeams;
    for (size_t beam = 0; beam < kBeams; ++beam) {
      CAPTURE(name, beam);
      std::vector<int32_t> ids(beams[beam].ids, beams[beam].ids + beams[beam].count);
      ids.resize(columns);
      REQUIRE(
          std::equal(ids.begin(), ids.end(), expected.begin() + static_cast<std::ptrdiff_t>(beam * columns)));
      TEST_ASSERT_FLOAT_WITHIN(test::golden_tolerance(name), scores[beam], beams[beam].score);
    }
  }
}
