// SPDX-License-Identifier: Apache-2.0
//
// What answers keep to: the grammar in flash, where the build names one (MOTE_FIRMWARE_GRAMMAR).
#pragma once

#include "image.h"
#include "mote/grammar.h"
#include "options.h"

namespace image {

#ifdef MOTE_FIRMWARE_GRAMMAR

extern "C" {
extern const unsigned char firmware_grammar[], firmware_grammar_end[];
extern const unsigned char firmware_vocabulary[], firmware_vocabulary_end[];
}

/// Memory of one answer; what is open points into flash.
class Shape {
 public:
  [[gnu::noinline]] mote_status open(const mote_model* model) {
    mote_status status = MOTE_OK;
    if (MOTE_CONFIG_VOCABULARY_BYTES == 0) {
      status = mote_model_vocabulary(model, &vocabulary_, &error);
    } else {
      mote_model_info info;
      mote_model_get_info(model, &info);
      const size_t bytes = static_cast<size_t>(firmware_vocabulary_end - firmware_vocabulary);
      status = mote_vocabulary_open(firmware_vocabulary, bytes, info.stop_ids, info.stop_count, &vocabulary_,
                                    &error);
    }
    if (status != MOTE_OK) return status;
    return mote_grammar_open(firmware_grammar, static_cast<size_t>(firmware_grammar_end - firmware_grammar),
                             &vocabulary_, &grammar_, &error);
  }
  /// Begins an answer of the generation.
  [[gnu::noinline]] mote_status begin(mote_generation* generation) {
    constraint_ = {};
    constraint_.mask = mask_;
    constraint_.scratch = scratch_;
    constraint_.scratch_bytes = sizeof scratch_;
    generation->constraint = &constraint_;
    return mote_matcher_init(matcher_, sizeof matcher_, &grammar_, &constraint_.matcher, &error);
  }

 private:
  mote_vocabulary vocabulary_;
  mote_grammar grammar_;
  mote_constraint constraint_;
  uint64_t matcher_[(MOTE_CONFIG_MATCHER_BYTES + 7) / 8];
  uint64_t scratch_[(MOTE_CONFIG_MATCHER_SCRATCH_BYTES + 7) / 8];
  uint32_t mask_[MOTE_CONFIG_MASK_WORDS];
};

#else

class Shape {
 public:
  mote_status open(const mote_model*) { return MOTE_OK; }
  mote_status begin(mote_generation*) { return MOTE_OK; }
};

#endif

}  // namespace image
