// SPDX-License-Identifier: Apache-2.0
//
// Every model of sound in tests/golden/models that encodes, from its files to the outputs of the original
// implementation.
#include <algorithm>
#include <cmath>

#include "mote/sound.h"
#include "schema/mote_generated.h"
#include "tests/golden/golden_runs.h"
#include "tests/support/written.h"

namespace {

using mote::convert::SafetensorsFile;

/// The golden input as the model's rows, by sequence.
struct HeardInput {
  uint32_t width = 0;
  std::vector<std::vector<float>> rows;
  size_t frames = 0;  // most rows of outputs
};

/// The rows that mote.h says of a spectrum.
std::vector<float> squares(const mote_sound_info& sound, const std::vector<float>& spectrum) {
  const uint32_t across = (sound.frames - sound.patch) / sound.frame_step + 1;
  const uint32_t down = (sound.bins - sound.patch) / sound.bin_step + 1, size = sound.patch * sound.patch;
  std::vector<float> rows((sound.before + size_t{across} * down) * size);
  for (size_t i = size_t{sound.before} * size; i < rows.size(); ++i) {
    const size_t square = i / size - sound.before, within = i % size;
    const size_t bin = square / across * sound.bin_step + within / sound.patch;
    const size_t frame = square % across * sound.frame_step + within % sound.patch;
    rows[i] = spectrum[frame * sound.bins + bin];
  }
  return rows;
}

HeardInput read_heard(const SafetensorsFile& golden, const mote_model* model) {
  mote_sound_info sound;
  mote_model_get_sound(model, &sound);
  mote_program_info program;
  mote_model_get_program(model, 0, &program);
  const std::string name = golden.has("input_values") ? "input_values" : "input_features";
  const auto& shape = golden.shape(name);
  const std::vector<float> values = golden.f32(name);
  std::vector<int64_t> mask(shape[0] * shape[1], 1);
  const bool of_texts = golden.has("text_embeds");
  if (golden.has("attention_mask") && !of_texts) mask = golden.i64("attention_mask");
  HeardInput input;
  input.width = program.input_width;
  for (size_t b = 0; b < shape[0]; ++b) {
    const size_t size = values.size() / shape[0];
    const auto first = values.begin() + static_cast<ptrdiff_t>(b * size);
    size_t count = size;
    if (sound.waveform == 0) {
      size_t length = 0;
      while (length < shape[1] && mask[b * shape[1] + length] != 0) ++length;
      count = length * shape[2];
    }
    input.rows.emplace_back(first, first + static_cast<ptrdiff_t>(count));
    if (sound.patch != 0) input.rows.back() = squares(sound, input.rows.back());
    if (sound.waveform != 0) input.rows.back().resize(size_t{mote_sound_rows(model, count)} * input.width);
  }
  return input;
}

struct Heard {
  std::map<std::string, std::vector<std::vector<float>>> arrays;  // by name and sequence
  size_t sequence = 0;

  static void trace(void* user, const char* name, const float* data, uint32_t rows, uint32_t width,
                    size_t stride) {
    auto& self = *static_cast<Heard*>(user);
    auto& to = self.arrays[name];
    to.resize(self.sequence + 1);
    for (uint32_t row = 0; row < rows; ++row, data += stride)
      to.back().insert(to.back().end(), data, data + width);
  }
};

Heard hear(const test::OpenModel& model, mote_isa isa, const HeardInput& input) {
  Heard heard;
  mote_session_options options = mote_session_options_default(model.get());
  size_t longest = 0;
  for (const auto& rows : input.rows) longest = std::max(longest, rows.size() / input.width);
  options.isa = isa;
  options.chunk = options.logit_rows = static_cast<uint32_t>(longest);
  options.context = std::max(options.context, options.chunk);
  options.trace = Heard::trace;
  options.trace_user = &heard;
  const test::OpenSession session(model, options);
  mote_output_info output;
  mote_model_get_output(model.get(), &output);
  for (; heard.sequence < input.rows.size(); ++heard.sequence) {
    const auto length = static_cast<uint32_t>(input.rows[heard.sequence].size() / input.width);
    mote_batch batch{};
    batch.lengths = &length;
    batch.count = 1;
    batch.values = input.rows[heard.sequence].data();
    mote_error error{};
    const mote_status status = mote_encode(session.get(), &batch, &error);
    INFO(error.text);
    REQUIRE(status == MOTE_OK);
    for (uint32_t row = 0; const float* values = mote_session_output(session.get(), row); ++row)
      Heard::trace(&heard, "logits", values, 1, output.width, output.width);
  }
  return heard;
}

/// Those that hear, and have no decoder and no tower of texts.
std::vector<std::string> encoder_names() {
  std::vector<std::string> names = test::golden_names("audio");
  std::erase_if(names, [](const std::string& name) {
    const SafetensorsFile golden(test::golden_folder() / name / "golden.safetensors");
    return golden.has("decoder_input_ids") || golden.has("waveform") || golden.has("text_embeds");
  });
  return names;
}

}  // namespace

