// SPDX-License-Identifier: Apache-2.0
//
// mote/host.h: speech to text, text to speech.
#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>

#include "host/api/answers.h"
#include "host/api/guesses.h"
#include "host/api/kept_texts.h"
#include "host/api/media.h"
#include "host/api/result.h"
#include "host/api/speech_options.h"
#include "host/api/transcript.h"
#include "host/inputs/sound_file_input.h"
#include "host/media/deflated.h"
#include "host/media/microphone.h"
#include "host/media/writers/sound_writer.h"
#include "host/tasks/picture_encoder.h"
#include "host/tasks/sound/live.h"
#include "host/tasks/sound/sound_labels.h"
#include "host/tasks/sound/sound_vectors.h"
#include "host/tasks/sound/source_text.h"
#include "host/tasks/sound/speaker.h"
#include "host/tasks/sound/spoken_input.h"
#include "host/tasks/sound/transcribe.h"
#include "host/tasks/text.h"
#include "mote/mote.h"

namespace mote::api {
namespace {

using nlohmann::json;

/// Samples that a caller holds.
class GivenSamples : public cli::SoundSource {
 public:
  GivenSamples(std::span<const float> samples, uint32_t rate) : samples_(samples), rate_(rate) {}
  uint32_t rate() const override { return rate_; }
  size_t read(std::span<float> out) override {
    const size_t count = std::min(out.size(), samples_.size() - at_);
    std::copy_n(samples_.begin() + static_cast<std::ptrdiff_t>(at_), count, out.begin());
    at_ += count;
    return count;
  }
  void rewind() override { at_ = 0; }

