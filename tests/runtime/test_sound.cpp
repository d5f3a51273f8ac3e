// SPDX-License-Identifier: Apache-2.0
//
// What a file says that its model takes of sound.
#include "mote/sound.h"

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

/// An encoder whose outputs are its rows, and that hears.
Graph hearer(const SoundSpec& sound) {
  Graph graph = test::bare_graph(1, kBins, 64);
  graph.values = {{kBins, mote::DType::f32, Unit::token}, {kBins, mote::DType::f32, Unit::selected}};
  const View in{0, 0, kBins}, out{1, 0, kBins};
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

TEST("features that came later than this library are refused as unknown", "[sound]") {
  SoundSpec sound = filter_banks();
  sound.features =
      static_cast<SoundFeatures>(static_cast<uint8_t>(SoundFeatures::normalized_filter_bank) + 1);
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_UNSUPPORTED_FILE, test::open_changed(hearer(sound), &error));
}
