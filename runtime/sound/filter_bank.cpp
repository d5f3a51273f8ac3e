// SPDX-License-Identifier: Apache-2.0
//
// Kaldi's filter banks, in single precision as torchaudio computes them: a frame's spectrum is that of half
// as many complex numbers (Cooley and Tukey 1965, radix 2), from which those of even and odd samples are told
// apart.
#include "mote/sound.h"

#include <math.h>

#include "runtime/error.h"

namespace mote {
namespace {

constexpr double kPi = 3.141592653589793238462643;
constexpr double kLowest = 20.0;  // hertz
constexpr float kEmphasis = 0.97f, kFloor = 1.1920929e-7f;
constexpr float kPovey = 0.85f, kShort = 32768.0f;  // the power of Povey's window; samples of 16 bits

struct Tables {
  float* window;            // [window]
  float *cosines, *sines;   // [fft / 2]: of turns by a part of fft
  float* places;            // [fft / 2 + 1]: where a bin is among the filters' edges
  float *real, *imaginary;  // [fft / 2]: a frame's even and odd samples, then its spectrum
};

/// Places the tables; the bytes that they take.
uint64_t place_tables(const mote_filter_bank& spec, float* scratch, Tables* t) {
  uint64_t taken = 0;
  const auto take = [&](uint64_t count) {
    float* const from = scratch == nullptr ? nullptr : scratch + taken;
    taken += count;
    return from;
  };
  const uint32_t half = spec.fft / 2;
  t->window = take(spec.window);
  t->cosines = take(half);
  t->sines = take(half);
  t->places = take(uint64_t{half} + 1);
  t->real = take(half);
  t->imaginary = take(half);
  return taken * sizeof(float);
}

double mels_of(double hertz) { return 1127.0 * log(1.0 + hertz / 700.0); }

void fill_tables(const mote_filter_bank& spec, const Tables& t) {
  const uint32_t half = spec.fft / 2;
  const float gain = spec.gain == 0.0f ? 1.0f : spec.gain;
  for (uint32_t i = 0; i < spec.window; ++i) {
    const auto hann = static_cast<float>(0.5 - 0.5 * cos(2.0 * kPi * i / (spec.window - 1)));
    // A power as firmware has it without another function of the C library.
    t.window[i] = gain * (spec.povey != 0 && hann > 0.0f ? expf(kPovey * logf(hann)) : hann);
  }
  for (uint32_t i = 0; i < half; ++i) {
    t.cosines[i] = static_cast<float>(cos(2.0 * kPi * i / spec.fft));
    t.sines[i] = static_cast<float>(-sin(2.0 * kPi * i / spec.fft));
  }
  const double first = mels_of(kLowest), step = (mels_of(spec.rate / 2.0) - first) / (spec.mels + 1);
  for (uint32_t bin = 0; bin <= half; ++bin)
    t.places[bin] =
        static_cast<float>((mels_of(static_cast<double>(spec.rate) * bin / spec.fft) - first) / step);
}

/// The frame's samples less their mean, with pre-emphasis, in the window; even ones in real.
void fill_frame(const mote_filter_bank& spec, const Tables& t, const float* samples) {
  float sum = 0.0f;
  for (uint32_t i = 0; i < spec.window; ++i) sum += samples[i];
  const float mean = sum / static_cast<float>(spec.window);
  float before = samples[0] - mean;
  float* const halves[] = {t.real, t.imaginary};
  for (uint32_t i = 0; i < spec.fft; ++i) {
    float value = 0.0f;
    if (i < spec.window) {
      const float centred = samples[i] - mean;
      value = (centred - kEmphasis * before) * t.window[i];
      before = centred;
    }
    halves[i % 2][i / 2] = value;
  }
}

/// Puts number i where its bits are read backwards.
void reorder(const Tables& t, uint32_t count) {
  for (uint32_t i = 1, j = 0; i < count; ++i) {
    uint32_t bit = count / 2;
    for (; (j & bit) != 0; bit /= 2) j ^= bit;
    j |= bit;
    if (i >= j) continue;
    const float real = t.real[i], imaginary = t.imaginary[i];
    t.real[i] = t.real[j];
    t.imaginary[i] = t.imaginary[j];
    t.real[j] = real;
    t.imaginary[j] = imaginary;
  }
}

void transform(const Tables& t, uint32_t count) {
  reorder(t, count);
  for (uint32_t width = 1; width < count; width *= 2) {
    const uint32_t turn = count / width;  // the tables have 2 * count parts of a turn
    for (uint32_t k = 0; k < width; ++k) {
      const float cosine = t.cosines[k * turn], sine = t.sines[k * turn];
      for (uint32_t i = k; i < count; i += 2 * width) {
        const uint32_t j = i + width;
        const float real = t.real[j] * cosine - t.imaginary[j] * sine;
        const float imaginary = t.real[j] * sine + t.imaginary[j] * cosine;
        t.real[j] = t.real[i] - real;
        t.imaginary[j] = t.imaginary[i] - imaginary;
        t.real[i] += real;
        t.imaginary[i] += imaginary;
      }
    }
  }
}

/// The power of the frame's bin, of the transform of its even and odd samples as one.
float power_of(const Tables& t, uint32_t half, uint32_t bin) {
  const uint32_t i = bin % half, j = (half - i) % half;
  const float even_real = 0.5f * (t.real[i] + t.real[j]);
  const float even_imaginary = 0.5f * (t.imaginary[i] - t.imaginary[j]);
  const float odd_real = 0.5f * (t.imaginary[i] + t.imaginary[j]);
  const float odd_imaginary = 0.5f * (t.real[j] - t.real[i]);
  const float cosine = bin < half ? t.cosines[bin] : -1.0f, sine = bin < half ? t.sines[bin] : 0.0f;
  const float real = even_real + odd_real * cosine - odd_imaginary * sine;
  const float imaginary = even_imaginary + odd_real * sine + odd_imaginary * cosine;
  return real * real + imaginary * imaginary;
}

/// Each bin is in the filter that rises where it is and in the one before, which falls.
void filter(const mote_filter_bank& spec, const Tables& t, float* features) {
  for (uint32_t mel = 0; mel < spec.mels; ++mel) features[mel] = 0.0f;
  for (uint32_t bin = 0; bin <= spec.fft / 2; ++bin) {
    const float place = t.places[bin];
    if (place <= 0.0f) continue;
    const auto edge = static_cast<uint32_t>(place);
    const float rising = place - static_cast<float>(edge), power = power_of(t, spec.fft / 2, bin);
    if (edge < spec.mels) features[edge] += power * rising;
    if (edge >= 1 && edge <= spec.mels) features[edge - 1] += power * (1.0f - rising);
  }
}

}  // namespace
}  // namespace mote

