// SPDX-License-Identifier: Apache-2.0
//
// The thing that a model is for.
#include "mote/task.h"

#include "runtime/error.h"
#include "runtime/file/model.h"

namespace mote {
namespace {

/// The kinds of rows that a model takes: of the first program, or of its source where it has one.
enum class Taken : uint8_t { ids, pictures, sounds };

/// The properties that a model needs for a task.
struct Need {
  file::Task task;
  Taken taken;
  bool source;
  file::OutputKind output;  // of the first program
};

constexpr Need kNeeds[] = {
    {file::Task::generate, Taken::ids, false, file::OutputKind::next_token},
    {file::Task::rewrite, Taken::ids, true, file::OutputKind::next_token},
    {file::Task::embed_texts, Taken::ids, false, file::OutputKind::embedding},
    {file::Task::label_texts, Taken::ids, false, file::OutputKind::sequence_labels},
    {file::Task::score_pairs, Taken::ids, false, file::OutputKind::sequence_labels},
    {file::Task::label_tokens, Taken::ids, false, file::OutputKind::token_labels},
    {file::Task::find_answers, Taken::ids, false, file::OutputKind::answer_span},
    {file::Task::fill_masks, Taken::ids, false, file::OutputKind::masked_token},
    {file::Task::embed_pictures, Taken::pictures, false, file::OutputKind::embedding},
    {file::Task::label_pictures, Taken::pictures, false, file::OutputKind::sequence_labels},
    {file::Task::detect, Taken::pictures, false, file::OutputKind::boxes},
    {file::Task::measure_depth, Taken::pictures, false, file::OutputKind::depth},
    {file::Task::see, Taken::pictures, false, file::OutputKind::hidden},
    {file::Task::read_pictures, Taken::pictures, true, file::OutputKind::next_token},
    {file::Task::label_sounds, Taken::sounds, false, file::OutputKind::sequence_labels},
    {file::Task::transcribe_words, Taken::sounds, false, file::OutputKind::token_labels},
    {file::Task::transcribe_tokens, Taken::sounds, false, file::OutputKind::token_labels},
    {file::Task::transcribe_transducer, Taken::sounds, true, file::OutputKind::next_token},
    {file::Task::transcribe_windows, Taken::sounds, true, file::OutputKind::next_token},
    {file::Task::transcribe_greedy, Taken::sounds, true, file::OutputKind::next_token},
    {file::Task::transcribe_beams, Taken::sounds, true, file::OutputKind::next_token},
    {file::Task::speak, Taken::ids, false, file::OutputKind::hidden},
    {file::Task::embed_sounds, Taken::sounds, false, file::OutputKind::embedding},
};

bool takes(const mote_model& model, Taken taken) {
  const file::Model& root = *model.root;
  if (taken == Taken::pictures) return root.picture() != nullptr;
  if (taken == Taken::sounds) return root.sound() != nullptr;
  const uint32_t first = model.sources ? whole_program(model) : 0;
  return takes_ids(*root.programs()->Get(first)) && root.picture() == nullptr && root.sound() == nullptr;
}

/// Says whether what the file says of sound and speech suffices for the task.
bool hears(const file::Model& root, file::Task task) {
  using file::SoundFeatures;
  using file::Task;
  const file::Sound* sound = root.sound();
  const file::Speech* speech = root.speech();
  const SoundFeatures features = sound == nullptr ? SoundFeatures::none : sound->features();
  const bool waveform = sound != nullptr && sound->kind() == file::SoundKind::waveform;
  switch (task) {
    case Task::transcribe_words:
      return waveform && sound->blank() >= 0 && sound->longest() > 0.0f;
    case Task::transcribe_tokens:
      return features == SoundFeatures::normalized_log_mel && sound->blank() >= 0 && sound->longest() > 0.0f;
    case Task::transcribe_transducer:
      return features == SoundFeatures::normalized_log_mel && sound->longest() > 0.0f && speech != nullptr &&
             size_of(speech->durations()) != 0 && speech->tokens_of_frame() != 0;
    case Task::transcribe_windows:
      return features == SoundFeatures::log_mel && sound->frames() != 0 && speech != nullptr;
    case Task::transcribe_greedy:
      return (waveform || features == SoundFeatures::compressed_frames) && sound->longest() > 0.0f &&
             speech != nullptr && speech->tokens_of_second() > 0.0f &&
             sound->longest() * speech->tokens_of_second() <= static_cast<float>(kMaxContext);
    case Task::transcribe_beams:
      return !waveform &&
             (features == SoundFeatures::none || features == SoundFeatures::normalized_filter_bank);
    case Task::speak:
      return root.voice() != nullptr;
    default:
      return true;
  }
}

bool can_do(const mote_model& model, file::Task task) {
  if (task == file::Task::none) return true;
  for (const Need& need : kNeeds) {
    if (need.task != task) continue;
    return takes(model, need.taken) && model.sources == need.source &&
           model.program->output_kind() == need.output && hears(*model.root, task) &&
           (task != file::Task::score_pairs || size_of(model.root->labels()) == 1);
  }
  return false;
}

mote_status check_languages(const file::Model& root, const file::Purpose& purpose, mote_error* error) {
  const uint32_t count = size_of(purpose.languages());
  bool fits = count <= kMaxLabels;
  for (uint32_t i = 0; fits && i < count; ++i) {
    const int32_t id = purpose.languages()->Get(i)->id();
    fits = id >= 0 && static_cast<uint32_t>(id) < root.vocab();
  }
  if (!fits) return fail(error, MOTE_CORRUPT_FILE, "a language's token is none of the vocabulary");
  const uint32_t language = root.speech() == nullptr ? 0 : root.speech()->language();
  if (language <= count) return MOTE_OK;
  return fail(error, MOTE_CORRUPT_FILE, "texts are in language ", language, " of ", count);
}

}  // namespace

mote_status check_task(const mote_model& model, mote_error* error) {
  const file::Model& root = *model.root;
  const file::Purpose* purpose = root.purpose();
  if (purpose == nullptr) return MOTE_OK;
  const file::Task task = purpose->task();
  if (task > file::Task::MAX)
    return fail(error, MOTE_UNSUPPORTED_FILE, "the model's task is unknown; a newer mote made this file");
  if (purpose->mask_id() < -1 || purpose->mask_id() >= static_cast<int64_t>(root.vocab()))
    return fail(error, MOTE_CORRUPT_FILE, "the mask, token ", purpose->mask_id(),
                ", is none of the vocabulary");
  if (!can_do(model, task)) {
    return fail(error, MOTE_CORRUPT_FILE, "the task is ", file::EnumNameTask(task),
                ", which the model's programs and inputs are not made for");
  }
  return check_languages(root, *purpose, error);
}

}  // namespace mote

extern "C" {

const char* mote_model_task_name(mote_model_task task) {
  return mote::file::EnumNameTask(static_cast<mote::file::Task>(task));
}

void mote_model_get_task(const mote_model* model, mote_task_info* info) {
  *info = {};
  info->mask_id = -1;
  const mote::file::Purpose* purpose = mote::purpose_of(*model);
  if (purpose == nullptr) return;
  info->task = static_cast<mote_model_task>(purpose->task());
  info->mask_id = purpose->mask_id();
  info->languages = mote::size_of(purpose->languages());
  info->language_in_source = purpose->language_in_source() ? 1 : 0;
}

const char* mote_model_language(const mote_model* model, uint32_t language, int32_t* id) {
  const mote::file::Purpose* purpose = mote::purpose_of(*model);
  if (purpose == nullptr || language >= mote::size_of(purpose->languages())) return nullptr;
  const auto* languages = purpose->languages();
  if (id != nullptr) *id = languages->Get(language)->id();
  return languages->Get(language)->code()->c_str();
}

}  // extern "C"
