// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tools/mote/speech/transducer.h"

namespace mote::cli {
namespace {

constexpr size_t kMostTokensOfFrame = 10;  // tokens

}  // namespace

void transcribe_transducer(const ModelFile& file, const mote_session_options& given, SoundSource& source,
                           const std::function<void(const Passage&)>& found) {
  mote_session_options options = given;
  options.batch = 2;
  options.chunk = token_rows(file);
  options.logit_rows = std::max(2u, mote_model_output_rows(file.model(), options.chunk));
  options.context = file.info().context;
  Session session(file, options);
  Transducer transducer(file, session);
  const auto hear = [&](std::span<const float> features, uint32_t frames) {
    return transducer.say(transducer.encode(features), kMostTokensOfFrame * frames);
  };
  transcribe_tokens(file, source, hear, found);
}

}  // namespace mote::cli