using namespace mote;

extern "C" {

size_t mote_filter_bank_bytes(const mote_filter_bank* spec) {
  Tables t;
  const uint64_t bytes = place_tables(*spec, nullptr, &t);
  return bytes <= SIZE_MAX / 2 ? static_cast<size_t>(bytes) : 0;
}

mote_status mote_filter_bank_init(const mote_filter_bank* spec, void* scratch, mote_error* error) {
  const uint32_t fft = spec->fft;
  const bool sized = fft >= 4 && fft <= MOTE_MOST_FFT && (fft & (fft - 1)) == 0 && spec->window >= 2 &&
                     spec->window <= fft && spec->hop != 0 && spec->mels != 0;
  if (!sized || spec->rate <= 2 * static_cast<uint32_t>(kLowest) || !(spec->deviation > 0.0f) ||
      !(spec->gain >= 0.0f)) {
    return fail(error, MOTE_INVALID_ARGUMENT, "filter banks of ", spec->window, " samples in ", fft, ", ",
                spec->mels, " mels, a hop of ", spec->hop);
  }
  Tables t;
  place_tables(*spec, static_cast<float*>(scratch), &t);
  fill_tables(*spec, t);
  return MOTE_OK;
}

void mote_filter_bank_frames(const mote_filter_bank* spec, void* scratch, const float* samples, uint64_t n,
                             uint32_t first, uint32_t frames, float* features) {
  Tables t;
  place_tables(*spec, static_cast<float*>(scratch), &t);
  for (uint32_t frame = 0; frame < frames; ++frame, features += spec->mels) {
    const uint64_t from = (uint64_t{first} + frame) * spec->hop;
    const bool heard = from + spec->window <= n;
    if (heard) {
      fill_frame(*spec, t, samples + from);
      transform(t, spec->fft / 2);
      filter(*spec, t, features);
    }
    for (uint32_t mel = 0; mel < spec->mels; ++mel) {
      const float feature = heard ? logf(fmaxf(features[mel], kFloor)) : 0.0f;
      features[mel] = (feature - spec->mean) / spec->deviation;
    }
  }
}

mote_status mote_sound_filter_bank(const mote_sound_info* sound, mote_filter_bank* spec, mote_error* error) {
  const bool normalized = sound->features == MOTE_FEATURES_NORMALIZED_FILTER_BANK;
  if (sound->features != MOTE_FEATURES_FILTER_BANK && !normalized)
    return fail(error, MOTE_WRONG_STATE, "the model's file does not say that it takes filter banks");
  *spec = {sound->rate, sound->window, sound->hop, sound->fft, sound->bins,
           sound->mean, sound->scale,  0,          0.0f,       {}};
  if (!normalized) return MOTE_OK;
  spec->mean = 0.0f;
  spec->deviation = 1.0f;
  spec->povey = 1;
  spec->gain = kShort;
  return MOTE_OK;
}

void mote_sound_squares(const mote_sound_info* sound, const float* spectrum, float* rows) {
  const uint32_t patch = sound->patch, bins = sound->bins;
  for (size_t i = 0; i < size_t{sound->before} * patch * patch; ++i) *rows++ = 0.0f;
  for (uint32_t bin = 0; bin + patch <= bins; bin += sound->bin_step) {
    for (uint32_t frame = 0; frame + patch <= sound->frames; frame += sound->frame_step) {
      for (uint32_t i = bin; i < bin + patch; ++i) {
        for (uint32_t t = frame; t < frame + patch; ++t) *rows++ = spectrum[size_t{t} * bins + i];
      }
    }
  }
}

uint32_t mote_sound_square_rows(const mote_sound_info* sound) {
  if (sound->patch == 0) return 0;
  const uint32_t across = (sound->frames - sound->patch) / sound->frame_step + 1;
  return sound->before + across * ((sound->bins - sound->patch) / sound->bin_step + 1);
}

}  // extern "C"