namespace {

/// Compares every stored output with what the model gives, by each kernel family.
void check_heard(const std::string& name, const test::OpenModel& model, const SafetensorsFile& golden) {
  const HeardInput input = read_heard(golden, model.get());
  for (const mote_isa isa : test::all_families()) {
    const Heard heard = hear(model, isa, input);
    for (const auto& [stored, tensor] : golden.tensors()) {
      if (tensor.dtype != "F32" || stored.find("input_") != std::string::npos) continue;
      CAPTURE(name, mote_isa_name(isa), stored);
      REQUIRE(heard.arrays.count(stored) == 1);
      const std::vector<float> expected = golden.f32(stored);
      const auto& arrays = heard.arrays.at(stored);
      const size_t size = expected.size() / arrays.size();
      for (size_t b = 0; b < arrays.size(); ++b) {
        CAPTURE(b);
        TEST_ASSERT_LESS_OR_EQUAL(size, arrays[b].size());
        TEST_ASSERT_FLOAT_ARRAY_WITHIN(test::golden_tolerance(name), expected.data() + b * size,
                                       arrays[b].data(), arrays[b].size());
      }
    }
  }
}

}  // namespace

TEST("every golden model of sound gives every stored output, for sequences of any length") {
  test::for_each_golden(encoder_names(), 3, check_heard);
}

TEST("towers of sounds and of texts give the stored vectors, and their logits by the stored scale") {
  const test::AlignedBytes sounds_file = test::golden_tower("clap", "audio"),
                           texts_file = test::golden_tower("clap", "text");
  const test::OpenModel sounds(sounds_file), texts(texts_file);
  const SafetensorsFile golden(test::golden_folder() / "clap/golden.safetensors");
  const double tolerance = test::golden_tolerance("clap");
  const std::vector<int64_t> ids = golden.i64("input_ids"), mask = golden.i64("attention_mask");
  const size_t count = golden.shape("input_ids")[0], length = golden.shape("input_ids")[1];
  std::vector<std::vector<float>> vectors;
  for (size_t text = 0; text < count; ++text) {
    std::vector<int32_t> seen;
    for (size_t i = text * length; i < (text + 1) * length; ++i) {
      if (mask[i] != 0) seen.push_back(static_cast<int32_t>(ids[i]));
    }
    vectors.push_back(test::outputs_of(texts, seen));
  }
  const std::vector<float> expected_texts = golden.f32("text_embeds"), expected = golden.f32("audio_embeds"),
                           logits = golden.f32("logits_per_audio");
  const size_t width = vectors[0].size();
  mote_sound_info sound;
  mote_model_get_sound(sounds.get(), &sound);
  for (const mote_isa isa : test::all_families()) {
    const Heard heard = hear(sounds, isa, read_heard(golden, sounds.get()));
    const std::vector<std::vector<float>>& found = heard.arrays.at("logits");
    CAPTURE(mote_isa_name(isa));
    TEST_ASSERT_EQUAL_UINT64(expected.size(), found.size() * width);
    for (size_t i = 0; i < found.size(); ++i) {
      CAPTURE(i);
      TEST_ASSERT_FLOAT_ARRAY_WITHIN(tolerance, expected.data() + i * width, found[i].data(), width);
      for (size_t text = 0; text < count; ++text) {
        TEST_ASSERT_FLOAT_ARRAY_WITHIN(tolerance, expected_texts.data() + text * width, vectors[text].data(),
                                       width);
        float cosine = 0;
        for (size_t k = 0; k < width; ++k) cosine += found[i][k] * vectors[text][k];
        TEST_ASSERT_FLOAT_WITHIN(tolerance * double{sound.similarity_scale}, logits[i * count + text],
                                 sound.similarity_scale * cosine);
      }
    }
  }
}

