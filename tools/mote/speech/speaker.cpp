// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/speech/speaker.h"

#include <algorithm>

namespace mote::cli {
namespace {

constexpr uint32_t kLeastFrames = 128, kMostFrames = 1u << 16;
constexpr uint32_t kFramesOfToken = 4;  // that there is room for at first

/// All samples of an utterance that has begun.
void read_samples(const Session& session, const mote_voice_info& voice, mote_utterance* begun,
                  const std::string& what, std::vector<float>& samples) {
  std::vector<float> piece(size_t{voice.piece} * voice.hop);
  mote_error error = {};
  for (size_t count = 1; count != 0;) {
    check(mote_speak_next(session.get(), begun, piece.data(), piece.size(), &count, &error), error, what);
    samples.insert(samples.end(), piece.begin(), piece.begin() + static_cast<ptrdiff_t>(count));
  }
}

}  // namespace

bool speaks(const ModelFile& file) {
  mote_voice_info voice;
  mote_model_get_voice(file.model(), &voice);
  return voice.rate != 0;
}

Utterance speak(const ModelFile& file, const mote_session_options& given, const std::vector<int32_t>& ids,
                const mote_speak_options& options, const std::string& what) {
  mote_voice_info voice;
  mote_model_get_voice(file.model(), &voice);
  mote_session_options of_session = given;
  const auto count = static_cast<uint32_t>(ids.size());
  of_session.batch = 1;
  of_session.context = std::clamp(count, 1u, file.info().context);
  for (uint32_t frames = std::max(kLeastFrames, kFramesOfToken * count);; frames *= 2) {
    of_session.chunk = of_session.logit_rows = std::min(frames, kMostFrames);
    const Session session(file, of_session);
    std::vector<uint64_t> memory(mote_speak_bytes(session.get()) / sizeof(uint64_t) + 1);
    mote_utterance* begun = nullptr;
    mote_error error = {};
    const mote_status status = mote_speak_begin(session.get(), ids.data(), count, &options, memory.data(),
                                                memory.size() * sizeof(uint64_t), &begun, &error);
    if (status == MOTE_CONTEXT_FULL && frames < kMostFrames && count <= of_session.context) continue;
    check(status, error, what);
    Utterance utterance;
    utterance.latent_width = voice.latents;
    const uint32_t* durations = mote_utterance_durations(begun);
    utterance.durations.assign(durations, durations + count);
    const float* latents = mote_utterance_latents(begun);
    utterance.latents.assign(latents, latents + size_t{mote_utterance_frames(begun)} * voice.latents);
    read_samples(session, voice, begun, what, utterance.samples);
    return utterance;
  }
}

}  // namespace mote::cli
