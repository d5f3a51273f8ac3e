// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a file of sound: read, resampled to 16 kHz and made features of both kinds, up to some
// seconds.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "host/base/error.h"
#include "host/media/mel_reader.h"
#include "host/media/sound_file.h"
#include "host/tasks/sound/filter_banks.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/filter_bank_sound.h"

namespace {

/// Features of finite samples are numbers.
void check_filter_banks(std::span<const float> samples) {
  if (!std::all_of(samples.begin(), samples.end(), [](float x) { return std::fabs(x) <= 1.0f; })) return;
  auto banks =
      mote::host::FilterBanks::make(test::filter_bank_sound(MOTE_FEATURES_NORMALIZED_FILTER_BANK, 20));
  if (!banks.ok()) std::abort();
  for (const float feature : banks->of(samples)) {
    if (!std::isfinite(feature)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint32_t kRate = 16000, kFrames = 50;
  constexpr size_t kMostSamples = 4 * kRate;
  try {
    const auto source = mote::cli::open_sound({reinterpret_cast<const std::byte*>(data), size});
    mote::cli::Resampler resampler(*source, kRate);
    std::vector<float> samples(kMostSamples);
    const size_t count = resampler.read(samples);
    check_filter_banks(std::span(samples).first(count));
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
