// SPDX-License-Identifier: Apache-2.0
#include "converter/architectures/shared/filter_bank.h"

namespace mote::convert {
namespace {

constexpr uint32_t kRate = 16000, kWindow = 400, kFft = 512, kHop = 160;

}  // namespace

void expect_size(Config& settings, const char* key, uint32_t wanted, uint32_t fallback) {
  if (const uint32_t is = settings.size(key, 0, kMaxSize, fallback); is != wanted)
    settings.refuse("{} {} is not supported; {} is", key, is, wanted);
}

void read_filter_bank(Config& settings, uint32_t usual_bins, SoundSpec& sound) {
  expect_size(settings, "sampling_rate", kRate, kRate);
  expect_size(settings, "num_mel_bins", sound.bins, usual_bins);
  sound.rate = kRate;
  sound.window = kWindow;
  sound.fft = kFft;
  sound.hop = kHop;
  // Keys of batches, which a single sound is not part of, and the number of features, which num_mel_bins has
  // too.
  for (const char* key :
       {"feature_size", "padding_side", "padding_value", "processor_class", "return_attention_mask"})
    settings.value(key);
}

}  // namespace mote::convert
