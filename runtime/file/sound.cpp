// SPDX-License-Identifier: Apache-2.0
//
// The input of a model that hears.
#include "mote/sound.h"

#include <math.h>

#include "runtime/error.h"
#include "runtime/file/model.h"

namespace mote {

namespace {

/// Says whether squares lie in the spectrum and are as wide as a row; or there are none.
bool fits_squares(const mote_model& model, const file::Sound& sound) {
  if (sound.patch() == 0) return true;
  const uint64_t patch = sound.patch();
  const uint32_t width = input_width(*model.root->programs()->Get(whole_program(model)));
  return sound.kind() == file::SoundKind::spectrum && patch <= kMaxRatio && patch * patch == width &&
         sound.frame_step() > 0 && sound.bin_step() > 0 && sound.frames() >= patch && sound.bins() >= patch &&
         sound.frames() <= kMaxContext && sound.bins() <= kMaxContext && sound.before() <= kMaxContext;
}

bool is_flag(float value) { return value == 0.0f || value == 1.0f; }

/// Says whether decibels can be computed as the file says: of a sound that can be reflected at its ends, in
/// at most as many frames as squares are cut of.
bool fits_decibels(const file::Sound& sound) {
  if (!(sound.longest() > 0.0f) ||
      !(sound.longest() * static_cast<float>(sound.rate()) <= static_cast<float>(kMaxContext)))
    return false;
  const auto samples = static_cast<uint32_t>(sound.longest() * static_cast<float>(sound.rate()));
  const float half = static_cast<float>(sound.rate()) / 2.0f;
  return sound.patch() != 0 && sound.fft() >= 2 && sound.fft() <= MOTE_MOST_FFT && sound.fft() % 2 == 0 &&
         samples > sound.fft() / 2 && samples / sound.hop() < sound.frames() && sound.lowest() >= 0.0f &&
         sound.lowest() < sound.highest() && sound.highest() <= half &&
         sound.filling() <= file::SoundFilling::MAX;
}

/// Says whether features can be computed as the file says, and are as wide as a row.
bool fits_features(const mote_model& model, const file::Sound& sound) {
  const uint32_t width = input_width(*model.root->programs()->Get(whole_program(model)));
  const bool sized =
      sound.kind() == file::SoundKind::spectrum && sound.hop() > 0 && sound.hop() <= kMaxContext;
  switch (sound.features()) {
    case file::SoundFeatures::none:
      return true;
    case file::SoundFeatures::log_mel:
      return sized && sound.bins() == width && sound.fft() >= 2 && sound.fft() <= MOTE_MOST_FFT &&
             sound.fft() % 2 == 0;
    case file::SoundFeatures::normalized_log_mel:
      return sized && sound.bins() == width && sound.fft() >= 2 && sound.fft() <= MOTE_MOST_FFT &&
             sound.fft() % 2 == 0 && sound.window() >= 2 && sound.window() <= sound.fft();
    case file::SoundFeatures::compressed_frames:
      return sized && sound.hop() == width && sound.scale() > 0.0f;
    case file::SoundFeatures::filter_bank:
      return sized && sound.patch() != 0 && sound.fft() >= 4 && sound.fft() <= MOTE_MOST_FFT &&
             (sound.fft() & (sound.fft() - 1)) == 0 && sound.window() >= 2 && sound.window() <= sound.fft() &&
             sound.scale() > 0.0f && sound.rate() > 40;
    case file::SoundFeatures::normalized_filter_bank:
      return sized && sound.patch() == 0 && sound.bins() == width && sound.fft() >= 4 &&
             sound.fft() <= MOTE_MOST_FFT && (sound.fft() & (sound.fft() - 1)) == 0 && sound.window() >= 2 &&
             sound.window() <= sound.fft() && is_flag(sound.mean()) && is_flag(sound.scale()) &&
             sound.rate() > 40;
    case file::SoundFeatures::decibels:
      return sized && fits_decibels(sound);
  }
  return false;
}

/// Says whether a sound of any length can be cut as the file says, into pieces that memory holds.
bool fits_cuts(const file::Sound& sound) {
  const float longest = sound.longest(), margin = sound.margin();
  const float rate = static_cast<float>(sound.rate());
  if (longest == 0.0f) return margin == 0.0f;
  return longest > 0.0f && margin >= 0.0f && longest * rate <= static_cast<float>(kMaxContext) &&
         (longest - 2.0f * margin) * rate >= 1.0f;
}

}  // namespace

mote_status check_sound(const mote_model& model, mote_error* error) {
  const file::Sound* sound = model.root->sound();
  if (sound == nullptr) return MOTE_OK;
  if (sound->kind() > file::SoundKind::MAX || sound->features() > file::SoundFeatures::MAX) {
    return fail(error, MOTE_UNSUPPORTED_FILE, "sound is of an unknown kind; a newer mote made this file");
  }
  const bool whole = model.encoder || model.sources;
  const bool heard = whole && input_width(*model.root->programs()->Get(whole_program(model))) != 0;
  const int32_t blank = sound->blank();  // of CTC, whose outputs are of labels, each with a name
  const bool named =
      blank == -1 || (blank >= 0 && static_cast<uint32_t>(blank) < size_of(model.root->labels()) &&
                      model.program->output_kind() == file::OutputKind::token_labels);
  const bool sized = sound->rate() > 0 && sound->rate() <= kMaxContext && sound->window() <= kMaxContext &&
                     (sound->kind() != file::SoundKind::waveform || sound->window() > 0);
  const bool compared = sound->similarity_scale() >= 0.0f && sound->similarity_scale() < INFINITY;
  if (heard && named && sized && compared && fits_squares(model, *sound) && fits_features(model, *sound) &&
      fits_cuts(*sound))
    return MOTE_OK;
  return fail(error, MOTE_CORRUPT_FILE, "the sound is not what the model takes");
}

}  // namespace mote

