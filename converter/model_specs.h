// SPDX-License-Identifier: Apache-2.0
//
// The facts that a file states of a model beside its operations: how the model hears, speaks and sees.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mote::convert {

/// The schema's.
enum class SoundFeatures : uint8_t {
  none,
  log_mel,
  compressed_frames,
  normalized_log_mel,
  filter_bank,
  normalized_filter_bank,
  decibels
};

/// The schema's.
enum class SoundFilling : uint8_t { zeros, copies, cut_copies };

/// The schema's: what a model that hears takes of a waveform, or of rows made of it.
struct SoundSpec {
  bool waveform = true;
  uint32_t rate = 16000;
  uint32_t window = 0;
  bool normalize = false;
  int32_t blank = -1;
  uint32_t row_stride = 1;  // rows of a group that the layers read; not in the file
  uint32_t patch = 0, frame_step = 0, bin_step = 0, frames = 0, bins = 0, before = 0;
  SoundFeatures features = SoundFeatures::none;
  uint32_t fft = 0, hop = 0;
  float scale = 0.0f, mean = 0.0f;
  bool cleans_up = false;  // texts of labels
  float longest = 0.0f, margin = 0.0f;
  SoundFilling filling = SoundFilling::zeros;
  float lowest = 0.0f, highest = 0.0f;
  float similarity_scale = 0.0f;
};

/// The schema's.
enum class Task : uint8_t {
  none,
  generate,
  rewrite,
  embed_texts,
  label_texts,
  score_pairs,
  label_tokens,
  find_answers,
  fill_masks,
  embed_pictures,
  label_pictures,
  detect,
  measure_depth,
  see,
  read_pictures,
  label_sounds,
  transcribe_words,
  transcribe_tokens,
  transcribe_transducer,
  transcribe_windows,
  transcribe_greedy,
  transcribe_beams,
  speak,
  embed_sounds
};

/// The schema's: a language and the token that says so.
struct LanguageSpec {
  std::string code;
  int32_t id;
};

/// The schema's: ids of a decoder of speech that are no text, -1 for none.
struct SpeechSpec {
  int32_t transcribe = -1, translate = -1, no_timestamps = -1, first_timestamp = -1, previous = -1,
          no_speech = -1;
  std::vector<int32_t> suppressed, suppressed_first;
  std::vector<uint32_t> durations;
  uint32_t language = 0;
  bool translates = false, names_task = false;
  uint32_t timestamp_frames = 1, latest_first = 0;
  float tokens_of_second = 0.0f;
  uint32_t tokens_of_frame = 0;
  std::vector<uint32_t> alignment_heads;  // pairs
};

/// The schema's: what a model that reads texts takes of pictures.
struct VisionInputSpec {
  int32_t image_id = -1;
  uint32_t features = 0;  // of a picture's row: the width, and as much for each of the layers that get more
  bool mrope = false;
  uint32_t rows = 0;
  std::string token = {};  // image_id's, of the chat template
  std::string before = {}, after = {}, tile_before = {}, line_after = {}, whole_before = {}, user_before = {};
};

/// The schema's: of a model that speaks.
struct VoiceSpec {
  uint32_t rate = 16000, reach = 0;
  float speed = 1.0f, noise = 0.0f, duration_noise = 0.0f;
  std::string phonemes;               // the voice of espeak-ng; empty: tokens are of texts
  std::vector<std::string> speakers;  // names; empty: there are none
  uint32_t speaker = 0;               // by default
};

/// The schema's.
enum class GlobalDefault : uint8_t { none, first, before_separator };

/// The schema's: which tokens are global.
struct GlobalSpec {
  uint32_t type = 0;
  GlobalDefault by_default = GlobalDefault::none;
  int32_t separator = -1;
};

}  // namespace mote::convert
