// SPDX-License-Identifier: Apache-2.0
//
// The tokens that a decoder of speech writes besides text.
#include "mote/attention.h"
#include "mote/sound.h"
#include "runtime/error.h"
#include "runtime/file/model.h"

namespace mote {
namespace {

bool is_id(const mote_model& model, int32_t id) {
  return id >= -1 && id < static_cast<int64_t>(model.root->vocab());
}

/// Returns whether a transducer of so many durations is as it is used: a row of the first program is a token,
/// the blank before the first, and a row that the second makes of a sound; its outputs are of labels, then of
/// durations.
bool fits_transducer(const mote_model& model, uint32_t durations) {
  const auto& programs = *model.root->programs();
  if (model.encoder || programs.size() < 2 || !is_whole(*programs.Get(1))) return false;
  const file::Program& source = *programs.Get(1);
  const int64_t labels = int64_t{model.root->vocab()} - durations;
  return takes_ids(*model.program) && input_width(*model.program) == source.output()->width() &&
         input_width(source) != 0 && source.output_kind() == file::OutputKind::hidden &&
         model.root->bos_id() >= 0 && model.root->bos_id() < labels;
}

bool are_heads(const mote_model& model, const flatbuffers::Vector<uint32_t>* pairs) {
  if (size_of(pairs) % 2 != 0 || size_of(pairs) > kMaxRatio) return false;
  for (uint32_t i = 0; i < size_of(pairs); i += 2) {
    if (pairs->Get(i + 1) >= mote_model_source_heads(&model, pairs->Get(i))) return false;
  }
  return true;
}

}  // namespace

mote_status check_speech(const mote_model& model, mote_error* error) {
  const file::Speech* speech = model.root->speech();
  if (speech == nullptr) return MOTE_OK;
  bool sound = true;
  for (const int32_t id : {speech->transcribe(), speech->translate(), speech->no_timestamps(),
                           speech->first_timestamp(), speech->previous(), speech->no_speech()}) {
    sound = sound && is_id(model, id);
  }
  for (const auto* ids : {speech->suppressed(), speech->suppressed_first()}) {
    for (uint32_t i = 0; i < size_of(ids); ++i)
      sound = sound && ids->Get(i) >= 0 && is_id(model, ids->Get(i));
  }
  for (uint32_t i = 0; i < size_of(speech->durations()); ++i)
    sound = sound && speech->durations()->Get(i) <= kMaxContext;
  sound = sound && speech->timestamp_frames() - 1 < kMaxRatio && speech->latest_first() <= kMaxContext &&
          speech->tokens_of_frame() <= kMaxRatio && speech->tokens_of_second() >= 0.0f &&
          speech->tokens_of_second() <= static_cast<float>(kMaxRatio);
  sound = sound && are_heads(model, speech->alignment_heads());
  if (sound && size_of(speech->durations()) != 0)
    sound = fits_transducer(model, size_of(speech->durations()));
  return sound ? MOTE_OK : fail(error, MOTE_CORRUPT_FILE, "what is said of speech does not fit the model");
}

}  // namespace mote

extern "C" {

uint32_t mote_model_source_heads(const mote_model* model, uint32_t layer) {
  for (const mote::file::Op* op : *model->program->ops()) {
    const auto* attention = op->args_as_Attention();
    if (attention == nullptr || model->root->states()->Get(attention->state())->source() < 0) continue;
    if (layer-- == 0) return attention->heads();
  }
  return 0;
}

void mote_model_get_speech(const mote_model* model, mote_speech_info* info) {
  *info = {};
  info->transcribe = info->translate = info->no_timestamps = info->first_timestamp = -1;
  info->previous = info->no_speech = -1;
  const mote::file::Speech* speech = model->root->speech();
  if (speech == nullptr) return;
  info->transcribe = speech->transcribe();
  info->translate = speech->translate();
  info->no_timestamps = speech->no_timestamps();
  info->first_timestamp = speech->first_timestamp();
  info->previous = speech->previous();
  info->no_speech = speech->no_speech();
  info->suppressed_count = mote::size_of(speech->suppressed());
  info->suppressed_first_count = mote::size_of(speech->suppressed_first());
  info->duration_count = mote::size_of(speech->durations());
  info->suppressed = mote::data_of(speech->suppressed());
  info->suppressed_first = mote::data_of(speech->suppressed_first());
  info->durations = mote::data_of(speech->durations());
  info->language = speech->language();
  info->translates = speech->translates() ? 1 : 0;
  info->names_task = speech->names_task() ? 1 : 0;
  info->timestamp_frames = speech->timestamp_frames();
  info->latest_first = speech->latest_first();
  info->tokens_of_second = speech->tokens_of_second();
  info->tokens_of_frame = speech->tokens_of_frame();
  info->alignment_heads = mote::data_of(speech->alignment_heads());
  info->alignment_head_count = mote::size_of(speech->alignment_heads()) / 2;
}

}  // extern "C"
