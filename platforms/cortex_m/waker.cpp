// SPDX-License-Identifier: Apache-2.0
//
// The waker: sound recorded in flash, second after second, goes through the detector of speech as if it came in. Of
// each second it prints whether somebody speaks in it, which is when a product would begin to listen for words. It
// needs no model and no arena. Each turn of the main loop counts a heartbeat and takes a piece of 10 ms.
#include <stdint.h>

#include "image.h"
#include "mote/speech_activity.h"

extern "C" {
extern const unsigned char firmware_data[], firmware_data_end[];  // samples of 16 bits, 16,000 a second
}

namespace {

constexpr uint32_t kPiece = 160, kSampleBytes = 2, kMostProbabilities = kPiece / MOTE_SPEECH_FRAME + 1;
constexpr float kSpeaks = 0.5f;

struct Waker {
  mote_speech_detector detector;
  image::Heartbeat heart;
  float samples[kPiece];
  uint32_t seconds, taken;  // samples of the second
  uint32_t ticks;           // of the second
  float most;               // probability
};

Waker waker;

void print_second(Waker& w) {
  print(w.most > kSpeaks ? "speech " : "none ", w.most, " ", w.ticks, " ticks\n");
  ++w.seconds;
  w.taken = w.ticks = 0;
  w.most = 0.0f;
}

void take_piece(Waker& w, const unsigned char* from) {
  const uint32_t begun = mote_clock::now();
  for (uint32_t i = 0; i < kPiece; ++i, from += kSampleBytes)
    w.samples[i] = static_cast<float>(static_cast<int16_t>(from[0] | from[1] << 8)) / 32768.0f;
  float probabilities[kMostProbabilities];
  const uint32_t known = mote_speech_add(&w.detector, w.samples, kPiece, probabilities);
  for (uint32_t i = 0; i < known; ++i) w.most = probabilities[i] > w.most ? probabilities[i] : w.most;
  w.ticks += mote_clock::between(begun, mote_clock::now());
  w.taken += kPiece;
  if (w.taken == MOTE_SPEECH_RATE) print_second(w);
}

}  // namespace

int main(void) {
  print("mote ", mote_version(), " on ", MOTE_BOARD, "\n");
  mote_clock::start();
  mote_speech_start(&waker.detector);
  print("arena: 0 of 0 bytes\n");
  for (const unsigned char* from = firmware_data; from + kPiece * kSampleBytes <= firmware_data_end;
       from += kPiece * kSampleBytes) {
    waker.heart.beat(true);
    take_piece(waker, from);
  }
  print("seconds ", waker.seconds, ", heartbeats ", waker.heart.beats, ", longest gap ", waker.heart.longest, " ticks, ");
  image::print_stack();
  return 0;
}
