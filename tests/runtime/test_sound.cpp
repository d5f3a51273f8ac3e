// SPDX-License-Identifier: Apache-2.0
//
// What a file says that its model takes of sound.
#include "mote/sound.h"

#include <limits>

#include "tests/support/graph_file.h"
#include "tests/support/test_model.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;

namespace {

constexpr uint32_t kBins = 20;

SoundSpec filter_banks() {
  SoundSpec sound;
  sound.waveform = false;
  sound.features = SoundFeatures::normalized_filter_bank;
  sound.window = 400;
  sound.hop = 160;
  sound.fft = 512;
  sound.bins = kBins;
  sound.mean = sound.scale = 1.0f;
  return sound;
}

/// Squares of 4 of a second's decibels at 8 kHz.
SoundSpec decibels() {
  SoundSpec sound;
  sound.waveform = false;
  sound.features = SoundFeatures::decibels;
  sound.filling = SoundFilling::cut_copies;
  sound.rate = 8000;
  sound.hop = 100;
  sound.fft = 256;
  sound.bins = 8;
  sound.frames = 84;
  sound.patch = sound.frame_step = sound.bin_step = 4;
  sound.longest = 1.0f;
  sound.lowest = 50.0f;
  sound.highest = 4000.0f;
  sound.similarity_scale = 12.5f;
  return sound;
}

/// An encoder whose outputs are its rows, and that hears.
Graph hearer(const SoundSpec& sound, uint32_t width = kBins) {
  Graph graph = test::bare_graph(1, width, 64);
  graph.values = {{width, mote::DType::f32, Unit::token}, {width, mote::DType::f32, Unit::selected}};
  const View in{0, 0, width}, out{1, 0, width};
  graph.nodes = {InputNode{in}, SelectNode{in, out}};
  graph.output = out;
  graph.output_kind = OutputKind::hidden;
  graph.sound = sound;
  return graph;
}

}  // namespace

TEST("a file's filter banks are read, and sound has as many rows as frames that it fills", "[sound]") {
  const test::AlignedBytes file = test::graph_file(hearer(filter_banks()), "hearer");
  const test::OpenModel model(file);
  mote_sound_info info;
  mote_model_get_sound(model.get(), &info);
  TEST_ASSERT_EQUAL_INT(MOTE_FEATURES_NORMALIZED_FILTER_BANK, info.features);
  TEST_ASSERT_TRUE(info.rate == 16000 && info.window == 400 && info.hop == 160 && info.fft == 512);
  TEST_ASSERT_TRUE(info.bins == kBins && info.mean == 1.0f && info.scale == 1.0f && info.waveform == 0);
  const std::pair<uint64_t, uint32_t> rows[] = {{0, 0},   {399, 0}, {400, 1},
                                                {559, 1}, {560, 2}, {uint64_t{1} << 62, UINT32_MAX}};
  for (const auto& [samples, expected] : rows)
    TEST_ASSERT_EQUAL_UINT32(expected, mote_sound_rows(model.get(), samples));
}

TEST("filter banks that cannot be computed, or are not what rows have, are refused", "[sound]") {
  using Change = void (*)(SoundSpec&);
  const Change changes[] = {
      [](SoundSpec& sound) { sound.bins = kBins - 1; }, [](SoundSpec& sound) { sound.hop = 0; },
      [](SoundSpec& sound) { sound.fft = 500; },        [](SoundSpec& sound) { sound.fft = 8192; },
      [](SoundSpec& sound) { sound.window = 513; },     [](SoundSpec& sound) { sound.window = 1; },
      [](SoundSpec& sound) { sound.rate = 40; },        [](SoundSpec& sound) { sound.mean = 0.5f; },
      [](SoundSpec& sound) { sound.scale = -1.0f; },    [](SoundSpec& sound) { sound.patch = 4; },
      [](SoundSpec& sound) { sound.waveform = true; }};
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_OK, test::open_changed(hearer(filter_banks()), &error));
  for (const Change change : changes) {
    SoundSpec sound = filter_banks();
    change(sound);
    CAPTURE(&change - changes);
    TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(hearer(sound), &error));
    TEST_ASSERT_EQUAL_STRING("the sound is not what the model takes", error.text);
  }
}

TEST("a file's decibels are read, with how sound is filled up and compared with texts", "[sound]") {
  const test::AlignedBytes file = test::graph_file(hearer(decibels(), 16), "hearer");
  const test::OpenModel model(file);
  mote_sound_info info;
  mote_model_get_sound(model.get(), &info);
  TEST_ASSERT_EQUAL_INT(MOTE_FEATURES_DECIBELS, info.features);
  TEST_ASSERT_EQUAL_INT(MOTE_FILLING_CUT_COPIES, info.filling);
  TEST_ASSERT_TRUE(info.lowest == 50.0f && info.highest == 4000.0f && info.longest == 1.0f);
  TEST_ASSERT_TRUE(info.similarity_scale == 12.5f && info.frames == 84 && info.patch == 4);
  TEST_ASSERT_EQUAL_UINT32(42, mote_sound_square_rows(&info));
}

TEST("decibels that cannot be computed, or are not what rows have, are refused", "[sound]") {
  using Change = void (*)(SoundSpec&);
  const Change changes[] = {
      [](SoundSpec& sound) { sound.patch = 0; },
      [](SoundSpec& sound) { sound.hop = 0; },
      [](SoundSpec& sound) { sound.fft = 255; },
      [](SoundSpec& sound) { sound.fft = 8192; },
      [](SoundSpec& sound) { sound.frames = 80; },  // a second has 81
      [](SoundSpec& sound) { sound.longest = 0.0f; },
      [](SoundSpec& sound) { sound.longest = -1.0f; },
      [](SoundSpec& sound) { sound.longest = 1e9f; },
      [](SoundSpec& sound) { sound.longest = std::numeric_limits<float>::quiet_NaN(); },
      [](SoundSpec& sound) { sound.longest = 0.016f; },  // less than a transform reflects
      [](SoundSpec& sound) { sound.lowest = 4000.0f; },
      [](SoundSpec& sound) { sound.lowest = -1.0f; },
      [](SoundSpec& sound) { sound.lowest = std::numeric_limits<float>::quiet_NaN(); },
      [](SoundSpec& sound) { sound.highest = 4001.0f; },
      [](SoundSpec& sound) { sound.filling = static_cast<SoundFilling>(3); },
      [](SoundSpec& sound) { sound.similarity_scale = -1.0f; },
      [](SoundSpec& sound) { sound.similarity_scale = std::numeric_limits<float>::infinity(); },
      [](SoundSpec& sound) { sound.waveform = true; }};
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_OK, test::open_changed(hearer(decibels(), 16), &error));
  for (const Change& change : changes) {
    SoundSpec sound = decibels();
    change(sound);
    CAPTURE(&change - changes);
    TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(hearer(sound, 16), &error));
    TEST_ASSERT_EQUAL_STRING("the sound is not what the model takes", error.text);
  }
}

TEST("features that came later than this library are refused as unknown", "[sound]") {
  SoundSpec sound = filter_banks();
  sound.features = static_cast<SoundFeatures>(static_cast<uint8_t>(SoundFeatures::decibels) + 1);
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_UNSUPPORTED_FILE, test::open_changed(hearer(sound), &error));
}
