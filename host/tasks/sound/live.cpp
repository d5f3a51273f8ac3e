// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/live.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/base/timer.h"
#include "host/tasks/sound/spoken_input.h"
#include "host/tasks/sound/stretches.h"

namespace mote::host {
namespace {

constexpr uint32_t kLiveFrames = 4;       // heard at once: an eighth of a second
constexpr double kLongestStretch = 28;    // seconds
constexpr double kSecondsOfRevision = 1;  // of new sound, after which a text is revised
constexpr double kSoundOfRevision = 2;    // seconds of new sound for each that the last revision took

class HeldSamples : public SoundInput {
 public:
  explicit HeldSamples(std::span<const float> samples) : samples_(samples) {}
  Result<size_t> read(std::span<float> out) override {
    const size_t count = std::min(out.size(), samples_.size() - at_);
    std::copy_n(samples_.begin() + static_cast<ptrdiff_t>(at_), count, out.begin());
    at_ += count;
    return count;
  }
  Status rewind() override {
    at_ = 0;
    return {};
  }
  uint64_t samples() const override { return samples_.size(); }

 private:
  std::span<const float> samples_;
  size_t at_ = 0;
};

class LiveTranscriber {
 public:
  LiveTranscriber(const Model& model, SoundInput& sound, const TranscribeOptions& options,
                  const HearStretch& hear, const OnPassage& found, const std::function<void()>& ended,
                  const OnPartial& partial)
      : model_(model),
        spoken_(sound, kLiveFrames),
        options_(options),
        hear_(hear),
        found_(found),
        ended_(ended),
        partial_(partial),
        rate_(model.sound().rate) {
    const double longest = double{model.sound().longest};
    most_ = static_cast<size_t>((longest > 0 ? std::min(longest, kLongestStretch) : kLongestStretch) * rate_);
  }

  Result<LiveTranscript> run(const Hooks& hooks) {
    for (bool more = true; more;) {
      if (hooks.stopped()) return cancelled();
      MOTE_TAKE(more, spoken_.step());
      const Timer since;
      const std::vector<float> ready = spoken_.take_ready();
      stretch_.insert(stretch_.end(), ready.begin(), ready.end());
      while (stretch_.size() >= most_) {
        const size_t end = quietest_end(std::span<const float>(stretch_).first(most_), rate_);
        MOTE_TRY(end_stretch(end, since));
      }
      if (stretch_.empty()) continue;
      if (!spoken_.speaks() || !more) {
        MOTE_TRY(end_stretch(stretch_.size(), since));
      } else if (partial_ && stretch_.size() >= revised_ + new_sound()) {
        MOTE_TRY(revise());
      }
    }
    live_.transcript.heard = spoken_.any();
    return live_;
  }

 private:
  /// Transcribes the first samples of the stretch, which are whole, and goes on behind them.
  Status end_stretch(size_t count, const Timer& since) {
    HeldSamples samples(std::span<const float>(stretch_).first(count));
    const double first = static_cast<double>(begin_) / rate_;
    const auto whole = [&](double begin, double end) {
      return spoken_.whole_span(first + begin, first + end);
    };
    MOTE_TAKE(Transcript heard, hear_(samples, options_, [&](const Passage& passage) {
                found_(moved_passage(passage, whole));
              }));
    ended_();
    if (options_.whisper.language.empty()) options_.whisper.language = heard.language;
    live_.transcript.language = std::move(heard.language);
    const double seconds = since.ms() / 1000;
    ++live_.latency.stretches;
    live_.latency.sum += seconds;
    live_.latency.most = std::max(live_.latency.most, seconds);
    stretch_.erase(stretch_.begin(), stretch_.begin() + static_cast<ptrdiff_t>(count));
    begin_ += count;
    revised_ = 0;
    text_.clear();
    return {};
  }

  /// Returns the samples after which a stretch is revised: all of it is heard again, which may take at most
  /// half of the time.
  size_t new_sound() const {
    return static_cast<size_t>(std::max(kSecondsOfRevision, kSoundOfRevision * revision_) * rate_);
  }

  Status revise() {
    revised_ = stretch_.size();
    const Timer since;
    HeldSamples samples(stretch_);
    WholeText text(model_);
    MOTE_TAKE(const Transcript heard,
              hear_(samples, options_, [&](const Passage& passage) { text.add(passage); }));
    revision_ = since.ms() / 1000;
    std::string now = text.text();
    partial_(now, agreed_bytes(now, text_));
    text_ = std::move(now);
    return {};
  }

  const Model& model_;
  SpokenInput spoken_;
  TranscribeOptions options_;
  const HearStretch& hear_;
  const OnPassage& found_;
  const std::function<void()>& ended_;
  const OnPartial& partial_;
  uint32_t rate_;
  size_t most_ = 0;
  std::vector<float> stretch_;
  uint64_t begin_ = 0;   // of the stretch, among the samples of speech
  size_t revised_ = 0;   // samples of the stretch at the last revision
  double revision_ = 0;  // seconds that it took
  std::string text_;     // of that
  LiveTranscript live_;
};

}  // namespace

size_t agreed_bytes(std::string_view text, std::string_view other) {
  size_t same = 0;
  while (same < text.size() && same < other.size() && text[same] == other[same]) ++same;
  const auto ends_word = [](std::string_view whole, size_t at) {
    return at == whole.size() || whole[at] == ' ';
  };
  if (ends_word(text, same) && ends_word(other, same)) return same;
  const size_t space = text.substr(0, same).rfind(' ');
  return space == std::string_view::npos ? 0 : space;
}

Result<LiveTranscript> transcribe_live(const Model& model, SoundInput& sound,
                                       const TranscribeOptions& options, const Hooks& hooks,
                                       const HearStretch& hear, const OnPassage& found,
                                       const std::function<void()>& ended, const OnPartial& partial) {
  MOTE_TRY(require_speech(model, options));
  if (model.sound().rate != MOTE_SPEECH_RATE)
    return failed("{} takes sound of another rate than {}, at which speech is found", model.name(),
                  static_cast<uint32_t>(MOTE_SPEECH_RATE));
  TranscribeOptions of_stretch = options;
  of_stretch.vad = false;  // stretches have speech alone
  of_stretch.part = {};
  return LiveTranscriber(model, sound, of_stretch, hear, found, ended, partial).run(hooks);
}

}  // namespace mote::host