extern "C" {

void mote_model_get_sound(const mote_model* model, mote_sound_info* info) {
  *info = {};
  info->blank = -1;
  const mote::file::Sound* sound = model->root->sound();
  if (sound == nullptr) return;
  *info = {sound->rate(),
           sound->kind() == mote::file::SoundKind::waveform ? 1u : 0u,
           sound->window(),
           sound->normalize() ? 1u : 0u,
           sound->blank(),
           sound->patch(),
           sound->frame_step(),
           sound->bin_step(),
           sound->frames(),
           sound->bins(),
           sound->before(),
           static_cast<mote_sound_features>(sound->features()),
           sound->fft(),
           sound->hop(),
           sound->scale(),
           sound->mean(),
           sound->longest(),
           sound->margin(),
           static_cast<mote_sound_filling>(sound->filling()),
           sound->lowest(),
           sound->highest(),
           sound->similarity_scale(),
           0,
           {}};
}

int mote_sound_cleans_up(const mote_model* model) {
  const mote::file::Sound* sound = model->root->sound();
  return sound != nullptr && sound->cleans_up() ? 1 : 0;
}

uint32_t mote_sound_rows(const mote_model* model, uint64_t samples) {
  const mote::file::Sound* sound = model->root->sound();
  if (sound == nullptr) return 0;
  if (sound->features() == mote::file::SoundFeatures::normalized_filter_bank) {
    if (samples < sound->window()) return 0;
    const uint64_t frames = (samples - sound->window()) / sound->hop() + 1;
    return frames > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(frames);
  }
  if (sound->kind() != mote::file::SoundKind::waveform) return 0;
  const uint32_t width = mote::input_width(*model->root->programs()->Get(mote::whole_program(*model)));
  const uint32_t window = sound->window();
  if (samples < window) return 0;
  const uint64_t rows = (samples - window) / width + (window + width - 1) / width;
  return rows > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(rows);
}

}  // extern "C"
