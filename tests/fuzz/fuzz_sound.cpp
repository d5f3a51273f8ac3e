// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a file of sound: read, resampled to 16 kHz and made features of both kinds, up to some
// seconds.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "host/base/error.h"
#include "host/media/sound_file.h"
#include "host/tasks/sound/decibels.h"
#include "host/tasks/sound/filter_banks.h"
#include "host/tasks/sound/mel_reader.h"
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

/// Samples in memory.
class Samples : public mote::host::SoundInput {
 public:
  explicit Samples(std::span<const float> samples) : samples_(samples) {}
  mote::host::Result<size_t> read(std::span<float> out) override {
    const size_t count = std::min(out.size(), samples_.size() - at_);
    std::copy_n(samples_.begin() + static_cast<ptrdiff_t>(at_), count, out.begin());
    at_ += count;
    return count;
  }
  mote::host::Status rewind() override {
    at_ = 0;
    return {};
  }

 private:
  std::span<const float> samples_;
  size_t at_ = 0;
};

/// Fills samples up to a second of CLAP's, in each way.
void check_filling(std::span<const float> samples, uint32_t rate) {
  const size_t count = std::min<size_t>(samples.size(), rate);
  if (count == 0) return;
  for (const mote_sound_filling filling :
       {MOTE_FILLING_ZEROS, MOTE_FILLING_COPIES, MOTE_FILLING_CUT_COPIES}) {
    std::vector<float> filled(samples.begin(), samples.begin() + static_cast<ptrdiff_t>(count));
    filled.resize(rate);
    mote::host::fill_up(filled, count, filling);
    if (!std::equal(samples.begin(), samples.begin() + static_cast<ptrdiff_t>(count), filled.begin(),
                    [](float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }))
      std::abort();
  }
}

/// Makes Whisper's features of windows of all samples.
void check_mels(std::span<const float> samples, uint32_t rate) {
  constexpr uint32_t kFrames = 50;
  Samples sound(samples);
  const mote::host::Hooks hooks{};  // which the reader asks as long as it lives
  auto reader = mote::host::MelReader::read_all(sound, rate, 64, 160, 4, kFrames, hooks);
  if (!reader.ok()) return;
  std::vector<float> features(size_t{kFrames} * 4);
  [[maybe_unused]] static volatile float sink;
  for (uint64_t frame = 0; frame < reader->frames(); frame += kFrames) {
    if (!reader->read(frame, kFrames, features.data()).ok()) return;
    sink = features[0];
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint32_t kRate = 16000;
  constexpr size_t kMostSamples = 4 * kRate;
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  try {
    std::vector<float> samples(kRate);
    const auto known = mote::cli::open_known_sound(bytes);
    while (known->read(samples) != 0) {
    }
  } catch (const mote::convert::Error&) {
  }
  try {
    const auto source = mote::cli::open_sound(bytes);
    mote::cli::Resampler resampler(*source, kRate);
    std::vector<float> samples(kMostSamples);
    const size_t count = resampler.read(samples);
    check_filter_banks(std::span(samples).first(count));
    check_filling(std::span(samples).first(count), kRate);
    if (count == kMostSamples) return 0;
    check_mels(std::span(samples).first(count), kRate);
  } catch (const mote::convert::Error&) {
  }
  return 0;
}
