// SPDX-License-Identifier: Apache-2.0
//
// Sessions over a file that never changes, so that kept snapshots stay what they are.
#pragma once

#include "tests/support/any_file.h"
#include "tests/support/files.h"

namespace fuzz {

enum : uint8_t { kTwoSequences = 2, kF32Cache = 4 };

inline const mote_model* kept_model() {
  static const mote_model* const model = [] {
    const std::string content =
        mote::test::read_text(std::string(MOTE_SOURCE_DIR) + "/tests/golden/formats/v1_decoder.mote");
    static const test::AlignedBytes file(content.data(), content.size());
    static const test::AlignedBytes storage(mote_model_bytes());
    mote_model* opened = nullptr;
    mote_error error{};
    test::must(mote_model_open(file.data(), file.size(), 0, storage.data(), storage.size(), &opened,
                               &error) == MOTE_OK);
    return opened;
  }();
  return model;
}

/// A new session, valid until the next call; the kernels are the same on every machine.
inline mote_session* small_session(uint8_t flags) {
  static const test::AlignedBytes arena(size_t{1} << 20);
  mote_session_options options = mote_session_options_default(kept_model());
  options.context = 16;
  options.chunk = 4;
  options.text_bytes = 256;
  options.isa = MOTE_ISA_REF;
  options.batch = (flags & kTwoSequences) != 0 ? 2 : 1;
  options.logit_rows = options.batch;
  options.kv_dtype = (flags & kF32Cache) != 0 ? MOTE_KV_F32 : MOTE_KV_F16;
  mote_session* session = nullptr;
  mote_error error{};
  test::must(mote_session_init(kept_model(), &options, arena.data(), arena.size(), &session, &error) ==
             MOTE_OK);
  return session;
}

}  // namespace fuzz
