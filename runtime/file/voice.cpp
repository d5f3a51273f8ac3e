// SPDX-License-Identifier: Apache-2.0
//
// The parts of a model that speaks.
#include "mote/voice.h"

#include <math.h>

#include "runtime/error.h"
#include "runtime/file/voice.h"

namespace mote {
namespace {

/// Says whether a number may be a default of noise or speed.
bool is_number(float value, float least) { return isfinite(value) && value >= least; }

bool is_plain(const file::Program& program) {
  const auto* streams = program.streams();
  return is_whole(program) && program.output_kind() == file::OutputKind::hidden &&
         streams->Get(selected_of(program))->kind() == file::StreamKind::token;
}

}  // namespace

VoiceWidths voice_widths(const mote_model& model) {
  const auto& programs = *model.root->programs();
  const file::Program& samples = *programs.Get(kSampleProgram);
  return {input_width(*programs.Get(kDurationProgram)) - kDurationNoise, input_width(samples),
          samples.output()->width()};
}

mote_status check_voice(const mote_model& model, mote_error* error) {
  const file::Voice* voice = model.root->voice();
  if (voice == nullptr) return MOTE_OK;
  const auto& programs = *model.root->programs();
  bool fits = model.encoder && programs.size() == kVoicePrograms && takes_ids(*model.program) &&
              is_number(voice->speed(), 1e-3f) && is_number(voice->noise(), 0.0f) &&
              is_number(voice->duration_noise(), 0.0f) && voice->rate() > 0 && voice->rate() <= kMaxContext &&
              (voice->speakers() == nullptr || voice->speakers()->size() == model.root->token_types()) &&
              voice->speaker() < model.root->token_types();
  for (uint32_t i = 0; fits && i < kVoicePrograms; ++i) {
    const file::Program& program = *programs.Get(i);
    fits = i == kSampleProgram ? program.output_kind() == file::OutputKind::hidden : is_plain(program);
  }
  if (fits) {
    const file::Program &durations = *programs.Get(kDurationProgram), &flow = *programs.Get(kFlowProgram),
                        &samples = *programs.Get(kSampleProgram);
    const uint64_t latents = input_width(samples), stored = model.program->output()->width();
    const uint32_t most = context_of(*model.root, samples), stream = selected_of(samples);
    fits = latents > 0 && input_width(flow) == latents && flow.output()->width() == latents &&
           input_width(durations) > kDurationNoise &&
           stored == input_width(durations) - kDurationNoise + 2 * latents &&
           durations.output()->width() == 1 && most > 2 * uint64_t{voice->reach()} &&
           rows_of_sequence(samples, stream, 1) == 1 && rows_of_sequence(samples, stream, most) == most;
  }
  return fits ? MOTE_OK : fail(error, MOTE_CORRUPT_FILE, "what is said of a voice does not fit the model");
}

}  // namespace mote

extern "C" {

void mote_model_get_voice(const mote_model* model, mote_voice_info* info) {
  *info = {};
  const mote::file::Voice* voice = model->root->voice();
  if (voice == nullptr) return;
  const mote::VoiceWidths widths = mote::voice_widths(*model);
  info->rate = voice->rate();
  info->hop = widths.hop;
  info->latents = widths.latents;
  info->piece = mote::most_piece(*model);
  info->speed = voice->speed();
  info->noise = voice->noise();
  info->duration_noise = voice->duration_noise();
  info->speakers = model->root->token_types();
  info->speaker = voice->speaker();
}

const char* mote_model_speaker(const mote_model* model, uint32_t speaker) {
  const mote::file::Voice* voice = model->root->voice();
  const auto* names = voice == nullptr ? nullptr : voice->speakers();
  return names == nullptr || speaker >= names->size() ? nullptr : names->Get(speaker)->c_str();
}

const char* mote_model_phonemes(const mote_model* model) {
  const mote::file::Voice* voice = model->root->voice();
  return voice == nullptr || voice->phonemes() == nullptr ? nullptr : voice->phonemes()->c_str();
}

}  // extern "C"