TEST("a language's adapter, head and letters take the place of the model's own") {
  const std::filesystem::path folder = test::golden_folder() / "mms_ctc";
  mote::convert::ConvertOptions options;
  options.type = "f32";
  options.language = "fra";
  const test::AlignedBytes file = test::kept_conversion("mms_ctc.fra", folder, options);
  const test::OpenModel french(file), english(test::golden_file("mms_ctc", "f32"));
  check_heard("mms_ctc", french, SafetensorsFile(folder / "golden.fra.safetensors"));
  CHECK(std::string(mote_model_label(french.get(), 10)) == "\u00e9");
  CHECK(std::string(mote_model_label(english.get(), 10)) == "t");
  CHECK(mote_model_label(english.get(), 11) == nullptr);
  options.language = "eng";  // the model's own
  const test::AlignedBytes same = test::kept_conversion("mms_ctc.eng", folder, options);
  const test::OpenModel own(same);
  check_heard("mms_ctc", own, SafetensorsFile(folder / "golden.safetensors"));
}

TEST("a language without an adapter, and any of a model without adapters, is refused by name") {
  const auto refusal = [](const char* name, const char* language) {
    mote::convert::ConvertOptions options;
    options.language = language;
    try {
      test::kept_conversion(std::string(name) + ".no_language", test::golden_folder() / name, options);
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refusal("mms_ctc", "deu").find("it has those of eng, fra") != std::string::npos);
  CHECK(refusal("mms_ctc", "../x").find("it has those of eng, fra") != std::string::npos);
  CHECK(refusal("wav2vec2_ctc", "fra").find("no adapters of languages") != std::string::npos);
  CHECK(refusal("llama", "fra").find("no adapters of languages") != std::string::npos);
}

TEST("models of sound in 16 and 8 bits stay near the stored outputs, and say so in their self tests") {
  // As encoders of texts do (test_encoders.cpp), whose two layers round as often as these do; the stem's
  // linears before them round as a third layer would. Errors of layers add by their squares. Weights that
  // grow the errors of what they read make more of them: golden.json then has what rounded weights alone do
  // in exact arithmetic. Activations, and keys and values, are rounded to as many bits, each independent of
  // it.
  const double of_stem = std::sqrt(3.0 / 2.0);
  for (const std::string& name : encoder_names()) {
    const SafetensorsFile golden(test::golden_folder() / name / "golden.safetensors");
    for (const auto& [type, bound] :
         {std::pair("f16", 2e-3), std::pair("q8g32", 2e-2), std::pair("q8c", 2e-2)}) {
      CAPTURE(name, type);
      const test::AlignedBytes& file = test::golden_file(name, type);
      const auto* self_test = mote::file::GetSizePrefixedModel(file.data())->self_test();
      REQUIRE(self_test != nullptr);
      TEST_ASSERT_LESS_THAN(0.5f, self_test->tolerance());
      const test::OpenModel model(file);
      const Heard heard = hear(model, MOTE_ISA_AUTO, read_heard(golden, model.get()));
      const std::vector<float> expected = golden.f32("hidden.2"), &found = heard.arrays.at("hidden.2")[0];
      double error = 0, energy = 0;
      for (size_t i = 0; i < found.size(); ++i) {
        error += std::pow(double{found[i]} - double{expected[i]}, 2);
        energy += std::pow(double{expected[i]}, 2);
      }
      const double rounded = test::rounded_weights_error(name) * bound / 2e-2;  // of f16 a tenth
      TEST_ASSERT_LESS_THAN(std::max(bound * of_stem, std::sqrt(3.0) * rounded), std::sqrt(error / energy));
    }
  }
}
