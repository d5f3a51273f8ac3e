// SPDX-License-Identifier: Apache-2.0
#include "host/api/speech_options.h"

#include "host/api/guesses.h"
#include "host/base/options.h"

namespace mote::api {

SpeechOptions read_speech_options(const char* json) {
  constexpr uint32_t kMostTexts = 64, kMostWindows = 64;
  constexpr double kHottest = 10.0, kMostSeconds = 1e9;
  Options options(json);
  SpeechOptions read;
  host::WhisperOptions& whisper = read.transcribe.whisper;
  options.read("language", whisper.language);
  options.read("detect-language", read.detects_language);
  options.read("translate", whisper.translate);
  options.read("to", read.transcribe.to);
  options.read("words", read.transcribe.words);
  options.read("vad", read.transcribe.vad);
  options.read("live", read.live);
  options.read("partial", read.partial);
  options.read("listen", read.listen);
  options.read("offset", read.transcribe.part.offset, 0.0, kMostSeconds);
  options.read("duration", read.transcribe.part.duration, 0.0, kMostSeconds);
  std::string channel = "mix";
  options.read_word("channel", channel, {"mix", "left", "right"});
  read.channel = channel == "left"    ? cli::Channel::left
                 : channel == "right" ? cli::Channel::right
                                      : cli::Channel::mix;
  options.read("prompt", whisper.prompt);
  options.read("carry-prompt", whisper.carry_prompt);
  options.read("hotwords", whisper.hotwords);
  options.read("beams", whisper.beams, 1, kMostTexts);
  options.read("best-of", whisper.best_of, 1, kMostTexts);
  options.read("temperature", whisper.temperatures, 0.0, kHottest);
  options.read("condition", whisper.conditions);
  options.read("batch", whisper.batch, 1, kMostWindows);
  options.read("timestamps", whisper.timestamps);
  options.read("suppress", whisper.suppressed, -1);
  options.read_or_null("logprob-threshold", whisper.least_logprob);
  options.read_or_null("compression-threshold", whisper.most_compression);
  options.read_or_null("no-speech-threshold", whisper.silence);
  read.tells_guesses = options.has("speculate");
  read.transcribe.guesses.options = read_speculation(options);
  options.finish();
  if (whisper.carry_prompt && whisper.prompt.empty())
    throw OptionError("option \"carry-prompt\": there is no \"prompt\" to carry");
  if (!read.listen.empty() && !read.live)
    throw OptionError("option \"listen\": a device never ends, so it is of \"live\" transcripts");
  if (read.partial && !read.live) throw OptionError("option \"partial\": it is of \"live\" transcripts");
  if (read.live && whisper.batch != 0)
    throw OptionError("option \"batch\": a live sound comes one stretch after the other");
  if (read.live && read.transcribe.part != host::HeardPart())
    throw OptionError("option \"live\": a live sound has no \"offset\" and no \"duration\"");
  return read;
}

}  // namespace mote::api
