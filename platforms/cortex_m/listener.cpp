// SPDX-License-Identifier: Apache-2.0
//
// The listener: sound recorded in flash, second after second, is heard as if it came in; of each the label is
// printed that the model, such as `keywords`, gives it, with the logit. The main loop never waits: each turn
// counts a heartbeat and makes one frame's features, or does one operation of the model.
#include <stdint.h>

#include "image.h"
#include "mote/sound.h"

extern "C" {
extern const unsigned char firmware_data[], firmware_data_end[];  // samples of 16 bits
}

namespace {

using image::error;
using image::refuse;

constexpr uint32_t kMaxWindow = 512, kMaxSpectrum = 96 * 40, kMaxRowFloats = 32 * 256,
                   kMaxScratchFloats = 2048;
constexpr uint32_t kMaxLabels = 32, kSampleBytes = 2;

enum class State { features, encode, finished };

struct Listener {
  const mote_model* model;
  mote_session* session;
  mote_sound_info sound;
  mote_output_info output;
  mote_filter_bank bank;
  image::Heartbeat heart;
  State state;
  const unsigned char* second;  // the one that is heard
  uint32_t frame, begun, heard;
  float scratch[kMaxScratchFloats], window[kMaxWindow], spectrum[kMaxSpectrum], rows[kMaxRowFloats];
};

Listener listener;

[[gnu::noinline]] mote_status start(Listener& l) {
  mote_status status = image::open(&l.model);
  if (status != MOTE_OK) return status;
  mote_model_get_sound(l.model, &l.sound);
  mote_model_get_output(l.model, &l.output);
  status = mote_sound_filter_bank(&l.sound, &l.bank, &error);
  if (status != MOTE_OK) return status;
  const mote_sound_info& sound = l.sound;
  const uint32_t rows = mote_sound_square_rows(&sound);
  if (sound.window > kMaxWindow || sound.frames * sound.bins > kMaxSpectrum ||
      rows * sound.patch * sound.patch > kMaxRowFloats ||
      mote_filter_bank_bytes(&l.bank) > sizeof l.scratch ||
      (sound.frames - 1) * sound.hop + sound.window > sound.rate)
    return refuse("the model's sounds are too long");
  if (l.output.kind != MOTE_OUTPUT_SEQUENCE_LABELS || l.output.labels == 0 || l.output.labels > kMaxLabels)
    return refuse("the model labels no sounds");
  status = mote_filter_bank_init(&l.bank, l.scratch, &error);
  if (status != MOTE_OK) return status;
  l.second = firmware_data;
  return image::start_encoder(l.model, rows, &l.session);
}

/// The features of the next frame.
void hear(Listener& l) {
  if (l.frame == 0) l.begun = mote_clock::now();
  const unsigned char* from = l.second + l.frame * l.sound.hop * kSampleBytes;
  for (uint32_t i = 0; i < l.sound.window; ++i, from += kSampleBytes)
    l.window[i] = static_cast<float>(static_cast<int16_t>(from[0] | from[1] << 8)) / 32768.0f;
  mote_filter_bank_frames(&l.bank, l.scratch, l.window, l.sound.window, 0, 1,
                          l.spectrum + l.frame * l.sound.bins);
  ++l.frame;
}

/// All frames are there: the model begins.
[[gnu::noinline]] mote_status begin(Listener& l) {
  mote_sound_squares(&l.sound, l.spectrum, l.rows);
  const uint32_t length = mote_sound_square_rows(&l.sound);
  mote_batch batch = {};
  batch.lengths = &length;
  batch.count = 1;
  batch.values = l.rows;
  l.state = State::encode;
  return mote_encode_begin(l.session, &batch, &error);
}

mote_status step(Listener& l) {
  int done = 0;
  const mote_status status = mote_encode_step(l.session, 1, &done, &error);
  if (status != MOTE_OK || done == 0) return status;
  const uint32_t best = image::likeliest(l.session, l.output.labels);
  print(mote_model_label(l.model, best), " ", mote_session_output(l.session, 0)[best], " ",
        mote_clock::between(l.begun, mote_clock::now()), " ticks\n");
  ++l.heard;
  l.second += l.sound.rate * kSampleBytes;
  l.frame = 0;
  l.state = State::features;
  return MOTE_OK;
}

/// One bounded step.
mote_status listen(Listener& l) {
  if (l.state == State::encode) return step(l);
  if (l.frame == l.sound.frames) return begin(l);
  if (l.frame == 0 && l.second + l.sound.rate * kSampleBytes > firmware_data_end) {
    l.state = State::finished;
  } else {
    hear(l);
  }
  return MOTE_OK;
}

}  // namespace

int main(void) {
  print("mote ", mote_version(), " on ", MOTE_BOARD, "\n");
  mote_clock::start();
  mote_status status = start(listener);
  if (status == MOTE_OK) print("listening\n");
  while (status == MOTE_OK && listener.state != State::finished) {
    listener.heart.beat(true);
    status = listen(listener);
  }
  if (status != MOTE_OK) {
    image::report("failed", status);
    return 1;
  }
  print("seconds ", listener.heard, ", heartbeats ", listener.heart.beats, ", longest gap ",
        listener.heart.longest, " ticks, ");
  image::print_stack();
  return 0;
}
