// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a file of sound: read, resampled to 16 kHz and made features of, up to some seconds.
#include "converter/error.h"
#include "tests/fuzz/fuzz.h"
#include "tools/mote/sound_file.h"
#include "tools/mote/speech/mel_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint32_t kRate = 16000, kFrames = 50;
  constexpr size_t kMostSamples = 4 * kRate;
  try {
    const auto source = mote::cli::open_sound({reinterpret_cast<const std::byte*>(data), size});
    mote::cli::Resampler resampler(*source, kRate);
    std::vector<float> samples(kMostSamples);
    const size_t count = resampler.read(samples);
    if (count == kMostSamples) return 0;
    source->rewind();
    mote::cli::MelReader reader(*source, kRate, 64, 160, 4, kFrames);
    std::vector<float> features(size_t{kFrames} * 4);
    [[maybe_unused]] static volatile float sink;
    for (uint64_t frame = 0; frame < reader.frames(); frame += kFrames) {
      reader.read(frame, kFrames, features.data());
      sink = features[0];
    }
  } catch (const mote::convert::Error&) {
  }
  return 0;
}
