// SPDX-License-Identifier: Apache-2.0
//
// Sound in, probabilities of labels out: resampled, as squares of filter banks, encoded.
#include "mote/sound.h"
#include "mote/task.h"
#include "runtime/error.h"
#include "runtime/exec/encode.h"
#include "runtime/exec/session.h"

namespace mote {
namespace {

/// The steps from samples to rows, and where in the caller's memory each leaves what it makes.
struct SoundSteps {
  mote_sound_info sound;
  mote_resampling rate;
  mote_filter_bank bank;
  uint32_t samples, rows;  // that the model takes
  float *weights, *resampled, *scratch, *spectrum, *squares;
};

mote_status describe(const mote_model& model, uint32_t rate, SoundSteps* steps, mote_error* error) {
  mote_task_info task;
  mote_model_get_task(&model, &task);
  mote_model_get_sound(&model, &steps->sound);
  if (task.task != MOTE_TASK_LABEL_SOUNDS) {
    return fail(error, MOTE_WRONG_STATE, "this model is for the task ", mote_model_task_name(task.task),
                ", not ", mote_model_task_name(MOTE_TASK_LABEL_SOUNDS));
  }
  mote_status status = mote_sound_filter_bank(&steps->sound, &steps->bank, error);
  if (status == MOTE_OK) status = mote_resampling_of(rate, steps->sound.rate, &steps->rate, error);
  if (status != MOTE_OK) return status;
  const uint64_t samples = uint64_t{steps->sound.frames - 1} * steps->sound.hop + steps->sound.window;
  steps->rows = mote_sound_square_rows(&steps->sound);
  if (samples > UINT32_MAX) return fail(error, MOTE_CORRUPT_FILE, "the sound is longer than memory");
  steps->samples = static_cast<uint32_t>(samples);
  return MOTE_OK;
}

/// Places what the steps make; the bytes that it takes.
uint64_t place(SoundSteps* steps, float* memory) {
  uint64_t taken = 0;
  const auto take = [&](uint64_t count) {
    float* const from = memory == nullptr ? nullptr : memory + taken;
    taken += count;
    return from;
  };
  const mote_sound_info& sound = steps->sound;
  const bool resamples = steps->rate.reach != 0;
  steps->weights = take(mote_resample_bytes(&steps->rate) / sizeof(float));
  steps->resampled = take(resamples ? steps->samples : 0);
  steps->scratch = take(mote_filter_bank_bytes(&steps->bank) / sizeof(float));
  steps->spectrum = take(uint64_t{sound.frames} * sound.bins);
  steps->squares = take(uint64_t{steps->rows} * sound.patch * sound.patch);
  return taken * sizeof(float);
}

/// Fills the squares.
mote_status make_squares(const SoundSteps& steps, const float* samples, uint64_t count, mote_error* error) {
  const mote_status status = mote_filter_bank_init(&steps.bank, steps.scratch, error);
  if (status != MOTE_OK) return status;
  if (steps.rate.reach != 0) {
    mote_resample_init(&steps.rate, steps.weights);
    const uint64_t all = mote_resample_count(&steps.rate, count);
    const uint32_t taken = all < steps.samples ? static_cast<uint32_t>(all) : steps.samples;
    mote_resample(&steps.rate, steps.weights, samples, 0, count, 0, taken, steps.resampled);
    samples = steps.resampled;
    count = taken;
  }
  mote_filter_bank_frames(&steps.bank, steps.scratch, samples, count, 0, steps.sound.frames, steps.spectrum);
  mote_sound_squares(&steps.sound, steps.spectrum, steps.squares);
  return MOTE_OK;
}

}  // namespace
}  // namespace mote

extern "C" {

size_t mote_classify_sound_bytes(const mote_model* model, uint32_t rate) {
  mote::SoundSteps steps{};
  if (mote::describe(*model, rate, &steps, nullptr) != MOTE_OK) return 0;
  const uint64_t bytes = mote::place(&steps, nullptr);
  return bytes <= SIZE_MAX / 2 ? static_cast<size_t>(bytes) : 0;
}

mote_status mote_classify_sound(mote_session* session, const float* samples, uint64_t count, uint32_t rate,
                                void* memory, size_t memory_bytes, float* out, uint32_t width,
                                mote_error* error) {
  if (session == nullptr || memory == nullptr || (samples == nullptr && count != 0))
    return mote::fail(error, MOTE_INVALID_ARGUMENT, "mote_classify_sound: null pointer");
  mote::SoundSteps steps{};
  mote_status status = mote::describe(*session->model, rate, &steps, error);
  if (status == MOTE_OK) {
    status = mote::check_output_kind(session, mote::file::OutputKind::sequence_labels, out, width, error);
  }
  if (status != MOTE_OK) return status;
  const uint64_t bytes = mote::place(&steps, static_cast<float*>(memory));
  if (reinterpret_cast<uintptr_t>(memory) % alignof(float) != 0)
    return mote::fail(error, MOTE_NOT_ALIGNED, "mote_classify_sound: the memory is not 4-byte aligned");
  if (memory_bytes < bytes) {
    return mote::fail(error, MOTE_TOO_SMALL, "mote_classify_sound takes ", bytes, " bytes, there are ",
                      uint64_t{memory_bytes});
  }
  status = mote::make_squares(steps, samples, count, error);
  if (status != MOTE_OK) return status;
  mote_batch batch{};
  batch.lengths = &steps.rows;
  batch.count = 1;
  batch.values = steps.squares;
  status = mote_encode(session, &batch, error);
  return status == MOTE_OK ? mote_probabilities(session, 0, out, width, error) : status;
}

}  // extern "C"