 private:
  std::span<const float> samples_;
  uint32_t rate_;
  size_t at_ = 0;
};

std::unique_ptr<cli::SoundSource> source_of(const mote_host_input& input, bool once = false) {
  if (input.data != nullptr)
    return cli::open_sound({static_cast<const std::byte*>(input.data), input.data_bytes});
  if (input.samples != nullptr && input.rate != 0 && input.sample_count <= SIZE_MAX / sizeof(float)) {
    return std::make_unique<GivenSamples>(std::span(input.samples, static_cast<size_t>(input.sample_count)),
                                          input.rate);
  }
  if (input.path != nullptr) return cli::open_sound(std::string(input.path), once);
  throw OptionError("an input is no sound");
}

host::Status read_picture(mote_host& opened, const mote_host_input& input, const mote_host_calls* calls,
                          Reply& reply) {
  const host::Model& model = *opened.model;
  MOTE_TRY(host::require_source_text(model));
  mote_picture_info info;
  mote_error error = {};
  MOTE_TRY(host::from_core(mote_model_get_picture(model.get(), &info, &error), error, model.name()));
  const host::Hooks hooks = hooks_of(opened, calls);
  const Picture picture(input);
  const std::vector<float> pixels = pictures::pixel_values(picture.rows(hooks), info);
  const Turn turn(opened, "transcribe", hooks);
  MOTE_TAKE(const std::string text,
            host::read_picture(model, opened.choices(turn->platform()), pixels, hooks, picture.name()));
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  reply.bytes.assign(bytes, bytes + text.size());
  reply.json = {{"text", text}};
  return {};
}

host::Status detect_language(mote_host& opened, const Turn& turn, host::SoundInput& sound,
                             const host::Hooks& hooks, Reply& reply) {
  const host::Model& model = *opened.model;
  MOTE_TRY(host::require_whisper(model));
  MOTE_TAKE(const auto found, host::detect_language(model, opened.choices(turn->platform()), sound, hooks));
  json languages = json::array();
  for (const host::LanguageProbability& one : found)
    languages.push_back({{"language", one.code}, {"probability", one.probability}});
  const std::string& code = found.front().code;
  const auto* const bytes = reinterpret_cast<const std::byte*>(code.data());
  reply.bytes.assign(bytes, bytes + code.size());
  reply.json = {{"language", code}, {"languages", std::move(languages)}};
  return {};
}

host::Result<host::LiveTranscript> transcribe_live(const host::Model& model,
                                                   const host::SessionChoices& choices,
                                                   host::SoundInput& sound, const SpeechOptions& options,
                                                   const host::Hooks& hooks, const mote_host_calls* calls,
                                                   CollectedTranscript& collected) {
  host::Hooks of_stretch = hooks;
  of_stretch.progress = {};  // nobody knows how long the sound is
  const auto hear = [&](host::SoundInput& stretch, const host::TranscribeOptions& wanted,
                        const host::OnPassage& found) {
    return host::transcribe(model, choices, stretch, wanted, of_stretch, found);
  };
  host::OnPartial partial;
  if (options.partial && calls != nullptr && calls->partial != nullptr) {
    partial = [calls](std::string_view text, size_t agreed) {
      calls->partial(calls->user, text.data(), text.size(), agreed);
    };
  }
  return host::transcribe_live(
      model, sound, options.transcribe, hooks, hear,
      [&](const host::Passage& passage) { collected.add(passage); }, [&] { collected.end(); }, partial);
}

host::Status transcribe(mote_host& opened, const mote_host_input& input, const char* json_options,
                        const mote_host_calls* calls, Reply& reply) {
  const host::Model& model = *opened.model;
  SpeechOptions read = read_speech_options(json_options);
  host::TranscribeOptions& wanted = read.transcribe;
  wanted.deflated = host::deflater();
  if (model.task() == MOTE_TASK_READ_PICTURES) return read_picture(opened, input, calls, reply);
  MOTE_TRY(host::require_speech(model, wanted));
  std::unique_ptr<cli::SoundSource> source = read.listen.empty()
                                                 ? source_of(input, read.live)
                                                 : cli::open_microphone(read.listen, model.sound().rate);
  source->choose(read.channel, name_of(input, "sound"));
  host::SoundFileInput sound(std::move(source), model.sound().rate);
  const host::Hooks hooks = hooks_of(opened, calls);
  const Turn turn(opened, "transcribe", hooks);
  if (read.detects_language) {
    host::CutInput part = host::part_of(sound, wanted.part, model.sound().rate);
    host::SpokenInput spoken(part);
    return detect_language(opened, turn, wanted.vad ? static_cast<host::SoundInput&>(spoken) : part, hooks,
                           reply);
  }
  if (model.task() == MOTE_TASK_TRANSCRIBE_WINDOWS && !wanted.deflated)
    hooks.say("this build has no zlib, which tells texts that repeat themselves: they stay");
  CollectedTranscript collected(model, wanted.words, calls);
  const host::SessionChoices choices = opened.choices(turn->platform());
  MOTE_TAKE(wanted.guesses.draft, draft_wanted(opened, wanted.guesses.options));
  const auto add = [&](const host::Passage& passage) { collected.add(passage); };
  host::Transcript transcript;
  if (read.live) {
    MOTE_TAKE(host::LiveTranscript live,
              transcribe_live(model, choices, sound, read, hooks, calls, collected));
    transcript = std::move(live.transcript);
    collected.add(live.latency);
  } else {
    MOTE_TAKE(transcript, host::transcribe(model, choices, sound, wanted, hooks, add));
    collected.end();
  }
  reply.json = collected.json();
  const std::string text = collected.text();
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  reply.bytes.assign(bytes, bytes + text.size());
  reply.json["heard"] = transcript.heard;
  if (read.tells_guesses) reply.json["speculation"] = guesses_json(transcript.guesses);
  if (!transcript.language.empty()) reply.json["language"] = transcript.language;
  if (const std::string damage = sound.damage(); !damage.empty()) reply.json["damage"] = damage;
  return {};
}

constexpr float kMostNoise = 10.0f;

host::Result<host::SpokenLines> spoken_lines(const host::Model& model, const host::SessionChoices& choices,
                                             const mote_host_input& input, bool is_phonemes) {
  if (is_ids(input)) {
    std::vector<int32_t> ids = ids_of(input);
    if (ids.empty()) return host::failed("{}: there are none", name_of(input, "ids"));
    MOTE_TRY(host::check_ids(model, ids, name_of(input, "ids")));
    return host::SpokenLines({std::move(ids)});
  }
  return host::SpokenLines::make(model, choices, text_of(input), is_phonemes);
}

host::Status speak(mote_host& opened, const mote_host_input& input, const char* json_options,
                   const mote_host_calls* calls, Reply& reply) {
  const host::Model& model = *opened.model;
  Options options(json_options);
  host::SpeakOptions wanted;
  options.read("seed", wanted.seed);
  options.read("speed", wanted.speed, 0.1f, 10.0f);
  options.read("noise", wanted.noise, 0.0f, kMostNoise);
  options.read("duration-noise", wanted.duration_noise, 0.0f, kMostNoise);
  bool is_phonemes = false;
  options.read("phonemes", is_phonemes);
  std::string output;
  options.read("output", output);
  bool keeps = true;
  options.read("values", keeps);
  const std::optional<cli::SoundFormat> format = cli::sound_format(output);
  nlohmann::ordered_json given_speaker;
  options.read("speaker", given_speaker);
  options.finish();
  if (model.task() != MOTE_TASK_SPEAK) return host::failed("{} does not speak", model.name());
  if (format && !keeps) return host::failed("output and no values exclude each other");
  if (!output.empty() && !format)
    return host::failed("{}: its name ends in none of {}, which are written", output, cli::written_sounds());
  mote_voice_info voice;
  mote_model_get_voice(model.get(), &voice);
  if (!given_speaker.is_null()) {
    const bool is_text = given_speaker.is_string();
    MOTE_TAKE(wanted.speaker,
              host::find_speaker(model, is_text ? given_speaker.get<std::string>() : given_speaker.dump()));
  }
  const host::Hooks hooks = hooks_of(opened, calls);
  const Turn turn(opened, "speak", hooks);
  const host::SessionChoices choices = opened.choices(turn->platform());
  MOTE_TAKE(host::SpokenLines lines, spoken_lines(model, choices, input, is_phonemes));
  std::unique_ptr<cli::SoundWriter> file;
  if (format) {
    MOTE_TAKE(lines, host::fitting_lines(model, std::move(lines), cli::most_samples(*format), output));
    file = cli::sound_writer(*format, output, voice.rate);
  }
  uint64_t count = 0;
  const mote_host_calls heard = calls == nullptr ? mote_host_calls{} : *calls;
  std::exception_ptr broken;  // of the file: tasks have no exceptions
  host::Hooks until_broken = hooks;
  until_broken.stop = [&] { return broken || hooks.stopped(); };
  const host::Status said =
      host::speak(model, choices, std::move(lines), wanted, until_broken, [&](std::span<const float> more) {
        if (broken) return;
        if (file) {
          try {
            file->add(more);
          } catch (...) {
            broken = std::current_exception();
            return;
          }
        } else if (keeps) {
          reply.values.insert(reply.values.end(), more.begin(), more.end());
        }
        count += more.size();
        if (heard.samples != nullptr) heard.samples(heard.user, more.data(), more.size(), voice.rate);
      });
  if (broken) std::rethrow_exception(broken);
  MOTE_TRY(said);
  if (file) file->commit();
  reply.json = {
      {"rate", voice.rate}, {"samples", count}, {"seconds", static_cast<double>(count) / voice.rate}};
  reply.shape = {reply.values.size()};
  return {};
}

/// Vectors that a worker makes, and the last texts that sounds were compared with.
struct KeptSounds {
  host::SoundVectors vectors;
  KeptTexts compared;
  size_t memory_bytes() const { return vectors.memory_bytes(); }
};

host::Result<KeptSounds*> kept_sounds(mote_host& opened, Turn& turn) {
  return turn->task<KeptSounds>("sound vectors", [&]() -> host::Result<KeptSounds> {
    MOTE_TAKE(host::SoundVectors vectors,
              host::SoundVectors::make(*opened.model, opened.choices(turn->platform())));
    return KeptSounds{std::move(vectors), {}};
  });
}

/// Labels sounds by the texts that their vectors are compared with.
host::Status compare_sounds(mote_host& opened, Inputs sounds, const std::vector<std::string>& words,
                            uint32_t top, const host::Hooks& hooks, Reply& reply) {
  const host::Model& model = *opened.model;
  Turn turn(opened, "sound vectors", hooks);
  MOTE_TAKE(KeptSounds* const kept, kept_sounds(opened, turn));
  MOTE_TRY(host::require_similarity(model));
  MOTE_TRY(kept->compared.take(opened, turn->platform(), words, hooks));
  reply.json = json::array();
  for (const mote_host_input& input : sounds) {
    host::SoundFileInput sound(source_of(input), model.sound().rate);
    MOTE_TAKE(const std::vector<float> vector, kept->vectors.of(sound, hooks, name_of(input, "sound")));
    MOTE_TAKE(const std::vector<float> probabilities,
              kept->compared.texts->probabilities(vector, {model.sound().similarity_scale, 0.0f}));
    reply.json.push_back({{"labels", labels_json(probabilities, top, [&](uint32_t i) { return words[i]; })}});
  }
  return {};
}

}  // namespace

host::Status classify_sounds(mote_host& opened, Inputs inputs, uint32_t top, const mote_host_calls* calls,
                             Reply& reply) {
  const host::Model& model = *opened.model;
  const host::Hooks hooks = hooks_of(opened, calls);
  size_t heard = 0;
  while (heard < inputs.size() && !is_text(inputs[heard])) ++heard;
  const std::vector<std::string> words = texts_of(inputs.subspan(heard));
  if (model.task() == MOTE_TASK_EMBED_SOUNDS)
    return compare_sounds(opened, inputs.first(heard), words, top, hooks, reply);
  if (!words.empty()) return host::failed("{} does not compare sounds with texts", model.name());
  Turn turn(opened, "sounds", hooks);
  MOTE_TAKE(host::SoundClassifier* const classifier, turn->task<host::SoundClassifier>("sounds", [&] {
    return host::SoundClassifier::make(model, opened.choices(turn->platform()));
  }));
  reply.json = json::array();
  for (const mote_host_input& input : inputs) {
    host::SoundFileInput sound(source_of(input), model.sound().rate);
    MOTE_TAKE(const std::vector<float> probabilities,
              classifier->probabilities(sound, hooks, name_of(input, "sound")));
    reply.json.push_back(
        {{"labels", labels_json(probabilities, top, [&](uint32_t i) { return model.label(i); })}});
  }
  return {};
}

host::Status embed_sounds(mote_host& opened, Inputs inputs, const mote_host_calls* calls, Reply& reply) {
  const host::Model& model = *opened.model;
  const host::Hooks hooks = hooks_of(opened, calls);
  Turn turn(opened, "sound vectors", hooks);
  MOTE_TAKE(KeptSounds* const kept, kept_sounds(opened, turn));
  for (const mote_host_input& input : inputs) {
    host::SoundFileInput sound(source_of(input), model.sound().rate);
    MOTE_TAKE(const std::vector<float> vector, kept->vectors.of(sound, hooks, name_of(input, "sound")));
    reply.values.insert(reply.values.end(), vector.begin(), vector.end());
  }
  reply.shape = {inputs.size(), kept->vectors.width()};
  reply.json = {{"rows", inputs.size()}, {"width", kept->vectors.width()}};
  return {};
}

}  // namespace mote::api

using mote::api::Reply;
using mote::api::respond;
using mote::host::Status;

mote_host_result* mote_host_transcribe(mote_host* model, const mote_host_input* input, const char* options,
                                       const mote_host_calls* calls) {
  return respond([&](Reply& reply) -> Status {
    MOTE_TRY(mote::api::require(model));
    return mote::api::transcribe(*model, mote::api::inputs_of(input, 1, 1)[0], options, calls, reply);
  });
}

mote_host_result* mote_host_speak(mote_host* model, const mote_host_input* text, const char* options,
                                  const mote_host_calls* calls) {
  return respond([&](Reply& reply) -> Status {
    MOTE_TRY(mote::api::require(model));
    return mote::api::speak(*model, mote::api::inputs_of(text, 1, 1)[0], options, calls, reply);
  });
}
