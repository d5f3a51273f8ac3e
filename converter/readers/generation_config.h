// SPDX-License-Identifier: Apache-2.0
//
// How the original generates by default over a source of ids: generation_config.json, or what older models
// have of it in config.json.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "converter/source.h"

namespace mote::convert {

/// As mote_beam_options has them.
struct BeamDefaults {
  uint32_t beams = 1;
  float length_penalty = 1.0f;
  uint8_t stop = 0;
  uint32_t max_tokens = 0, min_tokens = 0;
  int32_t forced_first_id = -1, forced_last_id = -1;
  std::vector<int32_t> suppressed_ids = {};
  uint32_t no_repeat_ngram = 0;
  float repetition_penalty = 1.0f;
  int32_t start_id = -1;  // of the decoder, -1: config.json's
};

/// Keys that the user says to be harmless are in `ignored`. Throws Error for one that changes the results and
/// that a search does not know.
BeamDefaults read_beam_defaults(const Source& source, uint32_t vocab,
                                const std::vector<std::string>& ignored);

/// As mote_sampling and mote_token_rules have them.
struct GenerationDefaults {
  bool samples = false;
  float temperature = 1.0f, top_p = 1.0f, min_p = 0.0f;
  uint32_t top_k = 0;
  float repetition_penalty = 1.0f;
  uint32_t no_repeat_ngram = 0, shortest = 0, min_tokens = 0;
  std::vector<int32_t> forbidden = {}, suppressed_ids = {}, first_suppressed_ids = {};

  bool is_plain() const;
  /// "sampled at temperature 0.6, top_p 0.95; repetition_penalty 1.1", "" where it is plain.
  std::string describe() const;
};

/// How the original generates by default without a source of ids, as BeamDefaults are read.
GenerationDefaults read_generation_defaults(const Source& source, uint32_t vocab,
                                            const std::vector<std::string>& ignored);

/// Keys of generation_config.json that change what the original generates by default, or how long, and that
/// nobody reads here: the user is told.
std::vector<std::string> unread_generation_keys(const Source& source);

/// Returns the texts that config.json's task_specific_params put before a text, by the task's name
/// ("summarization").
std::vector<Prompt> read_task_prefixes(const Source& source);

/// Those that are not keys of a generation alone, which Config does not know.
std::vector<std::string> keys_of_config(const std::vector<std::string>& ignored);

}  // namespace mote::convert
